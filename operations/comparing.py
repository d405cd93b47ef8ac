"""A context to compare another with: without any operation, without one, with some that wait.

Redactions stay on in both: what they mask is shown nowhere.
"""

from collections.abc import Iterable
from dataclasses import replace

from contextstudio.accounts.domain.errors import Invalid, NotFound
from threads.models import Session

from .contexts import Context, Wish, assemble_session
from .domain.control import Toggle
from .domain.key import Key, entry_key, entry_number
from .domain.log import Entry
from .domain.operation import Redact
from .domain.replay import replay
from .domain.thread import Thread
from .selectors import load_history, load_leaves

NOBODY = ""


def context_of_originals(session: Session, wish: Wish) -> Context:
    """The context that there would be without any operation."""
    log = load_history(session).log
    redactions = {
        number: recorded
        for number, recorded in log.edits.items()
        if isinstance(recorded.edit, Redact)
    }
    keys = [entry_key(number) for number in log.edits if number not in redactions]
    thread = _thread_without(session, wish, keys)
    masking = tuple((n, one.state, one.edit) for n, one in redactions.items())
    basis = ("originals", thread.message_count, log.purged, masking, thread.active_tags)
    return assemble_session(session, replace(wish, thread=thread, basis=basis))


def context_without(session: Session, wish: Wish, operation: Key) -> Context:
    """The context that there would be without one operation. Raises NotFound, Invalid."""
    edit = load_history(session).log.edits.get(entry_number(operation) or 0)
    if edit is None:
        raise NotFound(f"There is no operation {operation}.", at=["against"])
    if isinstance(edit.edit, Redact):
        raise Invalid(
            "What a redaction masks is not shown by leaving it out.", at=["against"]
        )
    thread = _thread_without(session, wish, [operation])
    return assemble_session(session, replace(wish, thread=thread))


def context_with(session: Session, wish: Wish, operations: Iterable[Key]) -> Context:
    """The context that there would be if operations applied. Raises NotFound."""
    return assemble_session(
        session, replace(wish, thread=thread_with(session, wish, operations))
    )


def thread_with(session: Session, wish: Wish, operations: Iterable[Key]) -> Thread:
    """The thread that there would be if operations were on and their conditions held."""
    log = load_history(session).log
    numbers = {key: entry_number(key) or 0 for key in operations}
    for key, number in numbers.items():
        if number not in log.edits:
            raise NotFound(f"There is no operation {key[:40]}.", at=["operation"])
    tags, objective = wish.active_tags, session.objective
    leaves = load_leaves(session)
    return replay(leaves, log, tags, objective=objective, assume={*numbers.values()})


def _thread_without(session: Session, wish: Wish, operations: Iterable[Key]) -> Thread:
    """The thread with operations switched off; nothing is recorded."""
    log = load_history(session).log
    off = Toggle(operations=tuple(operations), active=False)
    without = log.extended([Entry(log.head + 1, off, NOBODY)])
    return replay(
        load_leaves(session), without, wish.active_tags, objective=session.objective
    )
