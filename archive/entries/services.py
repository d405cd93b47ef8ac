"""Archives messages by hand, and counts how much of what was left out was recalled."""

import uuid
from collections.abc import Sequence
from typing import NamedTuple

from django.db.models import Count, Q, Sum

from archive.domain.excerpt import summary_of
from archive.domain.pruning.plan import Stashed
from archive.domain.pruning.tool_uses import tool_uses
from archive.domain.tool_use import kind_of, paths_of
from archive.models import ArchiveEntry
from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.domain.rights import Right
from operations.context.inputs import counter_of
from operations.domain.tree.key import Key
from operations.log.transaction import LogTransaction, write_apart
from operations.messages.reader import MessageReader, MessageText
from threads.models import Session
from threads.store.selectors import get_session

from .selectors import entries_by_reference
from .store import PackedEntry, keep, pack


class Regret(NamedTuple):
    """How much of what a rule left out was recalled after all."""

    rule: str
    archived: int
    recalled: int
    recalls: int


def archive_by_hand(
    caller: Caller, session_id: uuid.UUID, keys: Sequence[Key]
) -> list[ArchiveEntry]:
    """Put messages into the archive; the thread stays as it is.

    Messages that are purged in the meantime are not kept. Raises NotFound, Forbidden; Invalid for
    a key that names no message.
    """
    session = get_session(caller, session_id, Right.OWN_SESSION)
    packed: list[PackedEntry] = []

    def read(transaction: LogTransaction) -> None:
        reader = MessageReader(transaction.session, transaction.thread)
        words = reader.recorded(keys)
        for place, key in enumerate(keys):
            if key not in words:
                sentence = f"There is no message {key}."
                raise Invalid(sentence, at=["targets", place], code="unknown_key")
        stashed = [_by_hand(session, one) for one in words.values()]
        packed[:] = pack(session, stashed, words)

    write_apart(session, caller, read, also=lambda: keep(session, packed))
    return entries_by_reference(session, [one.entry.ref_id for one in packed])


def regret_of(session: Session) -> list[Regret]:
    """How much of what each rule left out was recalled, by agents or through the API."""
    rows = ArchiveEntry.objects.filter(session=session).exclude(rule="")
    counted = rows.values("rule").annotate(
        archived=Count("pk"),
        recalled=Count("pk", filter=Q(access_count__gt=0)),
        recalls=Sum("access_count"),
    )
    return [Regret(**one) for one in counted.order_by("rule")]


def _by_hand(session: Session, message: MessageText) -> Stashed:
    """What the archive records about a message that is archived by hand."""
    (use,) = tool_uses([message.parts])[:1] or (None,)
    call = use.call if use else None
    return Stashed(
        key=message.key,
        name=message.original.row.short_id if message.original else message.key,
        location=None,
        content_type=kind_of(call.name, call.arguments) if call else "other",
        summary=summary_of(message.parts),
        file_paths=tuple(paths_of(call)) if call else (),
        tool_name=use.name if use else "",
        tokens=counter_of(session.encoding)(message.parts),
    )
