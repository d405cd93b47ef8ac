"""Tags of messages, including those that a client sends with them.

Tags are not part of an original: the app above this one, which has the log, registers how they are
recorded and read.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from contextstudio.accounts.domain.caller import Caller
from threads.models import Session

Tags = Mapping[int, Any]
"""The `tags` given with messages, by their position in the list."""
Recorder = Callable[[Caller, Session, Tags, int], None]
"""Records tags of messages; the first message of the list is the original at the given index.

Called in the transaction that records the messages. Raises Invalid with the place."""
Reader = Callable[[Session, Iterable[int]], Mapping[int, Sequence[str]]]
"""Reads the current tags of originals, by index."""

_registered: list[tuple[Recorder, Reader]] = []


def register(recorder: Recorder, reader: Reader) -> None:
    """Register how tags are recorded and read."""
    if (recorder, reader) not in _registered:
        _registered.append((recorder, reader))


def tags_of(messages: Sequence[Mapping[str, Any]]) -> Tags:
    """The tags in messages as a client sends them, by position; omits messages without tags."""
    given = ((place, message.get("tags")) for place, message in enumerate(messages))
    return {place: tags for place, tags in given if tags}


def record(caller: Caller, session: Session, tags: Tags, first: int) -> None:
    """Record the tags of messages just recorded from original `first` on."""
    if tags:
        for recorder, _ in _registered:
            recorder(caller, session, tags, first)
        session.refresh_from_db(fields=["head"])


def load(session: Session, indexes: Iterable[int]) -> Mapping[int, Sequence[str]]:
    """The tags of originals, by index; those without any may be left out."""
    if not session.head:
        return {}
    found: dict[int, Sequence[str]] = {}
    for _, reader in _registered:
        found.update(reader(session, indexes))
    return found
