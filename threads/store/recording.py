"""Writing originals: bodies once per content, tokens once per body, rows in order.

Messages come as a stream and are recorded in batches, bounded in number and in bytes; nothing
of a batch is held once it is written. Django's models would cost more than all the rest, so
rows are tuples (`threads.store.rows`).
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from django.db import IntegrityError, connection, transaction
from django.db.models import UUIDField

from contextstudio.database.prepared import Prepared, given
from threads import tokens
from threads.domain.batch import (
    Alike,
    Attachment,
    Batch,
    Column,
    batches,
    clean,
    part,
)
from threads.domain.message import Message as GivenMessage
from threads.domain.message import group_ids
from threads.domain.part import File, Image, Part, named
from threads.domain.tokens import Words
from threads.models import Blob, Body, Message, Session, Source

from . import blobs, rows

_MOST_DRAWS = 8
_VERSION = bytes(0x40 | byte & 0x0F for byte in range(256))
_VARIANT = bytes(0x80 | byte & 0x3F for byte in range(256))
_LAST_GROUP = Prepared(
    lambda: (
        Message.objects.filter(session=given("session", UUIDField()))
        .order_by("-index")
        .values_list("group_id", flat=True)[:1]
    )
)
Progress = Callable[[int], None]
"""Told after each batch how many messages are recorded; raises to stop."""


def record_messages(
    session: Session,
    messages: Iterable[GivenMessage],
    *,
    source: Source | None = None,
    group: int | None = None,
    progress: Progress | None = None,
) -> int:
    """Append messages to a session whose row the caller has locked; the answer is how many.

    Each batch is written whole or not at all, with the session's counters, which are set on
    the instance too; where the caller has no transaction each is committed. The messages may
    be read while they are recorded. `group` is that of the message before them, where it is
    known.
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
    """The same of messages that are made ready."""
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
    """A batch with all that can be done of it before a transaction."""

    batch: Batch
    files: list[Blob]
    """Rows of its images and files, of which the bytes are kept by now."""
    new: dict[bytes, "NewBody"]
    """Bodies that the project doesn't have, by their digests, until they are stored."""
    columns: Sequence[Column]
    """What rows have of their messages alone."""
    uuids: list[str]
    short_ids: list[str]
    """Drawn for the whole batch, in order: so each statement fills few pages of their index."""
    found: dict[bytes, rows.StoredBody] | None = None
    """Those that it has, where they are sure to be there when the batch is recorded."""


def made_ready(
    project_id: int, encoding: str, messages: Iterable[GivenMessage]
) -> Iterable[ReadyBatch]:
    """Messages as `record_ready` takes them, made before the transaction in which it does.

    Of more than a batch all that can be done is done at once: to count them takes ten times as
    long as to write them, and everybody else waits for a transaction. What is little is left to
    that, which then looks for its bodies only once.
    """
    found = [*batches(messages)]
    is_much = len(found) > 1
    ready = (prepare(project_id, encoding, one, within=not is_much) for one in found)
    return [*ready] if is_much else ready


def prepare(
    project_id: int, encoding: str, batch: Batch, *, within: bool = False
) -> ReadyBatch:
    """Keep a batch's files and count its new bodies.

    `within`: in the transaction in which the batch is recorded, whole. Outside of one where there
    is a choice: SQLite's one write lock is then held for less time, and a file without a row is
    harmless, a row without its file is not.
    """
    places = dict(zip(batch.digests, range(len(batch.digests)), strict=True))
    found = rows.find_bodies(project_id, sorted(places))
    missing = {d: place for d, place in places.items() if d not in found}
    columns, created = batch.columns, batch.columns.created
    moments = rows.moments(created, len(batch.digests)) if created else Alike(None)
    return ReadyBatch(
        batch,
        _stored(project_id, batch.files),
        _new_bodies(encoding, batch, missing),
        [*columns[:-2], moments, columns.records],
        _draw_uuids(len(batch.digests)),
        _draw_short_ids(len(batch.digests)),
        found if within else None,
    )


class Weighed(NamedTuple):
    """Messages that are made ready, and the tokens of each."""

    ready: list[ReadyBatch]
    tokens: list[int]


def weighed(
    project_id: int, encoding: str, messages: Iterable[GivenMessage]
) -> Weighed:
    """Messages as `record_ready` takes them, however few, with what they weigh."""
    found, counts = list[ReadyBatch](), list[int]()
    for batch in batches(messages):
        one = prepare(project_id, encoding, batch, within=True)
        counts += _weights(one, encoding)
        found.append(one._replace(found=None))  # it may be gone by then
    return Weighed(found, counts)


