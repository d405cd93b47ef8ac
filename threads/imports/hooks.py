"""What apps above this one do with what was imported: they register it here.

One hook runs after every import. A recorder keeps what a tool had shortened of its own context:
a transcript's compactions become operations, and these lie in an app above. A completer adds
what a file of its format holds beside the messages.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

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
_completers: dict[str, Completer] = {}
"""By formats."""


def register(hook: Hook) -> None:
    """Add a hook; one that is registered already is not added again."""
    if hook not in _hooks:
        _hooks.append(hook)


def register_recorder(recorder: Recorder) -> None:
    """Let this record compactions from now on."""
    _recorders[:] = [recorder]


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


def record_compactions(
    session: Session, compactions: Sequence[Compacted], also: Callable[[], object]
) -> list[CompactionOutcome]:
    """Record the compactions of a session; `also` happens in the same transaction."""
    if compactions and _recorders:
        return _recorders[0](session, compactions, also)
    with atomic():
        also()
    return []
