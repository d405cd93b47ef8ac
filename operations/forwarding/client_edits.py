"""Records a client's new messages, and what it did to the others.

This happens in the request's transaction, under the session's lock. For a request that records
nothing, the thread is made as it would be.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from contextstudio.accounts.domain.caller import Caller
from contextstudio.database.prepared import update
from operations.domain.log.entry import CLIENT, Entry
from operations.domain.log.log import Log
from operations.domain.log.operation import Amend, Insert, Operation, Redact, Revise
from operations.domain.thread.replay import replay
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import original_key
from operations.domain.tree.leaf import Leaf
from operations.domain.tree.span import find_text_spans
from operations.log.selectors import (
    History,
    load_history,
    load_leaves,
    load_thread,
    masked_texts,
    overview,
)
from operations.log.transaction import begin, with_token_counts
from threads import tokens
from threads.domain.message import Message, starts_group
from threads.models import Session
from threads.sessions.services import name_session
from threads.store import events
from threads.store.recording import ReadyBatch, record_messages, record_ready

from .alignment import RequestAlignment

CLIENT_CALLER = Caller(actor=CLIENT, name="Client")
_MASKED_AGAIN = "Redacted in what the client sends instead"


def record(
    session: Session,
    aligned: RequestAlignment,
    active_tags: frozenset[str] | None,
    ready: Iterable[ReadyBatch] | None = None,
) -> tuple[History, Thread]:
    """Record a request's new messages and the client's edits; the session's row is locked.

    `ready` are the new messages, if they were prepared before.
    """
    first = session.message_count
    if aligned.new:
        leaves = load_leaves(session)
        group = leaves[-1].group if leaves else None
        if ready is None:
            record_messages(session, aligned.new, group=group)
        else:
            record_ready(session, ready, group=group)
        name_session(session, aligned.new)
    if aligned.plan.operations:
        transaction = begin(session, CLIENT_CALLER)
        masks = list(
            _carried_redactions(session, transaction.history.log, aligned, first)
        )
        edits = [_counted(session, one) for one in aligned.plan.operations]
        titles = [*aligned.plan.titles, *(_MASKED_AGAIN for _ in masks)]
        transaction.add(*edits, *masks, titles=titles)
        transaction.commit()
        if active_tags is None:
            return transaction.history, transaction.thread
    elif aligned.new:
        thread = load_thread(session)
        session.overview = overview(thread)
        update(session, "overview")
        events.announce(session)
        if active_tags is None:
            return load_history(session), thread
    return load_history(session), load_thread(session, active_tags)


def preview(
    session: Session,
    aligned: RequestAlignment,
    active_tags: frozenset[str] | None,
    weights: Sequence[int] | None = None,
) -> tuple[History, Thread]:
    """The thread as if a request was recorded; nothing is.

    `weights` are the tokens of the new messages, if they were counted before.
    """
    history, leaves = load_history(session), load_leaves(session)
    new, operations = aligned.new, aligned.plan.operations
    if not new and not operations:
        return history, load_thread(session, active_tags)
    made = [
        *(_with_tokens(session, one) for one in operations),
        *_carried_redactions(session, history.log, aligned, session.message_count),
    ]
    numbered = enumerate(made, start=history.log.head + 1)
    log = history.log.extended(Entry(n, one, CLIENT) for n, one in numbered)
    if log.masks is not history.log.masks:
        log.masks.set_texts(history.masked)
    leaves = [*leaves, *_leaves(session, leaves, new, weights)]
    return history, replay(leaves, log, active_tags, objective=session.objective)


def _leaves(
    session: Session,
    leaves: Sequence[Leaf],
    new: Sequence[Message],
    weights: Sequence[int] | None = None,
) -> Iterator[Leaf]:
    group = leaves[-1].group if leaves else 0
    if weights is None:
        counts = tokens.count_messages([one.parts for one in new], session.encoding)
        weights = list(map(sum, counts))
    for message, weight in zip(new, weights, strict=True):
        group += starts_group(message.role, message.parts)
        yield Leaf(message.role, weight, group)


def _counted(session: Session, operation: Operation) -> Operation:
    """An operation with its images stored and its tokens counted."""
    if isinstance(operation, Amend):
        return replace(operation, edit=with_token_counts(session, operation.edit))
    if isinstance(operation, Revise | Insert):
        return with_token_counts(session, operation)
    return operation


def _with_tokens(session: Session, operation: Operation) -> Operation:
    """An operation with its tokens counted, and nothing stored."""
    if isinstance(operation, Amend):
        edit = _with_tokens(session, operation.edit)
        return replace(operation, edit=edit)  # type: ignore[arg-type]  # an edit's is one
    if not isinstance(operation, Revise | Insert):
        return operation
    counts = tokens.count_messages(
        [new.parts for new in operation.messages], session.encoding
    )
    made = tuple(
        replace(new, tokens=sum(count))
        for new, count in zip(operation.messages, counts, strict=True)
    )
    return replace(operation, messages=made)


def _carried_redactions(
    session: Session, log: Log, aligned: RequestAlignment, first: int
) -> Iterator[Redact]:
    """Redactions that mask text of messages that are gone in the messages that replace them.

    A client that edits or summarises a message repeats what it said. Redacted text may be in
    there, and must not be sent just because it is in another message. `first` is the index of the
    first new original.
    """
    if not log.masks:
        return
    sent = {key for unit in aligned.plan.units for key in unit.keys}
    gone = dict.fromkeys(key for key in log.masks.keys if key not in sent)
    if not gone:
        return
    texts = masked_texts(session, log.masks, gone)
    start = aligned.plan.appended.start
    stands = aligned.plan.made | {
        original_key(first + place - start): place for place in aligned.plan.appended
    }
    for key, place in stands.items():
        message = aligned.message(place)
        spans = tuple(find_text_spans(key, message.parts, texts))
        if spans:
            yield Redact(spans=spans)
