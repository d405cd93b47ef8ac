"""Writes originals: bodies once per content, tokens once per body, rows in order.

Messages come as a stream and are recorded in batches, bounded in number and in bytes; nothing of a
batch is kept once it is written. Django's models would cost more than everything else, so rows are
tuples (`threads.store.rows`).
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from django.db import IntegrityError, connection, transaction
from django.db.models import UUIDField

from contextstudio.database.prepared import Param, Prepared
from threads import tokens
from threads.domain.batch import (
    Attachment,
    Batch,
    Column,
    ConstantColumn,
    batches,
    clean,
    slice_rows,
)
from threads.domain.message import Message as GivenMessage
from threads.domain.message import group_ids
from threads.domain.part import File, Image, Part, replace_bytes
from threads.domain.tokens import Words
from threads.models import Blob, Body, Message, Session, Source

from . import blobs, rows

_MAX_DRAWS = 8
_VERSION = bytes(0x40 | byte & 0x0F for byte in range(256))
_VARIANT = bytes(0x80 | byte & 0x3F for byte in range(256))
_LAST_GROUP = Prepared(
    lambda: (
        Message.objects.filter(session=Param("session", UUIDField()))
        .order_by("-index")
        .values_list("group_id", flat=True)[:1]
    )
)
Progress = Callable[[int], None]
"""Called after each batch with the number of messages recorded so far; raises to stop."""


def record_messages(
    session: Session,
    messages: Iterable[GivenMessage],
    *,
    source: Source | None = None,
    group: int | None = None,
    progress: Progress | None = None,
) -> int:
    """Append messages to a session whose row the caller has locked; returns how many.

    Each batch is written whole or not at all, together with the session's counters, which are set
    on the instance too. If the caller has no transaction, each batch is committed. The messages may
    be read while they are recorded. `group` is the group of the message before them, if known.
    """
    within = connection.in_atomic_block
    ready = (
        prepare(session.project_id, session.encoding, batch, within=within)
        for batch in batches(messages)
    )
    return record_ready(session, ready, source=source, group=group, progress=progress)


def record_ready(
    session: Session,
    ready: Iterable["ReadyBatch"],
    *,
    source: Source | None = None,
    group: int | None = None,
    progress: Progress | None = None,
) -> int:
    """Like `record_messages`, for batches that are prepared already."""
    recorded = 0
    for one in ready:
        with transaction.atomic(savepoint=False):
            group = record_batch(session, one, source=source, group=group)
            rows.update_counters(session)
        recorded += len(one.batch.digests)
        if progress is not None:
            progress(recorded)
    if not recorded:
        rows.update_counters(session)
    return recorded


class ReadyBatch(NamedTuple):
    """A batch for which everything possible was done before the transaction."""

    batch: Batch
    files: list[Blob]
    """Rows of its images and files, whose bytes are stored by now."""
    new: dict[bytes, "NewBody"]
    """Bodies that the project doesn't have yet, by digest, until they are stored."""
    columns: Sequence[Column]
    """The columns of rows that depend only on the messages."""
    uuids: list[str]
    short_ids: list[str]
    """Drawn for the whole batch, in order: each statement then touches few pages of their index."""
    found: dict[bytes, rows.StoredBody] | None = None
    """Bodies that the project has, if they are sure to exist when the batch is recorded."""


def prepare_messages(
    project_id: int, encoding: str, messages: Iterable[GivenMessage]
) -> Iterable[ReadyBatch]:
    """Messages as `record_ready` takes them, prepared before its transaction.

    If there is more than one batch, everything possible is done at once: counting takes ten times
    as long as writing, and a transaction blocks everybody else. A single batch is prepared within
    the transaction, which then looks up its bodies only once.
    """
    found = [*batches(messages)]
    is_much = len(found) > 1
    ready = (prepare(project_id, encoding, one, within=not is_much) for one in found)
    return [*ready] if is_much else ready


def prepare(
    project_id: int, encoding: str, batch: Batch, *, within: bool = False
) -> ReadyBatch:
    """Store a batch's files and count its new bodies.

    `within` says that this runs in the transaction that records the whole batch. Run it outside if
    there is a choice: SQLite's one write lock is then held for less time. A file without a row is
    harmless, a row without its file is not.
    """
    places = dict(zip(batch.digests, range(len(batch.digests)), strict=True))
    found = rows.find_bodies(project_id, sorted(places))
    missing = {d: place for d, place in places.items() if d not in found}
    columns, created = batch.columns, batch.columns.created
    moments = (
        rows.moments(created, len(batch.digests)) if created else ConstantColumn(None)
    )
    return ReadyBatch(
        batch,
        _stored(project_id, batch.files),
        _new_bodies(encoding, batch, missing),
        [*columns[:-2], moments, columns.records],
        _draw_uuids(len(batch.digests)),
        _draw_short_ids(len(batch.digests)),
        found if within else None,
    )


class CountedMessages(NamedTuple):
    """Prepared messages, and the tokens of each."""

    ready: list[ReadyBatch]
    tokens: list[int]


