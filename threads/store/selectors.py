"""Reading originals; `get_session` is the one gate to a session."""

import json
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from functools import cached_property
from itertools import islice
from sys import intern
from typing import Any, NamedTuple, TypeVar

from django.db import connection
from django.db.models import (
    BinaryField,
    F,
    Func,
    IntegerField,
    Model,
    Q,
    QuerySet,
    TextField,
    UUIDField,
)
from django.db.models.functions import Cast, Coalesce

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Forbidden, Invalid, NotFound
from contextstudio.accounts.domain.paging import Page, clamp, decode_cursor, page
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.keys.request_log import note_session
from contextstudio.accounts.selectors import require
from contextstudio.database.prepared import Prepared, given
from threads.domain.formats.sources import FILE, SOURCES, formats_of
from threads.domain.message import Role, Usage, body_digest, decode_parts
from threads.domain.part import Part
from threads.models import Blob, Message, Session

from .masking import masked

_SHA256 = re.compile("[0-9a-f]{64}")
DIGEST = Coalesce("body__canonical", "body__digest")
"""The digest of what an original says: by it, a client's message is known again."""
Item = TypeVar("Item")
Row = TypeVar("Row", bound=Model)


def visible_sessions(caller: Caller, project: str | None = None) -> QuerySet[Session]:
    """The sessions that the caller may know of, or those of one project by its slug."""
    return _sessions_of(caller.projects(Right.READ), project)


def recallable_sessions(
    caller: Caller, project: str | None = None
) -> QuerySet[Session]:
    """The sessions whose messages the caller may recall: some it may not know of otherwise."""
    return _sessions_of(caller.recallable, project)


def _sessions_of(projects: Iterable[int], slug: str | None) -> QuerySet[Session]:
    shown = Session.objects.filter(deleted_at=None, staged_by=None)
    sessions = shown.filter(project__in=projects)
    if slug is None:
        return sessions
    is_slug = slug.isascii() and slug.isprintable()  # what is none, no database takes
    return sessions.filter(project__slug=slug) if is_slug else sessions.none()


def get_session(
    caller: Caller,
    session_id: uuid.UUID,
    right: Right = Right.READ,
    *,
    lock: bool = False,
) -> Session:
    """The session, for one who has the right to it.

    `lock` holds its row until the transaction ends, so that entries and messages are
    numbered one after another. Raises NotFound for a stranger, Forbidden for one who may
    see it but lacks the right.
    """
    session = _VISIBLE.first(tuple(caller.projects(Right.READ)), lock, id=session_id)
    if session is None:
        raise NotFound("There is no such session.", at=["session_id"])
    note_session(session.pk)
    require_in(caller, right, session)
    return session


def _visible(projects: tuple[int, ...], lock: bool) -> QuerySet[Session]:
    sessions = _sessions_of(projects, None).filter(pk=given("id", UUIDField()))
    if lock:
        # The commit of a row that refers to a session doesn't wait for who holds it. Else two
        # that hold a conversation and its side call, and commit rows of both, wait for ever.
        sessions = sessions.select_for_update(of=("self",), no_key=True)
    return sessions.select_related("project")


_VISIBLE = Prepared(_visible)


def may_in(caller: Caller, right: Right, session: Session) -> bool:
    """Whether the caller has a right to a session that they may see.

    To keep one's work in it takes the right to edit, or a session of one's own: one that the
    caller made.
    """
    if right is Right.OWN_SESSION and not caller.may(Right.EDIT, session.project_id):
        is_own = session.created_by == caller.actor
        return is_own and caller.may(right, session.project_id)
    return caller.may(right, session.project_id)


def require_in(caller: Caller, right: Right, session: Session) -> None:
    """Refuse one who sees a session but lacks the right to it. Raises Forbidden."""
    if may_in(caller, right, session):
        return
    require(caller, right, session.project_id)
    raise Forbidden(
        "This key keeps sessions that it made itself, and this is another's: in it the key may "
        f"propose. Changing it needs the scope {Right.EDIT}.",
        facts={"right": Right.EDIT.value},
    )


