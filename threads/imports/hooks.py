"""What apps above this one do with what was imported: they register it here.

One hook runs after every import. A recorder keeps what a tool had shortened of its own context:
a transcript's compactions become operations, and these lie in an app above, as do those by which
a thread shows the course that a conversation is on (`Courses`). A completer adds what a file of its
format holds beside the messages.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from django.db.transaction import atomic

from contextstudio.accounts.domain.caller import Caller
from threads.domain.message import Message
from threads.models import Import, Session


class Compacted(NamedTuple):
    """Originals that a tool hid, by their indexes, and what its model saw in their place."""

    indexes: tuple[int, ...]
    messages: tuple[Message, ...]


class CompactionOutcome(NamedTuple):
    """What a compaction became: a word of the log, or nothing, and the sentence that says why."""

    word: str
    sentence: str = ""


class Followed(NamedTuple):
    """What was changed for a thread to show the course that a conversation is on now."""

    left: Sequence[range] = ()
    """The originals that were folded, because it left them."""
    shown: Sequence[range] = ()
    """Those that stand in the thread again."""


class Courses(Protocol):
    """Lets the thread of a session show one of the courses that its conversation took."""

    def went_back(self, session: Session) -> bool:
        """Whether the thread has left any of the session's originals."""

    def follow(
        self,
        session: Session,
        left: Sequence[range],
        compactions: Sequence[Compacted],
    ) -> Followed:
        """Fold the originals that a conversation left, and only these.

        `compactions` are the tool's own on the course that it is on: what was recorded of others
        is switched off.
        """


class Completed(NamedTuple):
    """What a file held beside its messages: how many of what, and what of it was left out."""

    brought: Mapping[str, int] = {}
    warnings: Sequence[str] = ()


Hook = Callable[[Caller, Import], None]
"""Called in the transaction that makes an import visible, so it must be quick: enqueue a job."""
Recorder = Callable[
    [Session, Sequence[Compacted], Callable[[], object]], list[CompactionOutcome]
]
"""Records compactions in their order; one outcome for each. What it is given to call it calls in
the transaction in which it writes them, and works everything out before that."""
Completer = Callable[[Caller, Session, str], Completed]
"""Adds to a new session what its file holds besides; it gets the SHA-256 of the file. Raises
Invalid where the file can't be: then nothing of it is imported."""

_hooks: list[Hook] = []
_recorders: list[Recorder] = []
"""At most one."""
_courses: list[Courses] = []
"""At most one."""
_completers: dict[str, Completer] = {}
"""By formats."""


def register(hook: Hook) -> None:
    """Add a hook; one that is registered already is not added again."""
    if hook not in _hooks:
        _hooks.append(hook)


def register_recorder(recorder: Recorder) -> None:
    """Let this record compactions from now on."""
    _recorders[:] = [recorder]


def register_courses(courses: Courses) -> None:
    """Let this show the courses that conversations take from now on."""
    _courses[:] = [courses]


def register_completer(format_: str, completer: Completer) -> None:
    """Let this complete the sessions of files of a format."""
    _completers[format_] = completer


def complete(caller: Caller, session: Session, format_: str, sha256: str) -> Completed:
    """Add to a new session what its file holds beside the messages."""
    completer = _completers.get(format_)
    if completer is None:
        return Completed()
    session.refresh_from_db()  # compactions have come to it since it was made
    return completer(caller, session, sha256)


def run(caller: Caller, brought: Import) -> None:
    for hook in _hooks:
        hook(caller, brought)


def went_back(session: Session) -> bool:
    """Whether the thread of a session has left any of its originals."""
    return any(one.went_back(session) for one in _courses)


def follow(
    session: Session, left: Sequence[range], compactions: Sequence[Compacted]
) -> Followed:
    """Let a thread show the course that its conversation is on; see `Courses`."""
    for one in _courses:
        return one.follow(session, left, compactions)
    return Followed()


def record_compactions(
    session: Session, compactions: Sequence[Compacted], also: Callable[[], object]
) -> list[CompactionOutcome]:
    """Record the compactions of a session; `also` happens in the same transaction."""
    if compactions and _recorders:
        return _recorders[0](session, compactions, also)
    with atomic():
        also()
    return []
