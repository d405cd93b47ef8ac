"""What an agent asked the next context to hold: kept until one is made of it."""

import uuid
from collections.abc import Iterable

from django.db import transaction

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.rights import Right
from operations.domain.context.selection import Preference
from operations.models import SlicePreference
from threads.models import Session
from threads.store.selectors import get_session

MOST_MATCHES = 10_000


@transaction.atomic
def request_slice(
    caller: Caller, session_id: uuid.UUID, preference: Preference
) -> Preference:
    """Let the next context hold this alone; an earlier query that still waits is forgotten."""
    session = get_session(caller, session_id, Right.READ)
    SlicePreference.objects.update_or_create(
        session=session,
        defaults={
            "pending": True,
            "start": preference.start,
            "end": preference.end,
            "include_search_results": preference.include_search_results,
            "max_context_messages": preference.max_context_messages,
            "actor": caller.actor,
        },
    )
    return preference


def keep_matches(session: Session, indexes: Iterable[int]) -> None:
    """Remember what the last search in a session found: indexes of originals."""
    found = sorted(set(indexes))[:MOST_MATCHES]
    SlicePreference.objects.update_or_create(
        session=session, defaults={"matches": found}
    )


def pending_slice(session: Session) -> Preference | None:
    """What waits for the next context; None where nothing does."""
    row = SlicePreference.objects.filter(session=session, pending=True).first()
    if row is None:
        return None
    return Preference(
        start=row.start,
        end=row.end,
        include_search_results=row.include_search_results,
        max_context_messages=row.max_context_messages,
        matches=tuple(row.matches),
    )


def consume_slice(session: Session) -> bool:
    """Use up what waits: true for the one context that it is for."""
    waiting = SlicePreference.objects.filter(session=session, pending=True)
    return waiting.update(pending=False) > 0
