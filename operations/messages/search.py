"""Finding words in a thread as one looks at it: also in folds, and in what operations made."""

from collections.abc import Iterable, Iterator

from operations.domain.log.operation import Insert, messages_of
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import (
    Key,
    entry_key,
    made_key,
    original_index,
    original_key,
)
from threads.domain.text import finds, fold, whole_text
from threads.models import Session
from threads.search.services import find_in_session

from .reader import MessageReader


def find_in_thread(session: Session, thread: Thread, query: str) -> list[Key]:
    """The messages that read the query, and the folds that show it, as the thread stands."""
    found = _found(session, thread, query)
    return in_order(thread, {_standing(thread, key) for key in found})


def find_effective(session: Session, thread: Thread, query: str) -> list[Key]:
    """What the model sees of it."""
    found = set(_found(session, thread, query))
    return [shown.key for shown in thread.effective() if shown.key in found]


def find_originals(session: Session, query: str) -> list[Key]:
    """The originals that hold it, as they may be read."""
    return [original_key(index) for index, _ in find_in_session(session, query)]


def _found(session: Session, thread: Thread, query: str) -> list[Key]:
    """Keys of messages of the thread that read the query there, in no order."""
    recorded = find_originals(session, query)
    changed = {
        key
        for key in thread.annotated
        if original_index(key) is not None and thread.spans(key)
    }
    unsure = [*changed, *_made(thread)]
    wanted = fold(query)
    read = [
        key
        for key, words in MessageReader(session, thread).effective(unsure).items()
        if finds(wanted, whole_text(words.parts))
    ]
    return [*(key for key in recorded if key not in changed), *read]


def _made(thread: Thread) -> Iterator[Key]:
    """The messages that operations made and that are in the thread."""
    for number, recorded in thread.log.edits.items():
        for place in range(len(messages_of(recorded.edit))):
            if thread.holds(key := made_key(number, place)):
                yield key


def _standing(thread: Thread, key: Key) -> Key:
    """What a message stands as: itself, or the fold that shows it."""
    if original_index(key) is not None:
        return key
    number = int(key[1:].partition(".")[0])
    inserted = isinstance(thread.log.edits[number].edit, Insert)
    return key if inserted else entry_key(number)


def in_order(thread: Thread, keys: Iterable[Key]) -> list[Key]:
    """Keys in the order of the thread; a fold before what it holds."""
    by_top: dict[Key, list[Key]] = {}
    for key in keys:
        by_top.setdefault(thread.top(key), []).append(key)
    ordered: list[Key] = []
    for top in sorted(by_top, key=thread.position):
        inside = by_top[top]
        if len(inside) > 1:
            places = {leaf: place for place, leaf in enumerate(thread.leaf_keys(top))}
            inside.sort(
                key=lambda key: (
                    places[thread.leaf_keys(key)[0]],
                    len(thread.path(key)),
                )
            )
        ordered += inside
    return ordered