def _weights(ready: ReadyBatch, encoding: str) -> list[int]:
    """The tokens of each message of a batch, of which the known bodies were found."""
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
"""A body to be stored: its other digest, its content, its tokens as JSON and their sum."""


def _new_bodies(
    encoding: str, batch: Batch, places: dict[bytes, int]
) -> dict[bytes, NewBody]:
    """Bodies at some places of a batch, counted."""
    at = list(places.values())
    counts = tokens.count_words([batch.words[place] for place in at], encoding)
    head = f'{{"{encoding}": '
    made = zip(
        map(batch.canonical.__getitem__, at),
        map(batch.contents.__getitem__, at),
        # Most messages are of one part, whose number is written in half the time of a list.
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
    """Append a batch; the answer is the group of its last message.

    The session's counters are set on the instance: the caller saves them in the same transaction.
    `group` is that of the message before it, where it is known; `stretch` is a part of the batch:
    the stretches of one batch are recorded in their order.
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
                    *[part(column, which) for column in ready.columns],
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
    """The same parts with every inline image and file stored, named by its hash."""
    found: dict[str, Attachment] = {}

    def keep(part: Image | File, data: bytes) -> str:
        sha256 = hashlib.sha256(data).hexdigest()
        found[sha256] = Attachment(part.media_type, data)
        return sha256

    kept = [named(item, keep) for item in parts]
    _save_blobs(_stored(project_id, found))
    return kept


def named_by_hash(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """The parts as `keep_bodies` gives them, with nothing stored: fit for a digest."""
    return named(parts, lambda _, data: hashlib.sha256(data).hexdigest())


def _stored(project_id: int, files: dict[str, Attachment]) -> list[Blob]:
    """Rows for images and files, of which the bytes are kept now."""
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
    """Write rows under short ids that the session doesn't have: drawn again where it has one."""
    source_id = source.pk if source is not None else None
    for _ in range(_MOST_DRAWS):
        left = rows.insert_messages(session, source_id, [*columns, short_ids])
        # SQLite says which rows it left out; PostgreSQL refuses them all, and all are drawn again.
        if not left:
            return
        columns = [
            one if isinstance(one, Alike) else [one[place] for place in left]
            for one in columns
        ]
        short_ids = _draw_short_ids(len(left))
    raise IntegrityError(f"No free short_id was drawn in {_MOST_DRAWS} draws.")


def _bodies(
    session: Session, ready: ReadyBatch, which: slice
) -> dict[bytes, tuple[int, int]]:
    """Id and tokens of the body of each digest there, made where the project doesn't have it."""
    project_id, encoding, batch = session.project_id, session.encoding, ready.batch
    keys = batch.digests[which]
    # In the order of their index, so that it is gone through from left to right.
    wanted = sorted(set(keys))
    # What was missing before the transaction most likely is, the first time that it comes.
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
    """Where in a batch some of the digests of a part of it are."""
    places = dict(zip(keys, range(which.start, which.stop), strict=True))
    return {digest: places[digest] for digest in wanted}


def _insert_new(
    project_id: int, digests: list[bytes], bodies: Iterable[NewBody]
) -> dict[bytes, tuple[int, int]]:
    """Store bodies; the answer is the id and the tokens of each that nobody had stored."""
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
    """Stored bodies' ids and tokens; and those that nobody counted in this encoding."""
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
    """Count the bodies that were stored by a session of another encoding."""
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
    """Random UUIDs (version 4) as 32 hex digits, of one draw: `uuid4` takes as long as a row."""
    drawn = bytearray(os.urandom(16 * count))
    drawn[6::16] = drawn[6::16].translate(_VERSION)
    drawn[8::16] = drawn[8::16].translate(_VARIANT)
    return drawn.hex(",", 16).split(",")


def _draw_short_ids(count: int) -> list[str]:
    """As many ids as asked for, unlike each other, in the order of their index."""
    drawn: set[str] = set()
    while len(drawn) < count:
        digits = os.urandom(4 * (count - len(drawn))).hex(",", 4)
        drawn.update(f"msg-{digits.replace(',', ',msg-')}".split(","))
    # Sorted, so that the index on (session, short_id) is filled from left to right.
    return sorted(drawn)
