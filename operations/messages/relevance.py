"""Which messages of a thread are about something: a question, or the session's objective."""

from collections.abc import Iterable, Mapping

from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, original_index
from operations.requests import View
from threads.domain.meaning.nearness import NEAR, as_share
from threads.models import Session
from threads.search.relevance import has_relevance, relevance_of

from .search import in_order


def relevance_at(session: Session, keys: Iterable[Key]) -> Mapping[Key, float]:
    """How near those of the keys that are originals are to the objective, as far as it is known."""
    indexes = {index for key in keys if (index := original_index(key)) is not None}
    if not indexes or not has_relevance(session):
        return {}
    return relevance_of(session, indexes=indexes)


def find_near(
    session: Session, thread: Thread, view: View, question: str
) -> Mapping[Key, float]:
    """The originals that are near, with how near, in the order of a view.

    What operations say in their place has no vectors. Raises Conflict where meaning is off.
    """
    shares = relevance_of(session, question)
    near = {key: share for key, share in shares.items() if share >= as_share(NEAR)}
    if view is View.ORIGINAL:
        return near
    if view is View.EFFECTIVE:
        keys = [shown.key for shown in thread.effective() if shown.key in near]
    else:
        keys = in_order(thread, near)
    return {key: near[key] for key in keys}
