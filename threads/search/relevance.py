"""How relevant the messages of a session are to its objective."""

from collections.abc import Collection, Mapping

from threads.domain.meaning.nearness import as_share
from threads.models import Session

from . import meaning
from .by_meaning import relevance


def has_relevance(session: Session) -> bool:
    """Whether relevance can be computed: the session has an objective, and meaning search is on."""
    return bool(session.objective) and meaning.is_on()


def relevance_of(
    session: Session, question: str = "", indexes: Collection[int] | None = None
) -> Mapping[str, float]:
    """How near each original is to a question, or else to the objective: from 0 to 1, by key.

    With `indexes`, only those originals. Empty if there is neither a question nor an objective;
    texts without vectors are left out. Raises Conflict if search by meaning is off.
    """
    asked = question or session.objective
    if not asked:
        return {}
    found = relevance(session, asked, indexes)
    return {f"m{index}": as_share(found[index]) for index in sorted(found)}
