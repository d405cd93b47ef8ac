"""Sessions, lists of them, and blobs; `get_session` is the one gate to a session."""

import re
import uuid
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TypeVar

from django.db import connection
from django.db.models import Model, Q, QuerySet, UUIDField

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Forbidden, Invalid, NotFound
from contextstudio.accounts.domain.paging import Page, clamp, decode_cursor, page
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.idempotency import note_project
from contextstudio.accounts.keys.request_log import note_session
from contextstudio.accounts.selectors import require
from contextstudio.database.prepared import Param, Prepared
from contextstudio.database.steps import chunks
from threads.domain.formats.sources import FILE, SOURCES, formats_of
from threads.models import Blob, Session

_OTHER_LIST = "This cursor does not belong to this list."
_SHA256 = re.compile("[0-9a-f]{64}")
Row = TypeVar("Row", bound=Model)


def visible_sessions(caller: Caller, project: str | None = None) -> QuerySet[Session]:
    """The sessions that the caller may see; with `project`, those of the project with that slug."""
    return _sessions_of(caller.projects(Right.READ), project)


def recallable_sessions(
    caller: Caller, project: str | None = None
) -> QuerySet[Session]:
    """The sessions whose messages the caller may recall; some may be hidden otherwise."""
    return _sessions_of(caller.recallable, project)


def _sessions_of(projects: Iterable[int], slug: str | None) -> QuerySet[Session]:
    shown = Session.objects.filter(deleted_at=None, staged_by=None)
    sessions = shown.filter(project__in=projects)
    if slug is None:
        return sessions
    is_slug = slug.isascii() and slug.isprintable()  # databases refuse other characters
    return sessions.filter(project__slug=slug) if is_slug else sessions.none()


def get_session(
    caller: Caller,
    session_id: uuid.UUID,
    right: Right = Right.READ,
    *,
    lock: bool = False,
) -> Session:
    """The session, for a caller who has the right to it.

    `lock` holds its row until the transaction ends, so that entries and messages are numbered one
    after another. Raises NotFound for a stranger, Forbidden for one who may see it but lacks the
    right.
    """
    session = _VISIBLE.first(tuple(caller.projects(Right.READ)), lock, id=session_id)
    if session is None:
        raise NotFound("There is no such session.", at=["session_id"])
    note_session(session.pk)
    note_project(session.project_id)
    require_session_right(caller, right, session)
    return session


def _visible(projects: tuple[int, ...], lock: bool) -> QuerySet[Session]:
    sessions = _sessions_of(projects, None).filter(pk=Param("id", UUIDField()))
    if lock:
        # NO KEY: committing a row that refers to a session then doesn't wait for its lock.
        # Otherwise two transactions that lock a conversation and its side call, and commit rows of
        # both, deadlock.
        sessions = sessions.select_for_update(of=("self",), no_key=True)
    return sessions.select_related("project")


_VISIBLE = Prepared(_visible)


def has_session_right(caller: Caller, right: Right, session: Session) -> bool:
    """Whether the caller has a right to a session that they may see.

    Keeping one's work in a session takes the right to edit, or a session that the caller created.
    """
    if right is Right.OWN_SESSION and not caller.may(Right.EDIT, session.project_id):
        is_own = session.created_by == caller.actor
        return is_own and caller.may(right, session.project_id)
    return caller.may(right, session.project_id)


def require_session_right(caller: Caller, right: Right, session: Session) -> None:
    """Raise Forbidden if a caller who sees a session lacks the right to it."""
    if has_session_right(caller, right, session):
        return
    if not caller.may(right, session.project_id):
        # The right to keep own sessions would not help a key in somebody else's.
        is_anothers = session.created_by != caller.actor
        needed = Right.EDIT if right is Right.OWN_SESSION and is_anothers else right
        require(caller, needed, session.project_id)
    raise Forbidden(
        "This key can change only sessions that it created itself. In this one it may propose; "
        f"changing it needs the scope {Right.EDIT}.",
        facts={"right": Right.EDIT.value},
    )


