"""Writing originals: bodies once per content, tokens once per body, rows in order.

Messages come as a stream and are recorded in batches, bounded in number and in bytes; nothing
of a batch is held once it is written. Django's models would cost more than all the rest, so
rows are tuples (`threads.rows`).
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from django.db import IntegrityError, transaction
from django.utils import timezone

from . import blobs, rows, tokens
from .domain.group import group_ids, starts_group
from .domain.message import Message as GivenMessage
from .domain.message import Role, Usage, digest_of, encode_parts
from .domain.part import File, Image, Part, Text, ToolCall, ToolResult
from .models import Blob, Body, Message, Session, Source

BATCH = 2000
"""Messages that are written at once."""
BATCH_BYTES = 8 << 20
"""Bytes of bodies at which a batch is written sooner."""
_MOST_DRAWS = 8
_VERSION = bytes(0x40 | byte & 0x0F for byte in range(256))
_VARIANT = bytes(0x80 | byte & 0x3F for byte in range(256))
Name = Callable[[Image | File, bytes], str]
"""Gives the SHA-256 of an image's or a file's bytes, in hex."""
Progress = Callable[[int], None]
"""Told after each batch how many messages are recorded; raises to stop."""


class Batch:
    """Messages on their way into the database: each encoded as it is added.

    Bytes of images and files are stored then and let go, so that what waits are words.
    """

    __slots__ = ("_found", "_keep", "contents", "digests", "given", "size")

    def __init__(self, project_id: int) -> None:
        self.given: list[GivenMessage] = []
        self.contents: list[bytes] = []
        self.digests: list[bytes] = []
        self.size = 0
        self._found: dict[str, Blob] = {}
        self._keep = _keeping(project_id, self._found)

    def add(self, given: GivenMessage) -> bool:
        """Take one more message in; whether there are enough to be recorded."""
        parts = given.parts
        for part in parts:
            kind = type(part)
            if kind is not Text and kind is not ToolCall and _holds_bytes(part):
                parts = _named(parts, self._keep)
                given = replace(given, parts=parts)
                break
        content = encode_parts(parts)
        self.given.append(given)
        self.contents.append(content)
        self.digests.append(digest_of(given.role, content))
        self.size += len(content)
        return self.size >= BATCH_BYTES or len(self.given) >= BATCH

    def save_blobs(self) -> None:
        """Write the rows of the images and files that were stored."""
        if self._found:
            Blob.objects.bulk_create(
                self._found.values(), ignore_conflicts=True, batch_size=200
            )
            self._found.clear()


def record_messages(
    session: Session,
    messages: Iterable[GivenMessage],
    *,
    source: Source | None = None,
    progress: Progress | None = None,
) -> int:
    """Append messages to a session whose row the caller has locked; the answer is how many.

    Each batch is written whole or not at all, with the session's counters, which are set on
    the instance too; where the caller has no transaction each is committed. The messages may
    be read while they are recorded.
    """
    recorded = 0
    group: int | None = None
    for batch in _batches(session.project_id, messages):
        group = record_batch(session, batch, source=source, group=group)
        recorded += len(batch.given)
        if progress is not None:
            progress(recorded)
    if not recorded:
        _save_counters(session)
    return recorded


def record_batch(
    session: Session,
    batch: Batch,
    *,
    source: Source | None = None,
    group: int | None = None,
) -> int:
    """Append a batch, as `record_messages` does; the answer is the group of its last message.

    `group` is that of the message before it, where it is known.
    """
    with transaction.atomic(savepoint=False):
        batch.save_blobs()
        group = _last_group(session) if group is None else group
        if batch.given:
            group = _record_batch(session, batch, source, group)
        _save_counters(session)
    return group


def keep_bodies(
    project_id: int, parts: Iterable[tuple[Part, ...]]
) -> list[tuple[Part, ...]]:
    """The same parts with every inline image and file stored, named by its hash."""
    found: dict[str, Blob] = {}
    kept = [_named(item, _keeping(project_id, found)) for item in parts]
    Blob.objects.bulk_create(found.values(), ignore_conflicts=True)
    return kept


def named_by_hash(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """The parts as `keep_bodies` gives them, with nothing stored: fit for a digest."""
    return _named(parts, lambda _, data: hashlib.sha256(data).hexdigest())


def _keeping(project_id: int, found: dict[str, Blob]) -> Name:
    """Stores bytes and notes their row."""

    def keep(part: Image | File, data: bytes) -> str:
        sha256 = blobs.store(data)
        found[sha256] = Blob(
            project_id=project_id,
            sha256=sha256,
            media_type=_storable(part.media_type)[:100],
            size=len(data),
        )
        return sha256

    return keep


def _batches(project_id: int, messages: Iterable[GivenMessage]) -> Iterator[Batch]:
    batch = Batch(project_id)
    for given in messages:
        if batch.add(given):
            yield batch
            batch = Batch(project_id)
    if batch.given:
        yield batch


def _record_batch(
    session: Session, batch: Batch, source: Source | None, group: int
) -> int:
    """Write a batch; the answer is the group of its last message."""
    bodies = _bodies(session, batch)
    ids, counts = zip(*map(bodies.__getitem__, batch.digests), strict=True)
    starts = [
        one.role is Role.USER and starts_group(one.role, one.parts)
        for one in batch.given
    ]
    groups = list(group_ids(starts, last=group))
    index, end = session.message_count, session.message_count + len(ids)
    columns: list[rows.Column] = [
        range(index, end),
        _draw_uuids(len(ids)),
        ids,
        counts,
        groups,
        *_columns(batch.given),
    ]
    _insert(session, source, columns)
    session.message_count = end
    session.original_tokens += sum(counts)
    return groups[-1]


def _columns(messages: list[GivenMessage]) -> list[rows.Column]:
    """What rows have of their messages alone, in the order of `rows.MESSAGE_COLUMNS`."""
    usages = [one.usage for one in messages]
    return [
        [one.role._value_ for one in messages],  # `value` is found by code in Python
        ["partial" if one.partial else "complete" for one in messages],
        [one.input_tokens + one.output_tokens if one else None for one in usages],
        [_usage(one) if one else None for one in usages],
        _words([one.name for one in messages]),
        _words([one.model for one in messages]),
        _words([one.source_id for one in messages]),
        rows.moments([one.created_at for one in messages]),
        [_json(one.records) for one in messages],
    ]


def _words(values: list[str | None]) -> list[str]:
    if not any(values):
        return [""] * len(values)
    return [_word(value) if value else "" for value in values]


def _insert(
    session: Session, source: Source | None, columns: list[rows.Column]
) -> None:
    """Write rows under short ids that the session doesn't have: drawn again where it has one."""
    source_id = source.pk if source is not None else None
    for draw in range(_MOST_DRAWS):
        short_ids = _draw_short_ids(len(columns[0]))
        try:
            with transaction.atomic():
                rows.insert_messages(session, source_id, [*columns, short_ids])
            return
        except IntegrityError as error:
            if "short_id" not in str(error) or draw == _MOST_DRAWS - 1:
                raise


