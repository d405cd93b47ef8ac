"""Reading the archive: entries of a message, and what they keep as it may be read."""

from collections.abc import Iterable
from datetime import datetime

from django.db.models import F
from django.utils import timezone

from archive.domain.reference import Location
from archive.models import ArchiveEntry
from contextstudio.database.best_effort import write_if_free
from operations.log.selectors import load_history
from operations.messages.reader import mask_text
from threads.domain.part import Part
from threads.models import Session

from .store import parts_of


def entries_of(session: Session, name: str, most: int) -> list[ArchiveEntry]:
    """What is archived of the messages that a name, or its beginning, means."""
    found = ArchiveEntry.objects.filter(session=session).exclude(content=None)
    is_short = name.startswith("msg-") and len(name) < len("msg-") + 8
    found = found.filter(name__startswith=name) if is_short else found.filter(name=name)
    return list(found.select_related("content").order_by("name", "location")[:most])


def entries_by_reference(
    session: Session, references: Iterable[str]
) -> list[ArchiveEntry]:
    """The entries of a session that are stored under these references, in their order."""
    found = ArchiveEntry.objects.filter(session=session, ref_id__in=list(references))
    return list(found.select_related("session__project").order_by("ref_id"))


def nearest(entries: list[ArchiveEntry], location: Location | None) -> ArchiveEntry:
    """Of the entries of one message that of a location, else that of the whole, else the first."""
    wanted = str(location or "")
    return min(entries, key=lambda one: (one.location != wanted, one.location != ""))


def readable_parts(session: Session, entry: ArchiveEntry) -> tuple[Part, ...]:
    """What an entry keeps, with what redactions that are on mask in its session."""
    masks = load_history(session).log.masks if session.head else None
    parts = parts_of(entry)
    return masks.read(entry.message_key, parts) if masks else parts


def readable_summary(session: Session, entry: ArchiveEntry) -> str:
    """An entry's summary, masked."""
    summary = bytes(entry.summary).decode("utf-8", "surrogatepass")
    return mask_text(session, summary)


def count_access(entry: ArchiveEntry, at: datetime | None = None) -> bool:
    """Note that an entry was recalled, where that makes nobody wait. Whether it was noted."""
    row = ArchiveEntry.objects.filter(pk=entry.pk)
    return write_if_free(
        lambda: row.update(
            access_count=F("access_count") + 1,
            last_accessed_at=at or timezone.now(),
        )
    )
