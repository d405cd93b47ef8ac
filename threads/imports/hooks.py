"""Hooks through which apps above this one act on imports; they register functions here.

A hook runs after every import. A recorder turns the compactions of a transcript, where a tool had
shortened its own context, into operations. `Courses` folds and restores originals, so that a thread
shows the course that its conversation is on now. A completer adds what a file of its format holds
beside the messages.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from django.db.transaction import atomic

from contextstudio.accounts.domain.caller import Caller
from threads.domain.message import Message
from threads.models import Import, Session


class CompactedMessages(NamedTuple):
    """Originals that a tool hid, by index, and what its model saw in their place."""

    indexes: tuple[int, ...]
    messages: tuple[Message, ...]


class CompactionOutcome(NamedTuple):
    """The result of a compaction: a word of the log, or "", and the sentence that says why."""

    word: str
    sentence: str = ""


class CourseChange(NamedTuple):
    """The changes that made a thread show the course that its conversation is on now."""

    left: Sequence[range] = ()
    """The originals that were folded because the conversation left them."""
    shown: Sequence[range] = ()
    """The originals that are shown again."""


class Courses(Protocol):
    """Makes the thread of a session show one of the courses that its conversation took."""

    def has_left_originals(self, session: Session) -> bool:
        """Whether the thread has left any of the session's originals."""

    def follow(
        self,
        session: Session,
        left: Sequence[range],
        compactions: Sequence[CompactedMessages],
    ) -> CourseChange:
        """Fold the originals that a conversation left, and only these.

        `compactions` are the tool's own on the current course; compactions recorded on other
        courses are switched off.
        """


class Completion(NamedTuple):
    """What a completer added: counts by kind, and warnings about what it left out."""

    brought: Mapping[str, int] = {}
    warnings: Sequence[str] = ()


Hook = Callable[[Caller, Import], None]
"""Called in the transaction that makes an import visible, so it must be quick: enqueue a job."""
Recorder = Callable[
    [Session, Sequence[CompactedMessages], Callable[[], object]],
    list[CompactionOutcome],
]
"""Records compactions in order, and returns one outcome for each. It calls the callback that it is
given in the transaction in which it writes them, and does all other work before that."""
Completer = Callable[[Caller, Session, str], Completion]
"""Adds to a new session what its file holds besides messages; it is given the SHA-256 of the file.
Raises Invalid if the file can't be completed: then nothing of it is imported."""

_hooks: list[Hook] = []
_recorders: list[Recorder] = []
"""At most one."""
_courses: list[Courses] = []
"""At most one."""
_completers: dict[str, Completer] = {}
"""By format."""


def register_hook(hook: Hook) -> None:
    """Add a hook unless it is already registered."""
    if hook not in _hooks:
        _hooks.append(hook)


def register_recorder(recorder: Recorder) -> None:
    """Set the recorder of compactions."""
    _recorders[:] = [recorder]


def register_courses(courses: Courses) -> None:
    """Set the implementation of `Courses`."""
    _courses[:] = [courses]


def register_completer(format_: str, completer: Completer) -> None:
    """Set the completer for sessions of a format."""
    _completers[format_] = completer


def run_completer(
    caller: Caller, session: Session, format_: str, sha256: str
) -> Completion:
    """Add to a new session what its file holds beside the messages."""
    completer = _completers.get(format_)
    if completer is None:
        return Completion()
    session.refresh_from_db()  # compactions were recorded since it was created
    return completer(caller, session, sha256)


def run_hooks(caller: Caller, brought: Import) -> None:
    for hook in _hooks:
        hook(caller, brought)


def has_left_originals(session: Session) -> bool:
    """Whether the thread of a session has left any of its originals."""
    return any(one.has_left_originals(session) for one in _courses)


def follow(
    session: Session, left: Sequence[range], compactions: Sequence[CompactedMessages]
) -> CourseChange:
    """Make a thread show the course that its conversation is on; see `Courses.follow`."""
    for one in _courses:
        return one.follow(session, left, compactions)
    return CourseChange()


def record_compactions(
    session: Session,
    compactions: Sequence[CompactedMessages],
    also: Callable[[], object],
) -> list[CompactionOutcome]:
    """Record the compactions of a session; `also` runs in the same transaction."""
    if compactions and _recorders:
        return _recorders[0](session, compactions, also)
    with atomic():
        also()
    return []
