"""How near the messages of a session are to what it is for: its objective."""

from collections.abc import Collection, Mapping

from threads.domain.meaning.nearness import as_share
from threads.models import Session

from . import meaning
from .by_meaning import relevance


def has_relevance(session: Session) -> bool:
    """Whether how relevant messages are can be told: by an objective, where meaning is on."""
    return bool(session.objective) and meaning.is_on()


def relevance_of(
    session: Session, question: str = "", indexes: Collection[int] | None = None
) -> Mapping[str, float]:
    """By key how near each original is to a question, else to the objective, from 0 to 1.

    Of those at some `indexes`, where these are given. Nothing where nothing is asked and there is
    no objective, nor of a text whose vectors are not made yet. Raises Conflict where search by
    meaning is off.
    """
    asked = question or session.objective
    if not asked:
        return {}
    found = relevance(session, asked, indexes)
    return {f"m{index}": as_share(found[index]) for index in sorted(found)}
