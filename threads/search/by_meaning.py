"""Search by meaning: ranks messages by how near they are to a question, as they may be read.

Redacted text never counts: a message with a redaction is compared by its current text, not by the
vectors of what was recorded.
"""

import uuid
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from heapq import merge
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db.models import Exists, OuterRef, Q, QuerySet

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.domain.paging import clamp, decode_cursor, encode_cursor
from contextstudio.database.steps import chunks
from threads.domain.meaning.nearness import NEAR, as_share
from threads.domain.text import EXCERPT_MARGIN, Excerpt, whole_text
from threads.models import Message, Session
from threads.store.masking import Place, masked_places
from threads.store.originals import Original, load_messages_at
from threads.store.selectors import filter_sessions

from . import meaning
from .services import SearchHit, SearchResults, searched

if TYPE_CHECKING:
    from .meaning.question import Question

MAX_NEAR = 1000
"""How many of the nearest texts a search goes through; its last page ends there."""
_AT_ONCE = 200


class NearMessage(NamedTuple):
    """A message with its similarity; among equally near ones the latest comes first."""

    score: int
    body: int
    session: str
    index: int  # type: ignore[assignment]  # nobody calls tuple.index


def search_by_meaning(
    caller: Caller,
    question: str,
    *,
    project: str | None = None,
    session_id: uuid.UUID | None = None,
    source: str = "",
    among: Q | None = None,
    cursor: str | None = None,
    limit: int | None = None,
) -> SearchResults:
    """The messages nearest to a question, in the sessions that the caller may see.

    `source` and `among` narrow these sessions as in `list_sessions`.

    Raises Conflict if search by meaning is off, Invalid for a question that is empty or too long,
    NotFound for a session that the caller may not see.
    """
    meaning.require_on()
    sessions = filter_sessions(
        searched(caller, question, project, session_id), source, among
    )
    after, count = position_of(cursor) if cursor else None, clamp(limit)
    asked = meaning.make_question(question)
    found, pending = nearest_messages(
        sessions, asked, after, of_session=session_id is not None
    )
    near = list(islice(found, count + 1))
    cursor = encode_cursor(list(near[count - 1])) if len(near) > count else None
    return SearchResults(_hits(sessions, asked, near[:count]), [], cursor, pending)


def relevance(
    session: Session, question: str, indexes: Collection[int] | None = None
) -> Mapping[int, int]:
    """How near the messages of a session are to a question, by index: all, or those in `indexes`.

    A text without vectors is left out, unless it is among the newest. Raises Conflict if search by
    meaning is off.
    """
    asked = meaning.make_question(question)
    messages = Message.objects.filter(session=session).values_list("index", "body_id")
    if indexes is not None:
        messages = messages.filter(index__in=indexes)
    body_of = dict(messages.order_by("index"))
    scores = asked.scores_of_bodies(body_of.values())
    found = {at: scores[body] for at, body in body_of.items() if body in scores}
    this = Session.objects.filter(pk=session.pk)
    masked = [index for _, index in masked_places(this) if index in body_of]
    for index, original in load_messages_at(session, masked).items():
        [found[index]] = asked.scores_of([whole_text(original.parts)])
    return found


def nearest_messages(
    sessions: QuerySet[Session],
    asked: "Question",
    after: NearMessage | None,
    *,
    of_session: bool,
) -> tuple[Iterator[NearMessage], int]:
    """The messages after `after`, nearest first, and the number of texts not looked at.

    `of_session` says that there is only one session, whose texts are few among the others.
    """
    masked = masked_places(sessions)
    projects = set(sessions.order_by().values_list("project", flat=True).distinct())
    bodies = Message.objects.filter(session__in=sessions).values("body")
    ranking = (
        asked.rank(projects, MAX_NEAR, bodies=bodies)
        if of_session
        else asked.rank(projects, MAX_NEAR, gone=_unseen(projects, sessions))
    )
    read = sorted(_read(sessions, asked, masked), key=order_of)
    recorded = _recorded(sessions, ranking.nearest, masked)
    found: Iterator[NearMessage] = merge(recorded, read, key=order_of)
    if after is not None:
        found = (one for one in found if order_of(one) > order_of(after))
    return found, ranking.pending


