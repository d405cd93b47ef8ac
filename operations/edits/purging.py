"""Destroys the contents of messages for good: the one thing that the log can't take back."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace

from django.db.transaction import atomic, on_commit

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import NotFound
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.models import AuditEntry
from operations.domain.log.mask import mask_title, mask_words
from operations.domain.log.operation import Amend, Purge, Replace, Snip
from operations.domain.thread.check import check
from operations.domain.thread.groups import MessageGroup, groups_of
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, original_key, original_number
from operations.log.cache import forget_everything
from operations.log.codec import decode, encode
from operations.log.transaction import LogTransaction, open_log
from operations.messages.reader import masked_in
from operations.models import LogEntry
from threads.domain.part import Text
from threads.models import Session
from threads.sessions import erasing
from threads.store.originals import load_recorded_at

_REMOVED = "[removed]"


@atomic
def remove_group(
    caller: Caller,
    session_id: uuid.UUID,
    group_id: int,
    *,
    expected_head: int | None = None,
) -> LogTransaction:
    """Leave a group out and destroy the contents of its originals, as one bundle.

    Needs the right to administer. A tombstone remains: key, index, role and group. Raises
    NotFound if there is no such group, and Conflict if the snip would cut through a fold.
    """
    transaction = open_log(caller, session_id, Right.ADMIN, expected_head=expected_head)
    group = find_group(transaction.thread, group_id)
    keys = tuple(map(original_key, range(group.first, group.last + 1)))
    bundle = uuid.uuid4()
    title = f"Remove group {group_id} for good"
    if group.status == "active":
        checked = check(transaction.thread, [Snip(targets=keys)])
        transaction.add(*checked.edits, bundle=bundle, title=title)
    if not transaction.history.log.purged.issuperset(keys):
        transaction.add(Purge(targets=keys), bundle=bundle, title=title)
        _purge_titles(transaction, keys)
        erasing.purge(transaction.session, range(group.first, group.last + 1))
        AuditEntry.objects.create(
            project_id=transaction.session.project_id,
            actor=caller.actor,
            action=f"purge group {group_id}",
            object_id=str(session_id),
        )
    committed = transaction.commit()
    # After the hook that caches the log, which was read before its words were destroyed.
    on_commit(forget_everything)
    return committed


def _purge_titles(transaction: LogTransaction, keys: Sequence[Key]) -> None:
    """Destroy what titles quote of these originals: most sessions' begin with the first message.

    Once the originals are gone, nothing knows any more what the text masked in them was, so it is
    also destroyed in operations' titles and in replacements.
    """
    session = transaction.session
    indexes = [original_number(key) - 1 for key in keys]
    recorded = load_recorded_at(session, indexes).values()
    parts = (part for original in recorded for part in original.parts)
    texts = {part.text: _REMOVED for part in parts if isinstance(part, Text)}
    masked = masked_in(session, indexes)
    session.title = mask_title(session.title, {**texts, **masked})
    session.save(update_fields=["title"])
    entries = LogEntry.objects.filter(session=session).exclude(title="")
    for entry in entries if masked else ():
        title = mask_title(entry.title, masked)
        if title != entry.title:
            LogEntry.objects.filter(pk=entry.pk).update(title=title)
    if masked:
        _purge_replacements(session, masked)


def _purge_replacements(session: Session, masked: Mapping[str, str]) -> None:
    kinds = (Replace.kind, Amend.kind)
    for entry in LogEntry.objects.filter(session=session, kind__in=kinds):
        recorded = decode(entry.kind, bytes(entry.payload))
        edit = recorded.edit if isinstance(recorded, Amend) else recorded
        if not isinstance(edit, Replace):
            continue
        spans = tuple(
            replace(span, text=mask_words(span.text, masked)) for span in edit.spans
        )
        if spans == edit.spans:
            continue
        edit = replace(edit, spans=spans)
        kept = replace(recorded, edit=edit) if isinstance(recorded, Amend) else edit
        LogEntry.objects.filter(pk=entry.pk).update(payload=encode(kept)[1])


def find_group(thread: Thread, group_id: int) -> MessageGroup:
    for group in groups_of(thread):
        if group.id == group_id:
            return group
    raise NotFound(f"There is no group {group_id}.", at=["group_id"])
