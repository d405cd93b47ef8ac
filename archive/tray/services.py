"""The tray: references that somebody collects from the archive, to insert them together."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.db.transaction import atomic

from archive.domain.reference import read_reference
from archive.entries.store import full_reference
from archive.inserting import insert_together, look_up_whole, message_of
from archive.models import TrayItem
from archive.recalling import Recalled
from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Conflict, NotFound
from contextstudio.accounts.domain.rights import Right
from operations.context.inputs import counter_of
from operations.domain.tree.key import original_index
from operations.log.transaction import LogTransaction
from threads.models import Message, Session
from threads.store.selectors import get_session

MAX_ENTRIES = 20
"""Most references in a tray, as all of them are read whenever it is shown."""


class Collected(NamedTuple):
    """A reference in the tray, and what it names now."""

    item: TrayItem
    recalled: Recalled | None
    """None if it can no longer be read, or not by this person."""
    tokens: int
    """The tokens that inserting it adds."""


@dataclass(frozen=True, slots=True)
class Tray:
    """The references that somebody has collected, in the order they were added."""

    items: Sequence[Collected]

    @property
    def readable(self) -> list[Collected]:
        """The items that can be inserted."""
        return [one for one in self.items if one.recalled is not None]

    @property
    def tokens(self) -> int:
        """The tokens that inserting all of it adds."""
        return sum(one.tokens for one in self.items)

    @property
    def references(self) -> frozenset[str]:
        """The references in the tray, as the archive stores them."""
        return frozenset(one.item.ref_id for one in self.items)


class Inserted(NamedTuple):
    """The result of inserting a tray: how many entries were inserted, and how many are left."""

    transaction: LogTransaction
    entries: int
    left: int


def tray_of(caller: Caller, session_id: uuid.UUID) -> Tray:
    """The caller's tray, with tokens counted as in this session."""
    session = get_session(caller, session_id)
    rows = TrayItem.objects.filter(actor=caller.actor).order_by("added_at", "pk")
    return Tray([_collected(caller, session, row) for row in rows])


def collect(caller: Caller, session_id: uuid.UUID, ref_id: str) -> None:
    """Put what a reference names into the tray, once.

    Raises what inserting it would, and Conflict if the tray is full.
    """
    session = get_session(caller, session_id)
    found = look_up_whole(caller, session, ref_id)
    reference = stored_reference(found)
    with atomic():
        mine = TrayItem.objects.filter(actor=caller.actor)
        is_there = mine.filter(ref_id=reference).exists()
        if not is_there and mine.count() >= MAX_ENTRIES:
            sentence = (
                f"A tray holds at most {MAX_ENTRIES}. Insert or remove some first."
            )
            raise Conflict(sentence, at=["ref_id"], code="tray_full")
        TrayItem.objects.get_or_create(
            actor=caller.actor, ref_id=reference, defaults={"session": found.session}
        )


def stored_reference(found: Recalled) -> str:
    """The reference of what was recalled in the archive's form, however it was requested."""
    session, index = found.session, original_index(found.key)
    name = found.key
    if index is not None:
        rows = Message.objects.filter(session=session, index=index)
        name = rows.values_list("short_id", flat=True).get()
    named = read_reference(found.answer["ref_id"])
    location = named.location if named else None
    return full_reference(session.project.slug, session.pk, name, str(location or ""))


def take_out(caller: Caller, item_id: uuid.UUID | None) -> None:
    """Take one reference out of the tray, or all of them if `item_id` is None."""
    mine = TrayItem.objects.filter(actor=caller.actor)
    (mine if item_id is None else mine.filter(pk=item_id)).delete()


def insert_tray(caller: Caller, session_id: uuid.UUID) -> Inserted:
    """Insert what is in the tray at the end of a thread as one bundle, and take it out.

    What can't be read stays in the tray. Raises Conflict if it was inserted in the meantime.
    """
    get_session(caller, session_id, Right.PROPOSE)
    tray = tray_of(caller, session_id)
    ready = tray.readable
    if not ready:
        sentence = "There is nothing in the tray to insert. It may have been inserted elsewhere."
        raise Conflict(sentence, code="tray_empty")
    found = [one.recalled for one in ready if one.recalled is not None]
    with atomic():
        recorded = insert_together(caller, session_id, found)
        taken = TrayItem.objects.filter(pk__in=[one.item.pk for one in ready]).delete()
        if taken[0] != len(ready):
            sentence = "The tray changed meanwhile. Nothing was inserted."
            raise Conflict(sentence, code="tray_changed")
    return Inserted(recorded, len(ready), len(tray.items) - len(ready))


def _collected(caller: Caller, session: Session, item: TrayItem) -> Collected:
    try:
        found = look_up_whole(caller, session, item.ref_id)
    except (NotFound, Conflict):
        return Collected(item, None, 0)
    tokens = counter_of(session.encoding)(message_of(found).parts)
    return Collected(item, found, tokens)