def _bodies(session: Session, batch: Batch) -> dict[bytes, tuple[int, int]]:
    """Id and tokens of the body of every digest, made where the project doesn't have it."""
    project_id, encoding = session.project_id, session.encoding
    places = dict(zip(batch.digests, range(len(batch.digests)), strict=True))
    # In the order of their index, so that it is gone through from left to right.
    wanted = sorted(places)
    found = rows.find_bodies(project_id, wanted)
    bodies, uncounted = _counted(found, encoding)
    if missing := [digest for digest in wanted if digest not in found]:
        at = [places[digest] for digest in missing]
        given = batch.given
        counts = tokens.count_messages([given[i].parts for i in at], encoding)
        ids = rows.insert_bodies(
            project_id,
            [
                missing,
                [batch.contents[i] for i in at],
                [f'{{"{encoding}": {count}}}' for count in counts],
            ],
        )
        sums = dict(zip(missing, map(sum, counts), strict=True))
        made = zip(ids.values(), map(sums.__getitem__, ids), strict=True)
        bodies.update(zip(ids, made, strict=True))
        if len(ids) < len(missing):  # another transaction has stored some meanwhile
            late = [digest for digest in missing if digest not in ids]
            counted, more = _counted(rows.find_bodies(project_id, late), encoding)
            bodies |= counted
            uncounted |= more
    if uncounted:
        parts = {digest: batch.given[places[digest]].parts for digest in uncounted}
        bodies |= _count_again(encoding, uncounted, parts)
    return bodies


