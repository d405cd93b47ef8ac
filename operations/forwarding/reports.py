"""Reports what `apply` did: the outcome of operations, and what each step left out.

A window over a long thread leaves out thousands of messages, the same ones every turn and a few
more. So the JSON for those of the last request is cached, and only the rest is written.
"""

import uuid
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from contextstudio.accounts.responses import dump
from operations.context.presentation import (
    present_injected,
    present_issue,
    present_step,
)
from operations.domain.context.step import Omission, Step
from operations.domain.log.entry import CLIENT
from operations.domain.log.log import Log
from operations.domain.log.operation import named_keys
from operations.domain.providers.request import Layer
from operations.domain.thread.playback import ThreadVersion
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, entry_key
from operations.domain.tree.status import EditOutcome, Status
from operations.log.cache import Cache
from operations.log.selectors import History
from threads.models import Session

from .outbound import Outbound


class OperationOutcomes(NamedTuple):
    """The outcome of all operations but the client's in a request."""

    lineage: object
    """The `Thread.lineage` of the thread that it was computed for."""
    version: ThreadVersion
    """The version of that thread."""
    effects: Mapping[int, tuple[str, str | None]]
    """Maps the number of each operation that applied, or had nothing to act on, to its id and the
    reason why it had nothing."""
    applied: Sequence[str]
    """The ids of the operations that applied."""
    suspended: Sequence[Mapping[str, str]]
    """The operations that are on but had nothing to act on among the client's messages, each with
    the reason."""
    reasons: Mapping[str, list[Key]]
    """The keys of the suspended operations, by reason."""


class _Written(NamedTuple):
    """What a step left out of the last request, as JSON without brackets."""

    left_out: tuple[Omission, ...]
    text: bytes


_NOTHING = b"]}"
"""The end of the JSON of a step that left nothing out."""
_outcomes: Cache[OperationOutcomes] = Cache(
    lambda outcomes: 300 * len(outcomes.effects)
)
_written: Cache[Mapping[str, _Written]] = Cache(
    lambda steps: 300 * sum(len(one.left_out) for one in steps.values())
)


def operation_outcomes(
    session: Session, history: History, thread: Thread
) -> OperationOutcomes:
    """The outcome of operations; cached for a thread that only grew."""
    known = _outcomes.get(session.pk)
    if known is not None and known.lineage is thread.lineage:
        return known
    effects = _effects(history, thread, known)
    suspended: list[Mapping[str, str]] = []
    reasons: dict[str, list[Key]] = defaultdict(list)
    for number, (id_, reason) in effects.items():
        if reason is not None:
            suspended.append({"id": id_, "reason": reason})
            reasons[reason].append(entry_key(number))
    found = OperationOutcomes(
        thread.lineage,
        thread.playback.version,
        effects,
        [id_ for id_, reason in effects.values() if reason is None],
        suspended,
        dict(reasons),
    )
    _outcomes.keep(session.pk, found)
    return found


def _effects(
    history: History, thread: Thread, known: OperationOutcomes | None
) -> dict[int, tuple[str, str | None]]:
    """`OperationOutcomes.effects`, mostly reused from an earlier version of the thread."""
    log, outcomes, rows = thread.log, thread.outcomes, history.rows
    effects = dict(known.effects) if known else {}
    for number in thread.revisited_since(known.version) if known else outcomes:
        effects.pop(number, None)
        outcome = outcomes[number]
        if log.edits[number].entry.actor == CLIENT:
            continue
        if outcome.status is Status.APPLIED:
            effects[number] = str(rows[number].id), None
        elif _is_without_effect(number, outcome, log):
            effects[number] = str(rows[number].id), outcome.reason
    return dict(sorted(effects.items()))


def _is_without_effect(number: int, outcome: EditOutcome, log: Log) -> bool:
    """Whether an edit is on but had nothing to act on among the client's messages."""
    return outcome.status is Status.SUSPENDED or (
        outcome.status is Status.VOID and bool(named_keys(log.edits[number].edit))
    )


def written_report(
    session: Session,
    outcomes: OperationOutcomes,
    sent: Outbound,
    layers: Sequence[Layer],
    *,
    is_thinking_off: bool,
) -> bytes:
    """The report as JSON: what was done to the messages, and the system prompt if separate."""
    system = {} if sent.system is None else {"system": sent.system}
    head = dump(
        {
            "applied": outcomes.applied,
            "suspended": outcomes.suspended,
            "issues": [present_issue(issue) for issue in sent.issues],
            "thinking_off": is_thinking_off,
        }
    )
    tail = dump(
        {
            "injected": present_injected(layers),
            "tokens": {"before": sent.before, "after": sent.after},
            "session_id": str(session.pk),
            "message_count": session.message_count,
            **system,
        }
    )
    steps = b",".join(_written_steps(session.pk, sent.steps))
    return head[:-1] + b',"steps":[' + steps + b"]," + tail[1:]


def _written_steps(session_id: uuid.UUID, steps: Sequence[Step]) -> Iterator[bytes]:
    """The steps as JSON; text for what the last request also left out is reused."""
    known, now = _written.get(session_id) or {}, dict[str, _Written]()
    for step in steps:
        last = known.get(step.name, _Written((), b""))
        count = len(last.left_out)
        if step.left_out[:count] != last.left_out:
            count, last = 0, _Written((), b"")
        more = present_step(replace(step, left_out=step.left_out[count:]))["left_out"]
        texts = [last.text, dump(more)[1:-1]]
        text = b",".join(filter(None, texts))
        now[step.name] = _Written(step.left_out, text)
        bare = dump(present_step(replace(step, left_out=())))
        yield bare.removesuffix(_NOTHING) + text + b"]}"
    _written.keep(session_id, now)
