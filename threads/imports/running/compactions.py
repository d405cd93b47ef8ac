"""What a tool had shortened of its own context, handed to the app that keeps the log.

A transcript's compactions become operations, and operations lie in an app above this one. So
it registers here how they are recorded, and an import hands over what it has read.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from threads.domain.message import Message
from threads.models import Session


class Compacted(NamedTuple):
    """Originals that a tool hid, by their indexes, and what its model saw in their place."""

    indexes: tuple[int, ...]
    messages: tuple[Message, ...]


class CompactionOutcome(NamedTuple):
    """What a compaction became: a word of the log, or nothing, and the sentence that says why."""

    word: str
    sentence: str = ""


Recorder = Callable[[Session, Sequence[Compacted]], list[CompactionOutcome]]
"""Records compactions in their order; one outcome for each. Called inside a transaction."""

_recorders: list[Recorder] = []


def register(recorder: Recorder) -> None:
    """Let this record what is imported from now on, once."""
    if recorder not in _recorders:
        _recorders.append(recorder)


def record(
    session: Session, compactions: Sequence[Compacted]
) -> list[CompactionOutcome]:
    """Record the compactions of a session whose row the caller has locked."""
    outcomes: list[CompactionOutcome] = []
    if compactions:
        for recorder in _recorders:
            outcomes = recorder(session, compactions)
    return outcomes