def deleted_sessions(caller: Caller) -> QuerySet[Session]:
    """The sessions that the caller may bring back, the last deleted first."""
    ids = caller.projects(Right.EDIT)
    gone = Session.objects.filter(project__in=ids, staged_by=None)
    return gone.exclude(deleted_at=None).order_by("-deleted_at", "-pk")


def get_deleted_session(caller: Caller, session_id: uuid.UUID, right: Right) -> Session:
    """A deleted session, locked. Raises NotFound for a stranger, Forbidden without the right."""
    gone = Session.objects.filter(
        project__in=caller.projects(Right.READ), staged_by=None
    ).exclude(deleted_at=None)
    locked = gone.select_for_update(of=("self",)).select_related("project")
    session = locked.filter(pk=session_id).first()
    if session is None:
        raise NotFound("There is no such deleted session.", at=["session_id"])
    require(caller, right, session.project_id)
    return session


def list_sessions(
    caller: Caller,
    *,
    project: str | None = None,
    cursor: str | None = None,
    limit: int | None = None,
    query: str = "",
    source: str = "",
    external_id: str | None = None,
) -> Page[Session]:
    """Sessions, newest change first; `query` is a part of the title, ignoring case.

    `source` is what their agent is called (`Claude Code`), or `File` for what has no name.
    `external_id` is the caller's own id of a session, of which a project has one.
    """
    sessions = visible_sessions(caller, project).select_related("project")
    if source.lower() == FILE.lower():
        sessions = sessions.exclude(format__in=SOURCES)
    elif source:
        sessions = sessions.filter(format__in=formats_of(source))
    if external_id is not None:
        # PostgreSQL takes no NUL, and no session has one.
        has_nul = "\x00" in external_id
        sessions = (
            sessions.none() if has_nul else sessions.filter(external_id=external_id)
        )
    if query:
        sessions = sessions.filter(holds("title", query))
    return newest_first(sessions, "updated_at", cursor, limit)


def holds(field: str, words: str) -> Q:
    """Rows in which a column holds these words, ignoring case."""
    part = words.replace("\x00", "")
    # SQLite's LIKE knows the case of ASCII letters alone; REGEXP is Python's `re` there.
    if connection.vendor == "sqlite" and not part.isascii():
        return Q(**{f"{field}__iregex": re.escape(part)})
    return Q(**{f"{field}__icontains": part})


def newest_first(
    rows: QuerySet[Row], field: str, cursor: str | None, limit: int | None
) -> Page[Row]:
    """A page of rows, the newest by a moment in this field first. Raises Invalid."""
    rows = rows.order_by(f"-{field}", "-id")
    if cursor:
        updated_at, key = decode_cursor(cursor, 2)
        try:
            moment = datetime.fromisoformat(updated_at).astimezone(UTC)
            last_id = uuid.UUID(key)
        except (TypeError, ValueError, AttributeError, OverflowError) as error:
            sentence = "This cursor does not belong to this list."
            raise Invalid(sentence, at=["cursor"]) from error
        same = Q(**{field: moment, "id__lt": last_id})
        rows = rows.filter(Q(**{f"{field}__lt": moment}) | same)
    count = clamp(limit)
    return page(
        list(rows[: count + 1]),
        count,
        lambda row: [getattr(row, field).isoformat(), str(row.pk)],
    )


class OriginalRow(NamedTuple):
    """The columns of an original and of its body, as `_COLUMNS` names them."""

    index: int  # type: ignore[assignment]  # nobody asks where in a tuple a value is
    uuid: uuid.UUID
    short_id: str
    role: str
    tokens: int
    group_id: int
    parsing_strategy: str
    status: str
    weight: int | None
    model: str
    external_id: str
    created_at: datetime | None
    name: str
    source_sha256: str | None
    usage: str | None
    """JSON, parsed where it is asked for: most readers never do. So are records and counts."""
    records: str
    digest: bytes
    content: bytes
    token_counts: str