def prepare_and_count(
    project_id: int, encoding: str, messages: Iterable[GivenMessage]
) -> CountedMessages:
    """Messages as `record_ready` takes them, however few, with their token counts."""
    found, counts = list[ReadyBatch](), list[int]()
    for batch in batches(messages):
        one = prepare(project_id, encoding, batch, within=True)
        counts += _weights(one, encoding)
        found.append(one._replace(found=None))  # it may be gone by then
    return CountedMessages(found, counts)


def _weights(ready: ReadyBatch, encoding: str) -> list[int]:
    """The tokens of each message of a batch whose known bodies were looked up."""
    batch = ready.batch
    counted, uncounted = _counted(ready.found or {}, encoding)
    places = _places(batch.digests, slice(0, len(batch.digests)), uncounted)
    words = [batch.words[place] for place in places.values()]
    again = zip(places, tokens.count_words(words, encoding), strict=True)
    weights = {
        **{digest: total for digest, (_, total) in counted.items()},
        **{digest: total for digest, (*_, total) in ready.new.items()},
        **{digest: sum(counts) for digest, counts in again},
    }
    return [weights[digest] for digest in batch.digests]


NewBody = tuple[bytes | None, bytes, str, int]
"""A body to be stored: its canonical digest, its content, its tokens as JSON, and their sum."""


def _new_bodies(
    encoding: str, batch: Batch, places: dict[bytes, int]
) -> dict[bytes, NewBody]:
    """Bodies at some places of a batch, with their tokens counted."""
    at = list(places.values())
    counts = tokens.count_words([batch.words[place] for place in at], encoding)
    head = f'{{"{encoding}": '
    made = zip(
        map(batch.canonical.__getitem__, at),
        map(batch.contents.__getitem__, at),
        # Most messages have one part, whose count is formatted in half the time of a list.
        [
            f"{head}[{count[0]}]}}" if len(count) == 1 else f"{head}{count}}}"
            for count in counts
        ],
        map(sum, counts),
        strict=True,
    )
    return dict(zip(places, made, strict=True))


def record_batch(
    session: Session,
    ready: ReadyBatch,
    *,
    source: Source | None = None,
    group: int | None = None,
    stretch: slice | None = None,
) -> int:
    """Append a batch; returns the group of its last message.

    The session's counters are set on the instance: the caller saves them in the same transaction.
    `group` is the group of the message before it, if known. `stretch` selects a part of the batch;
    the parts of one batch must be recorded in order.
    """
    batch, which = ready.batch, stretch or slice(0, len(ready.batch.digests))
    with transaction.atomic(savepoint=False):
        if not which.start:
            _save_blobs(ready.files)
        if group is None and not session.message_count:
            group = 0
        elif group is None:
            group = _LAST_GROUP.first(session=session.pk) or 0
        if keys := batch.digests[which]:
            bodies = _bodies(session, ready, which)
            ids, counts = zip(*map(bodies.__getitem__, keys), strict=True)
            groups = list(group_ids(batch.starts[which], last=group))
            index, end = session.message_count, session.message_count + len(ids)
            _insert(
                session,
                source,
                [
                    *(range(index, end), ready.uuids[which], ids, counts, groups),
                    *[slice_rows(column, which) for column in ready.columns],
                ],
                ready.short_ids[which],
            )
            session.message_count = end
            session.original_tokens += sum(counts)
            group = groups[-1]
    return group


def keep_bodies(
    project_id: int, parts: Iterable[tuple[Part, ...]]
) -> list[tuple[Part, ...]]:
    """Store every inline image and file; returns the parts with them named by hash."""
    found: dict[str, Attachment] = {}

    def keep(part: Image | File, data: bytes) -> str:
        sha256 = hashlib.sha256(data).hexdigest()
        found[sha256] = Attachment(part.media_type, data)
        return sha256

    kept = [replace_bytes(item, keep) for item in parts]
    _save_blobs(_stored(project_id, found))
    return kept


