"""Searches originals and titles for words, ignoring case, as they may be read.

The searched text of a message is `threads.domain.text.whole_text`; a query is taken literally.
`threads.search.word_index` names candidates, the newest text first, and each is checked against the
message as it reads now: redacted text is never found, but the text of the mask is. Only sessions
that the caller may see are searched.
"""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import groupby, islice
from typing import NamedTuple

from django.db.models import Q, QuerySet

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.domain.paging import clamp, decode_cursor, encode_cursor
from contextstudio.database.steps import chunks
from threads.domain.body import decode_parts
from threads.domain.text import Excerpt, contains, excerpt, fold, whole_text
from threads.models import Body, Message, Session
from threads.store.masking import masked_places
from threads.store.originals import Original, load_messages_at
from threads.store.selectors import filter_sessions, get_session, visible_sessions

from .bodies import BODIES, in_session

MAX_QUERY_LENGTH = 1000
MAX_TITLES = 20
MAX_EXAMINED = 5000
"""How many texts one page looks into; the next one goes on from there."""
_AT_ONCE = 200


class SearchHit(NamedTuple):
    """An original that matches the query."""

    session: Session
    original: Original
    excerpt: Excerpt
    similarity: float | None = None
    """How near it is to the question, from 0 to 1, if it was found by meaning."""


@dataclass(frozen=True, slots=True)
class SearchResults:
    """A page of matches; `titles` on the first page only.

    Pages go from the newest texts to the oldest; texts that were recorded together are in no order.
    Within a page, matches are grouped by session, in the order of its messages.
    """

    matches: Sequence[SearchHit]
    titles: Sequence[Session]
    next_cursor: str | None
    pending: int = 0
    """Texts that a search by meaning could not look at yet."""


class _Place(NamedTuple):
    """A message by its body and its session's id in hex; matches are ordered by it."""

    body: int
    session: str
    index: int  # type: ignore[assignment]  # nobody calls tuple.index

    @property
    def session_id(self) -> uuid.UUID:
        return uuid.UUID(self.session)


_BEHIND_ALL = "~"
"""Sorts after every id in hex: a page that ends here has looked into all of a body."""


def search(
    caller: Caller,
    query: str,
    *,
    project: str | None = None,
    session_id: uuid.UUID | None = None,
    source: str = "",
    among: Q | None = None,
    cursor: str | None = None,
    limit: int | None = None,
) -> SearchResults:
    """Messages that hold the query, in the sessions that the caller may see.

    `source` and `among` narrow these sessions as in `list_sessions`.

    Raises Invalid for a query that is empty or too long, NotFound for a session that the
    caller may not see.
    """
    sessions = filter_sessions(
        searched(caller, query, project, session_id), source, among
    )
    wanted, count = fold(query), clamp(limit)
    at = _position(cursor) if cursor else None
    matches, last = _find_matches(sessions, wanted, at, count)
    titles: list[Session] = []
    if at is None and session_id is None:
        ordered = sessions.order_by("-updated_at", "-id").values_list("pk", "title")
        found = (key for key, title in ordered.iterator() if contains(wanted, title))
        keys = list(islice(found, MAX_TITLES))
        named = sessions.select_related("project").in_bulk(keys)
        titles = [named[key] for key in keys]
    # Grouped by session, in the order of its messages.
    order = list(dict.fromkeys(match.session.pk for match in matches))
    matches.sort(key=lambda one: (order.index(one.session.pk), one.original.row.index))
    following = None if last is None else encode_cursor(list(last))
    return SearchResults(matches, titles, following)


def searched(
    caller: Caller, query: str, project: str | None, session_id: uuid.UUID | None
) -> QuerySet[Session]:
    """The sessions that a search covers. Raises Invalid and NotFound as `search` does."""
    if not query or len(query) > MAX_QUERY_LENGTH:
        raise Invalid(f"Search for 1 to {MAX_QUERY_LENGTH:,} characters.", at=["q"])
    sessions = visible_sessions(caller, project)
    if session_id is not None:
        sessions = sessions.filter(pk=get_session(caller, session_id).pk)
    return sessions