_COLUMNS = (
    *OriginalRow._fields[:13],
    "source__sha256",
    Cast("usage", TextField()),
    Cast("records", TextField()),
    "body__digest",
    "body__content",
    Cast("body__token_counts", TextField()),
)


@dataclass(frozen=True)
class Original:
    """An original as it may be read: its row, and its parts once they are asked for."""

    row: OriginalRow
    encoding: str
    masked: tuple[Part, ...] | None = None
    """Its parts where text of them is masked; else they are those of the row."""

    @property
    def key(self) -> str:
        return intern(f"m{self.row.index}")

    @property
    def role(self) -> Role:
        return Role(self.row.role)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        if self.masked is not None:
            return self.masked
        return decode_parts(bytes(self.row.content))

    def decoded(self) -> "Original":
        """The same with its parts at hand and without the bytes that they were read from.

        What is kept of a long session weighs half as much so. Words that most rows have are held
        once.
        """
        row = self.row
        light = replace(
            self,
            row=row._replace(
                content=b"",
                role=intern(row.role),
                parsing_strategy=intern(row.parsing_strategy),
                status=intern(row.status),
                model=intern(row.model),
                records="[]" if row.records == "[]" else row.records,
            ),
        )
        light.__dict__["parts"] = self.parts  # where `cached_property` looks for it
        return light

    @property
    def digest(self) -> bytes:
        """The digest of how it stands: the body's own, unless text of it is masked."""
        if self.masked is not None:
            return body_digest(self.role, self.masked)
        return bytes(self.row.digest)

    @property
    def usage(self) -> Usage | None:
        """Tokens as the provider counted them, where it did."""
        if self.row.usage is None:
            return None
        counted = json.loads(self.row.usage)
        return Usage(**{one.name: counted.get(one.name, 0) for one in fields(Usage)})

    @property
    def counts(self) -> list[int]:
        """Tokens of each part as recorded; empty where they were not stored."""
        counts: dict[str, list[int]] = json.loads(self.row.token_counts)
        return counts.get(self.encoding, [])


def load_messages(
    session: Session, start: int = 0, end: int | None = None
) -> list[Original]:
    """Originals `start` to `end` (half-open), with their bodies as they may be read."""
    rows = Message.objects.filter(session=session, index__gte=max(start, 0))
    if end is not None:
        rows = rows.filter(index__lt=end)
    return list(_masked(session, _recorded(session, rows)).values())


def load_messages_at(session: Session, indexes: Iterable[int]) -> dict[int, Original]:
    """The originals at these indexes as they may be read; what is not there is left out."""
    return _masked(session, load_recorded_at(session, indexes))


def load_recorded_at(session: Session, indexes: Iterable[int]) -> dict[int, Original]:
    """The originals at these indexes as they were recorded: for those who mask them."""
    found: dict[int, Original] = {}
    wanted = sorted(set(indexes))
    if wanted and _are_near(wanted):
        stretch = _STRETCH.rows(session=session.pk, start=wanted[0], end=wanted[-1])
        named = frozenset(wanted)
        return _originals(session, (row for row in stretch if row[0] in named))
    for some in chunks(wanted):
        rows = Message.objects.filter(session=session, index__in=some)
        found.update(_recorded(session, rows))
    return found


def _are_near(indexes: Sequence[int]) -> bool:
    """Whether a few originals, in their order, are at least half of those between them."""
    span = indexes[-1] - indexes[0] + 1
    return span <= min(_IN_A_ROW, 2 * len(indexes))


def load_digests(session: Session, start: int = 0) -> list[bytes]:
    """The digest of what each original from `start` on says, in the order of their indexes."""
    return [*map(bytes, _DIGESTS.rows(session=session.pk, start=start))]


