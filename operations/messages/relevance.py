"""Finds the messages of a thread that are relevant to a question or to the session's objective."""

from collections.abc import Iterable, Mapping

from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, original_index
from operations.requests import View
from threads.domain.meaning.nearness import NEAR, as_share
from threads.models import Session
from threads.search.relevance import has_relevance, relevance_of

from .search import in_order


def relevance_at(session: Session, keys: Iterable[Key]) -> Mapping[Key, float]:
    """Map of original to its similarity to the objective, for those keys where it is known."""
    indexes = {index for key in keys if (index := original_index(key)) is not None}
    if not indexes or not has_relevance(session):
        return {}
    return relevance_of(session, indexes=indexes)


def find_near(
    session: Session, thread: Thread, view: View, question: str
) -> Mapping[Key, float]:
    """Map of the originals that are near the question to their similarity, in view order.

    Messages that operations made have no vectors. Raises Conflict if search by meaning is off.
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
