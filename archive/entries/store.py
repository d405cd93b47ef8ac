"""Stores messages in the archive, and destroys them when they are purged."""

import hashlib
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import zstandard
from django.db import connection
from django.utils import timezone

from archive.domain.pruning.plan import Stashed
from archive.models import ArchivedContent, ArchiveEntry
from contextstudio.accounts.domain.storable import storable
from contextstudio.database.steps import chunks
from operations.domain.tree.key import Key, original_key
from operations.messages.reader import MessageText
from threads.domain.body import decode_parts, encode_parts
from threads.domain.part import Part
from threads.models import Session

from .words import forget_words, keep_words, searched

_AT_ONCE = 500
_AGAIN = (
    *("message_key", "content_type", "summary", "content", "file_paths", "tool_name"),
    *("token_count", "rule", "archived_at"),
)
"""Fields to update when a message is archived again; how often it was recalled stays."""
_STORED = (
    "SELECT digest, id FROM archive_archivedcontent"
    " WHERE project_id = %s AND digest = ANY(%s) FOR KEY SHARE"
)


class _Packed(NamedTuple):
    digest: bytes
    content: bytes


class PackedEntry(NamedTuple):
    """An entry that is ready to be stored, its content, and its text for search."""

    entry: ArchiveEntry
    content: _Packed
    words: str


def pack(
    session: Session,
    stashed: Iterable[Stashed],
    messages: Mapping[Key, MessageText],
) -> list[PackedEntry]:
    """Compress the messages that `stashed` names; `messages` are these as they were recorded.

    It writes nothing, so that no lock is held in the meantime.
    """
    items = list(stashed)
    packed = {key: _pack(messages[key].parts) for key in {item.key for item in items}}
    return [
        PackedEntry(
            _entry(session, item, messages[item.key]),
            packed[item.key],
            searched("\n".join((item.summary, item.tool_name, *item.file_paths))),
        )
        for item in items
    ]


def keep(session: Session, packed: Sequence[PackedEntry]) -> None:
    """Write entries in the caller's transaction; an entry that exists already is updated.

    The session's row must be locked. Contents, which sessions share, are written first and in a
    fixed order, so that transactions that store the same contents can't deadlock.
    """
    contents = _keep_contents(session, [one.content for one in packed])
    for some in chunks(packed, _AT_ONCE):
        for one in some:
            one.entry.content_id = contents[one.content.digest]
        ArchiveEntry.objects.bulk_create(
            [one.entry for one in some],
            update_conflicts=True,
            unique_fields=["ref_id"],
            update_fields=_AGAIN,
        )
        keep_words({one.entry.ref_id: one.words for one in some})


def parts_of(entry: ArchiveEntry) -> tuple[Part, ...]:
    """The parts that an entry keeps, as recorded; empty if it was purged."""
    if entry.content is None:
        return ()
    packed = bytes(entry.content.content)
    return decode_parts(zstandard.ZstdDecompressor().decompress(packed))


def forget(session: Session, indexes: Sequence[int] | None) -> None:
    """Destroy what is archived of these originals, or of the whole session if `indexes` is None.

    Runs in the caller's transaction. The entries of purged originals stay without content, as
    their tombstones do.
    """
    entries = ArchiveEntry.objects.filter(session=session)
    if indexes is not None:
        keys = [original_key(index) for index in indexes]
        entries = entries.filter(message_key__in=keys)
    forget_words(entries)
    held = set(entries.exclude(content=None).values_list("content", flat=True))
    if indexes is None:
        entries.delete()
    else:
        entries.update(content=None, summary=b"", file_paths=[], token_count=0)
    for keys_ in chunks(held, _AT_ONCE):
        _drop_unused(keys_)


def _drop_unused(keys: Sequence[int]) -> None:
    """Remove contents that no entry has and that none is about to get."""
    contents = ArchivedContent.objects.filter(pk__in=keys)
    if connection.features.has_select_for_update_skip_locked:
        free = contents.order_by().select_for_update(skip_locked=True)
        # A separate statement, to see the entries that others stored until now.
        contents = contents.filter(pk__in=list(free.values_list("pk", flat=True)))
    contents.filter(entries=None).delete()


def _pack(parts: Sequence[Part]) -> _Packed:
    content = encode_parts(parts)
    packed = zstandard.ZstdCompressor().compress(content)
    return _Packed(hashlib.sha256(content).digest(), packed)


def _keep_contents(session: Session, packed: Iterable[_Packed]) -> dict[bytes, int]:
    """Store the contents that are new; returns the map of digest to key of all of them."""
    project_id, found = session.project_id, dict[bytes, int]()
    wanted = {one.digest: one.content for one in packed}
    for digests in chunks(sorted(wanted), _AT_ONCE):
        known = _stored(project_id, digests)
        if missing := [digest for digest in digests if digest not in known]:
            ArchivedContent.objects.bulk_create(
                (
                    ArchivedContent(
                        project_id=project_id, digest=digest, content=wanted[digest]
                    )
                    for digest in missing
                ),
                ignore_conflicts=True,
            )
            known |= _stored(project_id, missing)
        found |= known
    return found


def _stored(project_id: int, digests: Sequence[bytes]) -> dict[bytes, int]:
    """Map of digest to key of the contents that are stored already.

    On PostgreSQL they are locked, so that none is removed before the transaction ends.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            # As in `threads.store.rows.find_bodies`.
            cursor.execute(_STORED, [project_id, list(digests)])
            return {bytes(digest): key for digest, key in cursor.fetchall()}
    rows = ArchivedContent.objects.filter(project=project_id, digest__in=digests)
    found = rows.order_by().values_list("digest", "pk")
    return {bytes(digest): key for digest, key in found}


def _entry(session: Session, item: Stashed, message: MessageText) -> ArchiveEntry:
    return ArchiveEntry(
        ref_id=full_reference(
            session.project.slug, session.pk, item.name, str(item.location or "")
        ),
        project_id=session.project_id,
        session=session,
        message_key=item.key,
        name=item.name,
        location=str(item.location or ""),
        content_type=item.content_type,
        summary=item.summary.encode("utf-8", "surrogatepass"),
        file_paths=list(map(storable, item.file_paths)),
        tool_name=storable(item.tool_name)[:128],
        token_count=item.tokens,
        rule=item.rule.value if item.rule else "",
        original_created_at=(
            message.original.row.created_at if message.original else None
        ),
        archived_at=timezone.now(),
    )


def full_reference(
    project: str, session_id: uuid.UUID, name: str, location: str
) -> str:
    """The reference under which an entry is stored: unabbreviated, so that it is unique."""
    place = f":{location}" if location else ""
    return f"nexora://{project}/{session_id}/{name}{place}"