def load_skeleton(session: Session, start: int = 0) -> list[tuple[str, int, int]]:
    """(role, tokens, group) of the originals from `start` on: all that replay needs of them."""
    return _SKELETON.rows(session=session.pk, start=start)


def find_holding(session: Session, words: bytes, *, start: int = 0) -> list[int]:
    """The originals from `start` on whose body, as `encode_parts` wrote it, holds these bytes."""
    return _HOLDING.rows(session=session.pk, start=start, words=words)


def _holding() -> QuerySet[Message, int]:
    rows, whole = _rows_from("start"), IntegerField()
    body, searched = F("body__content"), given("words", BinaryField())
    place = Func(body, searched, function="INSTR", output_field=whole)
    if connection.vendor == "postgresql":  # has only the standard's form for bytes
        form = "POSITION(%(expressions)s)"
        place = Func(
            searched, body, template=form, arg_joiner=" IN ", output_field=whole
        )
    found = rows.annotate(place=place).filter(place__gt=0)
    return found.values_list("index", flat=True)


_HOLDING = Prepared(_holding)


def get_blob(caller: Caller, sha256: str) -> Blob:
    """An image or a file that some session of the caller's projects holds. Raises NotFound."""
    held = Blob.objects.filter(project__in=caller.projects(Right.READ), sha256=sha256)
    blob = held.first() if _SHA256.fullmatch(sha256) else None
    if blob is None:
        raise NotFound("There is no such blob.")
    return blob


def find_blobs(project_id: int, hashes: Iterable[str]) -> set[str]:
    """Which of these are the SHA-256 of an image or a file that the project holds."""
    found: set[str] = set()
    for some in chunks(sorted(hashes)):
        blobs = Blob.objects.filter(project_id=project_id, sha256__in=some)
        found.update(blobs.values_list("sha256", flat=True))
    return found


def chunks(items: Iterable[Item], size: int = 500) -> Iterator[list[Item]]:
    """So many items at a time, of as many as come."""
    rest = iter(items)
    while some := list(islice(rest, size)):
        yield some


def _recorded(session: Session, rows: QuerySet[Message]) -> dict[int, Original]:
    """Originals by index, in its order. Tuples, for a model costs more than what it holds."""
    return _originals(session, rows.order_by("index").values_list(*_COLUMNS))


def _originals(
    session: Session, rows: Iterable[tuple[Any, ...]]
) -> dict[int, Original]:
    return {row[0]: Original(OriginalRow(*row), session.encoding) for row in rows}


def _rows_from(start: str) -> QuerySet[Message]:
    """The originals of a session from an index on, in their order."""
    of_session = Message.objects.filter(session=given("session", UUIDField()))
    return of_session.filter(index__gte=given(start, IntegerField())).order_by("index")


_STRETCH = Prepared(
    lambda: (
        _rows_from("start")
        .filter(index__lte=given("end", IntegerField()))
        .values_list(*_COLUMNS)
    )
)
_DIGESTS = Prepared(lambda: _rows_from("start").values_list(DIGEST, flat=True))
_IN_A_ROW = 500
"""Originals that are read at once."""
_SKELETON = Prepared(
    lambda: _rows_from("start").values_list("role", "tokens", "group_id")
)


def _masked(session: Session, originals: dict[int, Original]) -> dict[int, Original]:
    """The same originals; those that a mask changes, changed."""
    recorded = _Readings(originals)
    readings = masked(session, recorded)
    if readings is recorded:
        return originals
    return {
        index: original
        if (read := readings[index]) == original.parts
        else replace(original, masked=read)
        for index, original in originals.items()
    }


class _Readings(Mapping[int, tuple[Part, ...]]):
    """What originals say, read only where it is asked for."""

    def __init__(self, originals: Mapping[int, Original]) -> None:
        self._originals = originals

    def __getitem__(self, index: int) -> tuple[Part, ...]:
        return self._originals[index].parts

    def __iter__(self) -> Iterator[int]:
        return iter(self._originals)

    def __len__(self) -> int:
        return len(self._originals)
