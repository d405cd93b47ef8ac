"""Rewriting the messages that a client is about to send.

Here for clients that have not edited their history: what they send says what the session
holds, in order, and what came after it. Where no operation applies and the policy asks for
nothing, all of it passes as it was given. Else the request is the one that the context shows
(`operations.context.pipeline`), with the client's own messages wherever nothing touches them.
"""

import uuid
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.responses import dump
from operations.context.pipeline import (
    Built,
    ContextInputs,
    build,
    inputs_of,
    last_question,
)
from operations.context.policies import consume_slice
from operations.context.presentation import present_issue, present_step
from operations.domain.context.compiling import as_given
from operations.domain.context.step import Step
from operations.domain.forwarding.alignment import Unit
from operations.domain.forwarding.passthrough import with_own
from operations.domain.forwarding.splice import splice
from operations.domain.log.operation import named_keys
from operations.domain.providers.request import Compiled, Issue, Severity
from operations.domain.thread.replay import replay
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key
from operations.domain.tree.leaf import Leaf
from operations.domain.tree.status import Status
from operations.log.selectors import (
    History,
    load_history,
    load_leaves,
    load_thread,
    overview,
)
from operations.messages.reader import MessageReader
from threads import tokens
from threads.domain.formats.anthropic import messages as anthropic
from threads.domain.message import Message, starts_group
from threads.models import Session
from threads.store import events
from threads.store.recording import record_messages
from threads.store.selectors import get_session

from . import alignment, answers
from .alignment import Inbound
from .answers import Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Outbound:
    """What is sent in place of a client's messages. Figures are tokens."""

    messages: Sequence[dict[str, Any]]
    system: Any
    before: int
    after: int
    issues: Sequence[Issue] = ()
    steps: Sequence[Step] = ()


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
    units, held, new = alignment.align_request(session, inbound)
    if inbound.append and inbound.model not in ("", session.model):
        session.model = inbound.model[:128]
        session.save(update_fields=["model"])
    if inbound.append and new:
        record_messages(session, new)
        session.overview = overview(load_thread(session))
        session.save(update_fields=["overview"])
        events.announce(session)
    history = load_history(session)
    thread = _replay(session, history, held, new, inbound.active_tags)
    reader = MessageReader(session, thread, held=held, inbound=new)
    inputs = inputs_of(
        session,
        reader,
        inbound.format,
        model=inbound.model,
        tools=inbound.tools,
        encoding=session.encoding,
        actor=caller.actor,
    )
    sent = _outbound(inputs, inbound, units)
    if inputs.preference and inbound.append:
        consume_slice(session, caller.actor)
    answer = Answer(
        splice=splice(sent.messages, inbound.messages, dump),
        report=dump(_report(session, history, thread, sent)),
    )
    if held + len(new) == session.message_count:
        # What makes it short to answer the same request, or one that goes on from it.
        alignment.keep(session, inbound, units)
        if inbound.raw is not None and not inputs.preference:
            kept = answers.CachedAnswer(
                answer=answer,
                policy=inputs.policy,
                layers=inputs.layers,
                question=last_question(reader),
            )
            answers.keep(session, inbound.raw, kept)
    if inbound.raw is None:
        return answer.written([dump(message) for message in inbound.messages])
    return answer.written(inbound.raw.messages)


def _outbound(
    inputs: ContextInputs, inbound: Inbound, units: Sequence[Unit]
) -> Outbound:
    """What to send. Raises Invalid (`refused`) where the provider would take no form of it."""
    if inputs.passes_through:
        total = inputs.thread.tokens.original
        return Outbound(
            messages=inbound.messages, system=inbound.system, before=total, after=total
        )
    built = build(inputs)
    _refuse(built.compiled)
    passed = with_own(
        built.compiled,
        built.assembly.layers,
        built.assembly.messages,
        inputs.thread,
        units,
        # The system prompt beside the messages is one of those that were aligned.
        [*(None for _ in anthropic.read_system(inbound.system)), *inbound.messages],
        inbound.system,
    )
    step = _without_given(built, inputs.provider, passed.given)
    return Outbound(
        messages=passed.messages,
        system=passed.system,
        before=built.assembly.total,
        after=step.after,
        issues=[
            issue
            for issue in built.compiled.issues
            if not (issue.is_own and passed.given.issuperset(issue.keys))
        ],
        steps=[*built.steps[:-1], step],
    )


def _without_given(built: Built, provider: str, given: AbstractSet[Key]) -> Step:
    """The compiler's step without what it would have done to messages that go out as given."""
    step = built.steps[-1]
    more = sum(
        as_given(recorded, provider, built.count) - written.tokens
        for recorded, written in zip(
            built.assembly.messages, built.messages, strict=True
        )
        if recorded.key in given
    )
    left_out = tuple(one for one in step.left_out if one.key not in given)
    lost = sum(omission.tokens for omission in left_out)
    after = step.after + more
    added = after - step.before + lost
    return replace(step, after=after, added=added, left_out=left_out)


def _refuse(compiled: Compiled) -> None:
    refused = [one for one in compiled.issues if one.severity is Severity.REFUSED]
    if refused:
        raise Invalid(
            refused[0].detail,
            at=["messages"],
            code="refused",
            errors=[
                Invalid(
                    one.detail,
                    at=["messages"],
                    code=one.rule,
                    facts={"keys": list(one.keys)},
                )
                for one in refused
            ],
        )


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
    session: Session, history: History, thread: Thread, sent: Outbound
) -> dict[str, Any]:
    """What was done to the messages, and the system prompt where there is one beside them."""
    system = {} if sent.system is None else {"system": sent.system}
    return {
        "applied": [
            str(history.rows[report.number].id)
            for report in thread.operations
            if report.status is Status.APPLIED
        ],
        # Those that are on and had nothing to act on among the inbound messages.
        "suspended": [
            {"id": str(history.rows[report.number].id), "reason": report.reason}
            for report in thread.operations
            if report.status is Status.VOID
            and named_keys(thread.log.edits[report.number].edit)
        ],
        "issues": [present_issue(issue) for issue in sent.issues],
        "steps": [present_step(step) for step in sent.steps],
        "tokens": {"before": sent.before, "after": sent.after},
        "session_id": str(session.pk),
        **system,
    }
