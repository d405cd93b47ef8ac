"""What apps above this one do with what was imported: they register it here.

One hook runs after every import. A recorder keeps what a tool had shortened of its own context:
a transcript's compactions become operations, and these lie in an app above.
"""

from collections.abc import Callable, Sequence
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


Hook = Callable[[Caller, Import], None]
"""Called in the transaction that makes an import visible, so it must be quick: enqueue a job."""
Recorder = Callable[
    [Session, Sequence[Compacted], Callable[[], object]], list[CompactionOutcome]
]
"""Records compactions in their order; one outcome for each. What it is given to call it calls in
the transaction in which it writes them, and works everything out before that."""

_hooks: list[Hook] = []
_recorders: list[Recorder] = []
"""At most one."""


def register(hook: Hook) -> None:
    """Add a hook; one that is registered already is not added again."""
    if hook not in _hooks:
        _hooks.append(hook)


def register_recorder(recorder: Recorder) -> None:
    """Let this record compactions from now on."""
    _recorders[:] = [recorder]


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
