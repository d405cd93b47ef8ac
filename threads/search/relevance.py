"""How near the messages of a session are to what it is for: its objective."""

from collections.abc import Mapping

from threads.domain.meaning.nearness import as_share
from threads.models import Session

from .by_meaning import relevance


def relevance_of(session: Session, question: str = "") -> Mapping[str, float]:
    """By key how near each original is to a question, else to the objective, from 0 to 1.

    Nothing where there is neither, nor of a text whose vectors are not made yet. Raises Conflict
    where search by meaning is off.
    """
    asked = question or session.objective
    if not asked:
        return {}
    found = relevance(session, asked)
    return {f"m{index}": as_share(found[index]) for index in sorted(found)}
