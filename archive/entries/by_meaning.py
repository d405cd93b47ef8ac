"""Finds entries by meaning, those of the nearest message first.

An entry is as near as its message, with redactions applied; all results of one message are equally
near. What operations put into a thread has no vectors and is found by words only.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from uuid import UUID

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.domain.paging import Page, clamp, encode_cursor
from threads.domain.meaning.nearness import as_share
from threads.search import meaning
from threads.search.by_meaning import NearMessage, nearest_messages, position_of
from threads.search.services import MAX_QUERY_LENGTH
from threads.store.selectors import recallable_sessions

from .finding import ArchiveQuery, filtered_entries, list_entries, matches
from .selectors import Readable, readable

_AT_ONCE = 200


def find_entries(
    caller: Caller, query: ArchiveQuery, *, cursor: str | None, limit: int | None
) -> tuple[Page[Readable], int]:
    """A page of entries, by words or by meaning, and how many texts are not indexed yet.

    Raises Invalid; Conflict if search by meaning is off.
    """
    if not query.meaning:
        return list_entries(caller, query, cursor=cursor, limit=limit), 0
    meaning.require_on()
    if not query.words or len(query.words) > MAX_QUERY_LENGTH:
        raise Invalid(f"Search for 1 to {MAX_QUERY_LENGTH:,} characters.", at=["q"])
    sessions = recallable_sessions(caller, query.project)
    if query.session_id is not None:
        sessions = sessions.filter(pk=query.session_id)
    near, pending = nearest_messages(
        sessions,
        meaning.make_question(query.words),
        position_of(cursor) if cursor else None,
        of_session=query.session_id is not None,
    )
    count, found = clamp(limit), list[Readable]()
    while some := list(islice(near, _AT_ONCE)):
        entries = _entries_of(caller, query, some)
        for one in some:
            found += entries.get((UUID(one.session), f"m{one.index}"), ())
            if len(found) >= count:
                return Page(found, encode_cursor(list(one))), pending
    return Page(found, None), pending


def _entries_of(
    caller: Caller, query: ArchiveQuery, near: Sequence[NearMessage]
) -> Mapping[tuple[UUID, str], list[Readable]]:
    """Map of (session id, message key) to the entries of these messages that fit the query."""
    scores = {(UUID(one.session), f"m{one.index}"): one.score for one in near}
    rows = filtered_entries(caller, query).filter(
        session__in={session for session, _ in scores},
        message_key__in={key for _, key in scores},
    )
    ordered = rows.select_related("session__project").order_by("location")
    held = [one for one in ordered if (one.session_id, one.message_key) in scores]
    found: dict[tuple[UUID, str], list[Readable]] = defaultdict(list)
    for one in readable(held):
        if matches(one, replace(query, words="")):
            place = one.entry.session_id, one.entry.message_key
            found[place].append(one._replace(similarity=as_share(scores[place])))
    return found