def deleted_sessions(caller: Caller) -> QuerySet[Session]:
    """The sessions that the caller may restore, the last deleted first."""
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
    among: Q | None = None,
    by_tokens: bool = False,
) -> Page[Session]:
    """Sessions, latest change first; `query` matches part of the title, ignoring case.

    With `by_tokens`, those whose originals have the most tokens come first.

    `source` is the name of their agent (`Claude Code`), or `File` if it has none. `external_id` is
    the caller's own id of a session, which is unique in a project. `among` is a further condition.
    """
    sessions = filter_sessions(visible_sessions(caller, project), source, among)
    sessions = sessions.select_related("project")
    if external_id is not None:
        # PostgreSQL accepts no NUL, and no session has one.
        has_nul = "\x00" in external_id
        sessions = (
            sessions.none() if has_nul else sessions.filter(external_id=external_id)
        )
    if query:
        sessions = sessions.filter(contains_words("title", query))
    if by_tokens:
        return _longest_first(sessions, cursor, limit)
    return newest_first(sessions, "updated_at", cursor, limit)


def filter_sessions(
    sessions: QuerySet[Session], source: str = "", among: Q | None = None
) -> QuerySet[Session]:
    """Filter sessions by source and by a further condition: see `list_sessions`."""
    if source.lower() == FILE.lower():
        sessions = sessions.exclude(format__in=SOURCES)
    elif source:
        sessions = sessions.filter(format__in=formats_of(source))
    return sessions if among is None else sessions.filter(among)


def _longest_first(
    sessions: QuerySet[Session], cursor: str | None, limit: int | None
) -> Page[Session]:
    """A page of sessions, those with the most tokens first. Raises Invalid."""
    sessions = sessions.order_by("-original_tokens", "-id")
    if cursor:
        tokens, key = decode_cursor(cursor, 2)
        try:
            last_id = uuid.UUID(key)
        except (TypeError, ValueError, AttributeError) as error:
            raise Invalid(_OTHER_LIST, at=["cursor"]) from error
        if type(tokens) is not int or not 0 <= tokens < 2**63:
            raise Invalid(_OTHER_LIST, at=["cursor"])
        same = Q(original_tokens=tokens, id__lt=last_id)
        sessions = sessions.filter(Q(original_tokens__lt=tokens) | same)
    count = clamp(limit)
    return page(
        list(sessions[: count + 1]),
        count,
        lambda row: [row.original_tokens, str(row.pk)],
    )


def contains_words(field: str, words: str) -> Q:
    """Rows in which a column contains these words, ignoring case."""
    part = words.replace("\x00", "")
    # SQLite's LIKE ignores the case of ASCII letters only; its REGEXP is Python's `re`.
    if connection.vendor == "sqlite" and not part.isascii():
        return Q(**{f"{field}__iregex": re.escape(part)})
    return Q(**{f"{field}__icontains": part})


def newest_first(
    rows: QuerySet[Row], field: str, cursor: str | None, limit: int | None
) -> Page[Row]:
    """A page of rows, newest first by the time in this field. Raises Invalid."""
    rows = rows.order_by(f"-{field}", "-id")
    if cursor:
        updated_at, key = decode_cursor(cursor, 2)
        try:
            moment = datetime.fromisoformat(updated_at).astimezone(UTC)
            last_id = uuid.UUID(key)
        except (TypeError, ValueError, AttributeError, OverflowError) as error:
            raise Invalid(_OTHER_LIST, at=["cursor"]) from error
        same = Q(**{field: moment, "id__lt": last_id})
        rows = rows.filter(Q(**{f"{field}__lt": moment}) | same)
    count = clamp(limit)
    return page(
        list(rows[: count + 1]),
        count,
        lambda row: [getattr(row, field).isoformat(), str(row.pk)],
    )


def get_blob(caller: Caller, sha256: str) -> Blob:
    """An image or file in some session of the caller's projects. Raises NotFound."""
    held = Blob.objects.filter(project__in=caller.projects(Right.READ), sha256=sha256)
    blob = held.first() if _SHA256.fullmatch(sha256) else None
    if blob is None:
        raise NotFound("There is no such blob.", at=["sha256"])
    return blob


def find_blobs(project_id: int, hashes: Iterable[str]) -> set[str]:
    """Which of these SHA-256 hashes belong to images and files of the project."""
    found: set[str] = set()
    for some in chunks(sorted(hashes)):
        blobs = Blob.objects.filter(project_id=project_id, sha256__in=some)
        found.update(blobs.values_list("sha256", flat=True))
    return found