def _counted(
    found: dict[bytes, rows.Found], encoding: str
) -> tuple[dict[bytes, tuple[int, int]], dict[bytes, rows.Found]]:
    """Stored bodies' ids and tokens; and those that nobody counted in this encoding."""
    counted: dict[bytes, tuple[int, int]] = {}
    uncounted: dict[bytes, rows.Found] = {}
    for digest, body in found.items():
        counts = json.loads(body.token_counts).get(encoding)
        if counts is None:
            uncounted[digest] = body
        else:
            counted[digest] = body.id, sum(counts)
    return counted, uncounted


def _count_again(
    encoding: str,
    uncounted: dict[bytes, rows.Found],
    parts: dict[bytes, tuple[Part, ...]],
) -> dict[bytes, tuple[int, int]]:
    """Count the bodies that were stored by a session of another encoding."""
    counts = tokens.count_messages([parts[digest] for digest in uncounted], encoding)
    counted: dict[bytes, tuple[int, int]] = {}
    changed = []
    for (digest, body), count in zip(uncounted.items(), counts, strict=True):
        known = json.loads(body.token_counts) | {encoding: count}
        changed.append(Body(pk=body.id, token_counts=known))
        counted[digest] = body.id, sum(count)
    Body.objects.bulk_update(changed, ["token_counts"], batch_size=200)
    return counted


def _save_counters(session: Session) -> None:
    session.updated_at = timezone.now()
    session.save(update_fields=["message_count", "original_tokens", "updated_at"])


def _named(parts: tuple[Part, ...], name: Name) -> tuple[Part, ...]:
    return tuple(_named_part(part, name) for part in parts)


def _holds_bytes(part: Part) -> bool:
    if isinstance(part, ToolResult):
        for item in part.content:  # noqa: SIM110  # a generator takes twice as long
            if type(item) is not Text and _holds_bytes(item):
                return True
        return False
    return isinstance(part, Image | File) and part.data is not None


def _named_part(part: Part, name: Name) -> Part:
    match part:
        case ToolResult():
            content = _named(part.content, name)
            return replace(part, content=content)  # type: ignore[arg-type]  # kinds are kept
        case Image(data=bytes() as data) | File(data=bytes() as data):
            return replace(part, sha256=name(part, data), data=None)
    return part


def _last_group(session: Session) -> int:
    if not session.message_count:
        return 0
    last = Message.objects.filter(session=session).order_by("-index")
    return last.values_list("group_id", flat=True).first() or 0


def _draw_uuids(count: int) -> list[str]:
    """Random UUIDs (version 4) as 32 hex digits, of one draw: `uuid4` takes as long as a row."""
    drawn = bytearray(os.urandom(16 * count))
    drawn[6::16] = drawn[6::16].translate(_VERSION)
    drawn[8::16] = drawn[8::16].translate(_VARIANT)
    digits = drawn.hex()
    return [digits[at : at + 32] for at in range(0, 32 * count, 32)]


def _draw_short_ids(count: int) -> list[str]:
    """As many ids as asked for, unlike each other, in the order of their index."""
    drawn: set[str] = set()
    while len(drawn) < count:
        digits = os.urandom(4 * (count - len(drawn))).hex(",", 4)
        drawn.update(f"msg-{digits.replace(',', ',msg-')}".split(","))
    return sorted(drawn)


def _json(records: tuple[str, ...]) -> str:
    if len(records) == 1 and records[0].startswith("bytes:"):
        return f'["{records[0]}"]'
    if records and all(record.startswith("bytes:") for record in records):
        return '["' + '", "'.join(records) + '"]'
    return json.dumps(records)


def _usage(usage: Usage) -> str:
    """Its members as JSON."""
    return (
        f'{{"input_tokens": {usage.input_tokens}, "output_tokens": {usage.output_tokens}, '
        f'"cached_tokens": {usage.cached_tokens}}}'
    )


def _word(text: str) -> str:
    return _storable(text)[:128]


def _storable(text: str) -> str:
    """Text as a column takes it: PostgreSQL refuses NUL, and no database has lone surrogates."""
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", "").encode("utf-8", "replace").decode()