def _unseen(
    projects: Collection[int], sessions: QuerySet[Session]
) -> QuerySet[Message, Any] | None:
    """The bodies that only the projects' other sessions have, such as deleted ones."""
    others = Session.objects.filter(project__in=projects).exclude(pk__in=sessions)
    if not others.exists():
        return None
    seen = Message.objects.filter(body=OuterRef("body"), session__in=sessions)
    of_others = Message.objects.filter(~Exists(seen), session__in=others)
    return of_others.values("body")


def _recorded(
    sessions: QuerySet[Session], nearest: Sequence[tuple[int, int]], masked: set[Place]
) -> Iterator[NearMessage]:
    """The messages with the nearest bodies whose text is as it was recorded."""
    for some in chunks(nearest, _AT_ONCE):
        score_of = {body: score for score, body in some}
        rows = Message.objects.filter(body__in=score_of, session__in=sessions)
        places = [
            NearMessage(score_of[body], body, session.hex, index)
            for body, session, index in rows.values_list("body", "session", "index")
            if (session, index) not in masked
        ]
        yield from sorted(places, key=order_of)


def _read(
    sessions: QuerySet[Session], asked: "Question", masked: Iterable[Place]
) -> Iterator[NearMessage]:
    """The messages with masked text that are near by their current text."""
    for session, originals in _load(sessions, masked):
        texts = [whole_text(original.parts) for original in originals.values()]
        for index, score in zip(originals, asked.scores_of(texts), strict=True):
            if score >= NEAR:
                yield NearMessage(score, 0, session.pk.hex, index)


def _hits(
    sessions: QuerySet[Session], asked: "Question", near: Sequence[NearMessage]
) -> list[SearchHit]:
    """The messages as they may be read, grouped by session."""
    places = [(uuid.UUID(one.session), one.index) for one in near]
    scores = {place: one.score for place, one in zip(places, near, strict=True)}
    loaded = {
        session.pk: (session, found) for session, found in _load(sessions, places)
    }
    hits = []
    for key in dict.fromkeys(session for session, _ in places):
        if key not in loaded:
            continue  # deleted meanwhile
        session, originals = loaded[key]
        for index in (at for one, at in places if one == key and at in originals):
            original, share = originals[index], as_share(scores[key, index])
            hits.append(SearchHit(session, original, _excerpt(asked, original), share))
    return hits


def _load(
    sessions: QuerySet[Session], places: Iterable[Place]
) -> Iterator[tuple[Session, Mapping[int, Original]]]:
    indexes: dict[uuid.UUID, list[int]] = defaultdict(list)
    for key, index in places:
        indexes[key].append(index)
    for session in sessions.select_related("project").in_bulk(list(indexes)).values():
        yield session, load_messages_at(session, indexes[session.pk])


def _excerpt(asked: "Question", original: Original) -> Excerpt:
    """An excerpt around the place in a message that is nearest to the question."""
    text = whole_text(original.parts)
    start, end = asked.nearest_stretch(text)
    first, last = max(0, start - EXCERPT_MARGIN), min(len(text), end + EXCERPT_MARGIN)
    return Excerpt(
        text[first:last], start - first, end - first, first > 0, last < len(text)
    )


def order_of(one: NearMessage) -> tuple[int, int, str, int]:
    return -one.score, -one.body, one.session, one.index


def position_of(cursor: str) -> NearMessage:
    """The position that a cursor encodes. Raises Invalid for the cursor of another list."""
    score, body, session, index = decode_cursor(cursor, 4)
    numbers = (score, body, index)
    if not isinstance(session, str) or any(type(one) is not int for one in numbers):
        raise Invalid("This cursor does not belong to this list.", at=["cursor"])
    return NearMessage(score, body, session, index)
