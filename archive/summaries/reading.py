"""Reads the messages to summarise."""

from collections.abc import Sequence

from archive.domain.summaries.said import Utterance
from contextstudio.accounts.domain.errors import Conflict
from operations.domain.log.operation import Revise, Snip
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key
from operations.messages.reader import MessageReader
from threads.models import Session


def utterances_of(
    session: Session, thread: Thread, keys: Sequence[Key]
) -> list[Utterance]:
    """The messages with these keys, as a summariser reads them.

    What a snip or a revise took out of the thread stays out; what it shows is read instead.
    Messages below digests and the pruner's lines are read in full, because each summary of a
    summary loses more. Raises Conflict if nothing is left.
    """
    texts = MessageReader(session, thread).effective(_standing(thread, keys))
    if not texts:
        sentence = "Nothing is left of these messages to summarise."
        raise Conflict(sentence, code="messages_gone")
    return [Utterance(one.key, one.role, one.parts) for one in texts.values()]


def _standing(thread: Thread, keys: Sequence[Key]) -> dict[Key, None]:
    """The keys to read, in order: those given that the thread holds.

    Messages that a snip or a revise takes out are replaced by what it shows.
    """
    wanted = frozenset(keys)
    known: dict[Key, bool] = {}

    def is_taken_out(fold: Key) -> bool:
        if fold not in known:
            recorded = thread.log.edit(fold)
            takes_out = recorded and isinstance(recorded.edit, Revise | Snip)
            whole = takes_out and wanted.issuperset(thread.leaf_keys(fold))
            known[fold] = bool(whole)
        return known[fold]

    found: dict[Key, None] = {}
    for key in filter(thread.holds, keys):
        fold = next(filter(is_taken_out, thread.path(key)), None)
        shown = [key] if fold is None else [one.key for one in thread.shown(fold)]
        found |= dict.fromkeys(shown)
    return found
