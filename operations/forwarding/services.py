"""Rewriting the messages that a client is about to send (DESIGN 4, Hook).

Here for clients that have not edited their history: what they send says what the session
holds, in order, and what came after it. What no operation touches passes as it was given.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.responses import dump
from operations.context.presentation import present_issue, present_step
from operations.context.slices import consume_slice
from operations.domain.forwarding.alignment import Unit
from operations.domain.forwarding.rewriting import Request
from operations.domain.forwarding.splice import splice
from operations.domain.log.edit import named_keys
from operations.domain.thread.replay import replay
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, original_index
from operations.domain.tree.leaf import Leaf
from operations.domain.tree.status import Status
from operations.log.overview import overview
from operations.log.selectors import History, load_history, load_leaves, load_thread
from operations.messages.reader import load_spoken
from threads import tokens
from threads.domain.formats import REQUESTS
from threads.domain.formats.anthropic import messages as anthropic
from threads.domain.formats.format import Heading
from threads.domain.group import starts_group
from threads.domain.message import Message, Role
from threads.models import Session
from threads.store import blobs, events
from threads.store.recording import record_messages
from threads.store.selectors import get_session

from . import alignment as aligning
from . import answer_cache as answers
from .alignment import Inbound, lay
from .answer_cache import Kept
from .compile import Outbound, Sent, Wanted, send
from .wire import Answer


@transaction.atomic
def apply(caller: Caller, session_id: uuid.UUID, inbound: Inbound) -> bytes:
    """The messages to send instead, and what was done to them, as JSON.

    What is untouched goes out as the bytes that it came in. New messages are appended to the
    session first, where `append` says so. Raises Conflict (`not_aligned`) at the first message
    that is not what the session holds, and Invalid (`refused`) where the provider would take
    no form of what is left.
    """
    right = Right.EDIT if inbound.append else Right.READ
    session = get_session(caller, session_id, right, lock=inbound.append)
    units, held, new = lay(session, inbound)
    if inbound.append and new:
        record_messages(session, new)
        session.overview = overview(load_thread(session))
        session.save(update_fields=["overview"])
        events.announce(session)
    history = load_history(session)
    thread = _replay(session, history, held, new, inbound.active_tags)
    request = Request(
        form=REQUESTS[inbound.format],
        heading=Heading(blob=blobs.read),
        messages=[*([None] * _prompts(inbound)), *inbound.messages],
        system=inbound.system,
    )
    sent = send(
        Outbound(
            session=session,
            thread=thread,
            format=inbound.format,
            model=inbound.model or session.model,
            tools=inbound.tools,
            request=request,
            units=units,
            words=_Words(session, thread, held, new),
        )
    )
    consume_slice(session)
    report = _report(session, history, thread, sent)
    answer = Answer(
        splice=splice(sent.messages, inbound.messages, dump), report=dump(report)
    )
    if held + len(new) == session.message_count:
        _keep(session, inbound, units, answer, sent.wanted)
    if inbound.raw is None:
        return answer.written([dump(message) for message in inbound.messages])
    return answer.written(inbound.raw.messages)


def _prompts(inbound: Inbound) -> int:
    """How many messages of a request are its `system`: one, or none."""
    return len([*anthropic.read_system(inbound.system)])


def _keep(
    session: Session,
    inbound: Inbound,
    units: Sequence[Unit],
    answer: Answer,
    wanted: Wanted,
) -> None:
    """Keep what makes it short to answer the same request, or one that goes on from it."""
    aligning.keep(session, inbound, units)
    if inbound.raw is not None and not wanted.preference:
        answers.keep(session, inbound.raw, _kept(answer, wanted))


def _kept(answer: Answer, wanted: Wanted) -> Kept:
    return Kept(
        answer=answer,
        policy=wanted.policy,
        layers=wanted.layers,
        question=wanted.question,
    )


@dataclass(frozen=True, slots=True)
class _Words:
    """What messages read in the thread: those of the session, and those that are new in it."""

    session: Session
    thread: Thread
    held: int
    """How many originals are the session's; those behind them are new."""
    new: Sequence[Message]

    def __call__(self, keys: Sequence[Key]) -> Mapping[Key, Message]:
        indexes = {key: original_index(key) for key in keys}
        new = {
            key: self.new[index - self.held]
            for key, index in indexes.items()
            if index is not None and index >= self.held
        }
        known = [key for key in keys if key not in new]
        words = load_spoken(self.session, self.thread, known)
        return new | {
            key: Message(role=Role(self.thread.role(key)), parts=read.parts)
            for key, read in words.items()
        }


def _replay(
    session: Session,
    history: History,
    held: int,
    new: Sequence[Message],
    active_tags: frozenset[str] | None,
) -> Thread:
    """The log over the originals that came in, and over what is new behind them."""
    leaves = load_leaves(session)[: held + len(new)]
    if len(leaves) == session.message_count == held + len(new):
        return load_thread(session, active_tags)
    rest = new[len(leaves) - held :]
    group = leaves[-1].group if leaves else 0
    counts = tokens.count_messages(
        [message.parts for message in rest], session.encoding
    )
    for message, count in zip(rest, counts, strict=True):
        group += starts_group(message.role, message.parts)
        leaves.append(Leaf(message.role, sum(count), group))
    return replay(leaves, history.log, active_tags, objective=session.objective)


def _report(
    session: Session, history: History, thread: Thread, sent: Sent
) -> dict[str, Any]:
    """What was done to the messages, and the system prompt where there is one beside them."""
    system = {} if sent.system is None else {"system": sent.system}
    return {
        "applied": [
            str(history.rows[report.number].id)
            for report in thread.operations
            if report.status is Status.APPLIED
        ],
        "suspended": _suspended(history, thread),
        "issues": [present_issue(issue) for issue in sent.issues],
        "steps": [present_step(step) for step in sent.steps],
        "tokens": {"before": sent.before, "after": sent.after},
        "session_id": str(session.pk),
        **system,
    }


def _suspended(history: History, thread: Thread) -> list[dict[str, str]]:
    """Operations that are on and had nothing to act on among the inbound messages."""
    return [
        {"id": str(history.rows[report.number].id), "reason": report.reason}
        for report in thread.operations
        if report.status is Status.VOID
        and named_keys(thread.log.edits[report.number].edit)
    ]