def find_in_session(
    session: Session, query: str, *, start: int = 0
) -> list[tuple[int, Original]]:
    """The originals from index `start` that hold the query, ignoring case, in order."""
    wanted = fold(query)
    indexes: Iterable[int] | None = in_session(session, wanted)
    if indexes is None:
        indexes = range(start, session.message_count)
    else:
        this = Session.objects.filter(pk=session.pk)
        named = {*indexes, *(index for _, index in masked_places(this))}
        indexes = sorted(index for index in named if index >= start)
    return [
        (index, original)
        for some in chunks(indexes, _AT_ONCE)
        for index, original in load_messages_at(session, some).items()
        if contains(wanted, whole_text(original.parts))
    ]


def excerpt_of(original: Original, query: str) -> Excerpt:
    """The text of an original around the first match of the query."""
    return excerpt(fold(query), whole_text(original.parts))


def _find_matches(
    sessions: QuerySet[Session], wanted: str, after: _Place | None, count: int
) -> tuple[list[SearchHit], _Place | None]:
    """The next matches, and where the next page continues; None if all was looked into."""
    masked = _bodies_at(masked_places(sessions))
    before = None if after is None else after.body + 1
    below = sorted(id_ for id_ in masked if before is None or id_ < before)
    ids = merge(BODIES.candidates(wanted, before), reversed(below), reverse=True)
    matches: list[SearchHit] = []
    examined = 0
    once = (id_ for id_, _ in groupby(ids))
    for some in chunks(once, min(_AT_ONCE, max(20, count))):
        holding = masked.intersection(some)
        rows = Body.objects.filter(pk__in=some).values_list("pk", "content")
        for id_, content in rows:
            if contains(wanted, whole_text(decode_parts(bytes(content)))):
                holding.add(id_)
        for place, match in _verified(sessions, holding, after, wanted):
            matches.append(match)
            if len(matches) == count:
                return matches, place
        examined += len(some)
        if examined >= MAX_EXAMINED:
            return matches, _Place(some[-1], _BEHIND_ALL, 0)
    return matches, None


def _verified(
    sessions: QuerySet[Session], bodies: set[int], after: _Place | None, wanted: str
) -> Iterator[tuple[_Place, SearchHit]]:
    """The messages with these bodies that match the query as they read now, in order."""
    rows = Message.objects.filter(body__in=bodies, session__in=sessions)
    found = rows.values_list("body_id", "session_id", "index")
    held = (_Place(body, session.hex, index) for body, session, index in found)
    places = sorted(held, key=_order)
    if after is not None:
        places = [place for place in places if _order(place) > _order(after)]
    indexes: dict[uuid.UUID, list[int]] = defaultdict(list)
    for place in places:
        indexes[place.session_id].append(place.index)
    named = sessions.select_related("project").in_bulk(list(indexes))
    pairs = named.items()
    originals = {key: load_messages_at(one, indexes[key]) for key, one in pairs}
    for place in places:
        original = originals.get(place.session_id, {}).get(place.index)
        if original is None:
            continue
        text = whole_text(original.parts)
        if contains(wanted, text):
            session = named[place.session_id]
            yield place, SearchHit(session, original, excerpt(wanted, text))


def _order(place: _Place) -> tuple[int, str, int]:
    """Sort key: newest body first, then session and index."""
    return -place.body, place.session, place.index


def _bodies_at(places: Iterable[tuple[uuid.UUID, int]]) -> set[int]:
    """The bodies of originals, given by session and index."""
    indexes: dict[uuid.UUID, list[int]] = defaultdict(list)
    for session_id, index in places:
        indexes[session_id].append(index)
    found: set[int] = set()
    for session_id, some in indexes.items():
        for chunk in chunks(some, _AT_ONCE):
            rows = Message.objects.filter(session=session_id, index__in=chunk)
            found.update(rows.values_list("body_id", flat=True))
    return found


def _position(cursor: str) -> _Place:
    """The position that a cursor encodes. Raises Invalid for the cursor of another list."""
    body, session, index = decode_cursor(cursor, 3)
    is_place = isinstance(body, int) and isinstance(session, str)
    if not is_place or type(index) is not int or not 0 < body < 1 << 62:
        raise Invalid("This cursor does not belong to this list.", at=["cursor"])
    return _Place(body, session, index)
