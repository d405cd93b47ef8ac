"""Files that grow while they are imported, from a watched folder.

Only the newest version of each is kept, since the messages point into its beginning.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.db import transaction

from threads.domain.message import Message as GivenMessage
from threads.domain.message import Role
from threads.models import Blob, Event, Import, Message, Source
from threads.store import blobs
from threads.store.origins import REPEATED

from .ingest import begins_with

HELD = "held"
"""Marks the report of a file whose last answer was left for later: it isn't imported in full."""


class HeldBackItems:
    """The items of a transcript without its last answer, which may still be being written."""

    def __init__(self, items: Iterable[Any]) -> None:
        self.whole = items
        self.holds = False
        """Whether something was left out; set once everything was read."""

    def __iter__(self) -> Iterator[Any]:
        held: list[Any] = []
        for item in self.whole:
            is_message = isinstance(item, GivenMessage)
            if is_message:
                yield from held
                held = []
            if held or (is_message and item.role == Role.ASSISTANT):
                held.append(item)
            else:
                yield item
        self.holds = bool(held)


def whole(items: Iterable[Any]) -> Iterable[Any]:
    """The items of a transcript, including those held back."""
    return items.whole if isinstance(items, HeldBackItems) else items


def mark_all_held(sources: Sequence[Source]) -> None:
    """If any of these rows says that an answer was left for later, mark all of them.

    A row without the mark would be taken as complete.
    """
    if any(HELD in one.report for one in sources):
        for one in sources:
            one.report[HELD] = True


def merge(source: Source) -> bool:
    """Update the row of a file's shorter version to stand for the longer one too.

    Returns False if there is none, or if the file was rewritten: then the new row is saved.
    """
    rows = Source.objects.filter(
        brought_by=source.brought_by_id, name=source.name, session=source.session_id
    )
    old = rows.exclude(pk=source.pk).exclude(outcome="").order_by("-pk").first()
    if old is None or not begins_with(source.sha256, (old.sha256, old.size)):
        return False
    added = old.report.get("added", 0) + source.report.get("added", 0)
    replaced = old.sha256
    old.sha256, old.size = source.sha256, source.size
    repeated = old.report.get(REPEATED, {}) | source.report.get(REPEATED, {})
    old.report = {**source.report, "added": added}
    if repeated:
        old.report[REPEATED] = repeated
    old.save()
    if source.pk is not None:
        Message.objects.filter(source=source).update(source=old)
        Event.objects.filter(source=source).update(source=old)
        source.delete()
    if replaced != old.sha256:
        # Robust: a file that stays behind is found by the hourly cleaning.
        transaction.on_commit(lambda: _forget(replaced), robust=True)
    return True


def _forget(sha256: str) -> None:
    """Discard the bytes of an older version unless other rows refer to them."""
    named = (
        Source.objects.filter(sha256=sha256).exists()
        or Blob.objects.filter(sha256=sha256).exists()
        or Import.objects.filter(sha256=sha256).exists()
    )
    if not named:
        blobs.discard(sha256)
