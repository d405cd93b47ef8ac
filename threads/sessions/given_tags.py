"""Tags of messages, also those that a client gives with them.

They are no part of an original: the app above this one, which has the log, registers what
records them and what reads them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from contextstudio.accounts.domain.caller import Caller
from threads.models import Session

Tags = Mapping[int, Any]
"""What was given as `tags`, by the place of its message in the list."""
Recorder = Callable[[Caller, Session, Tags, int], None]
"""Records tags of messages, of which the first in the list is the original at an index.

Called in the transaction that records the messages. Raises Invalid with the place.
"""
Reader = Callable[[Session, Iterable[int]], Mapping[int, Sequence[str]]]
"""Reads the tags that originals have now, by their indexes."""

_registered: list[tuple[Recorder, Reader]] = []


def register(recorder: Recorder, reader: Reader) -> None:
    """Let these record and read tags from now on, once."""
    if (recorder, reader) not in _registered:
        _registered.append((recorder, reader))


def tags_of(messages: Sequence[Mapping[str, Any]]) -> Tags:
    """The tags of messages as a client sends them; those without any are left out."""
    given = ((place, message.get("tags")) for place, message in enumerate(messages))
    return {place: tags for place, tags in given if tags}


def record(caller: Caller, session: Session, tags: Tags, first: int) -> None:
    """Record tags of messages that were just recorded from original `first` on."""
    if tags:
        for recorder, _ in _registered:
            recorder(caller, session, tags, first)
        session.refresh_from_db(fields=["head"])


def load(session: Session, indexes: Iterable[int]) -> Mapping[int, Sequence[str]]:
    """The tags that originals have; those without any may be left out."""
    if not session.head:
        return {}
    found: dict[int, Sequence[str]] = {}
    for _, reader in _registered:
        found.update(reader(session, indexes))
    return found