def named_by_hash(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """The parts as `keep_bodies` returns them, without storing anything: for digests."""
    return replace_bytes(parts, lambda _, data: hashlib.sha256(data).hexdigest())


def _stored(project_id: int, files: dict[str, Attachment]) -> list[Blob]:
    """Store images and files; returns their rows, not yet saved."""
    return [
        Blob(
            project_id=project_id,
            sha256=blobs.store(found.data),
            media_type=clean(found.media_type)[:100],
            size=len(found.data),
        )
        for found in files.values()
    ]


def _save_blobs(found: list[Blob]) -> None:
    if found:
        Blob.objects.bulk_create(found, ignore_conflicts=True, batch_size=200)


def _insert(
    session: Session,
    source: Source | None,
    columns: list[Column],
    short_ids: list[str],
) -> None:
    """Insert rows; short ids that the session already has are drawn again."""
    source_id = source.pk if source is not None else None
    for _ in range(_MAX_DRAWS):
        left = rows.insert_messages(session, source_id, [*columns, short_ids])
        # SQLite says which rows it left out; PostgreSQL refuses all, and all are drawn again.
        if not left:
            return
        columns = [
            one if isinstance(one, ConstantColumn) else [one[place] for place in left]
            for one in columns
        ]
        short_ids = _draw_short_ids(len(left))
    raise IntegrityError(f"No free short_id was drawn in {_MAX_DRAWS} draws.")


def _bodies(
    session: Session, ready: ReadyBatch, which: slice
) -> dict[bytes, tuple[int, int]]:
    """Id and tokens of the body of each digest; bodies the project lacks are stored."""
    project_id, encoding, batch = session.project_id, session.encoding, ready.batch
    keys = batch.digests[which]
    # In the order of their index, so that it is traversed from left to right.
    wanted = sorted(set(keys))
    # What was missing before the transaction most likely still is, the first time it comes up.
    missing, found = wanted, ready.found
    known = [digest for digest in wanted if digest not in ready.new]
    if found is None and known:
        found = rows.find_bodies(project_id, known)
    if found is not None:
        missing = [digest for digest in wanted if digest not in found]
        if gone := [digest for digest in missing if digest not in ready.new]:
            ready.new.update(_new_bodies(encoding, batch, _places(keys, which, gone)))
    bodies, uncounted = _counted(found or {}, encoding)
    if missing:
        made = _insert_new(project_id, missing, map(ready.new.pop, missing))
        bodies.update(made)
        if len(made) < len(missing):  # another transaction has stored some meanwhile
            late = [digest for digest in missing if digest not in made]
            counted, more = _counted(rows.find_bodies(project_id, late), encoding)
            bodies |= counted
            uncounted |= more
    if uncounted:
        places = _places(keys, which, uncounted)
        words = [batch.words[place] for place in places.values()]
        bodies |= _count_again(encoding, uncounted, words)
    return bodies


def _places(
    keys: Sequence[bytes], which: slice, wanted: Iterable[bytes]
) -> dict[bytes, int]:
    """The places in a batch of some digests from a part of it."""
    places = dict(zip(keys, range(which.start, which.stop), strict=True))
    return {digest: places[digest] for digest in wanted}


def _insert_new(
    project_id: int, digests: list[bytes], bodies: Iterable[NewBody]
) -> dict[bytes, tuple[int, int]]:
    """Store bodies; returns the id and tokens of those that nobody had stored."""
    *columns, totals = zip(*bodies, strict=True)
    ids = rows.insert_bodies(project_id, [digests, *columns])
    sums: Iterable[int] = totals
    if (
        list(ids) != digests
    ):  # some were stored meanwhile, or they come in another order
        by_digest = dict(zip(digests, totals, strict=True))
        sums = map(by_digest.__getitem__, ids)
    return dict(zip(ids, zip(ids.values(), sums, strict=True), strict=True))


def _counted(
    found: dict[bytes, rows.StoredBody], encoding: str
) -> tuple[dict[bytes, tuple[int, int]], dict[bytes, rows.StoredBody]]:
    """Ids and tokens of stored bodies, and the bodies not yet counted in this encoding."""
    counted: dict[bytes, tuple[int, int]] = {}
    uncounted: dict[bytes, rows.StoredBody] = {}
    for digest, body in found.items():
        counts = json.loads(body.token_counts).get(encoding)
        if counts is None:
            uncounted[digest] = body
        else:
            counted[digest] = body.id, sum(counts)
    return counted, uncounted


def _count_again(
    encoding: str,
    uncounted: dict[bytes, rows.StoredBody],
    words: Iterable[Words],
) -> dict[bytes, tuple[int, int]]:
    """Count bodies that were stored by a session with another encoding."""
    counts = tokens.count_words(words, encoding)
    counted: dict[bytes, tuple[int, int]] = {}
    changed = []
    for (digest, body), count in zip(uncounted.items(), counts, strict=True):
        known = json.loads(body.token_counts) | {encoding: count}
        changed.append(Body(pk=body.id, token_counts=known))
        counted[digest] = body.id, sum(count)
    Body.objects.bulk_update(changed, ["token_counts"], batch_size=200)
    return counted


def _draw_uuids(count: int) -> list[str]:
    """Random UUIDs (version 4) as 32 hex digits from one draw: `uuid4` takes as long as a row."""
    drawn = bytearray(os.urandom(16 * count))
    drawn[6::16] = drawn[6::16].translate(_VERSION)
    drawn[8::16] = drawn[8::16].translate(_VARIANT)
    return drawn.hex(",", 16).split(",")


def _draw_short_ids(count: int) -> list[str]:
    """`count` distinct short ids, sorted in the order of their index."""
    drawn: set[str] = set()
    while len(drawn) < count:
        digits = os.urandom(4 * (count - len(drawn))).hex(",", 4)
        drawn.update(f"msg-{digits.replace(',', ',msg-')}".split(","))
    # Sorted, so that the index on (session, short_id) is filled from left to right.
    return sorted(drawn)
