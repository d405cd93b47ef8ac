"""Hindsight for a session: what was left out and needed later, by its log or an alternative."""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from archive.domain.hindsight.losses import Hindsight, Loss, hindsight, once_each
from archive.domain.hindsight.policies import STEPS, passages_under_policy
from archive.domain.pruning.needs import plan
from archive.pruning.services import prunable, rules_of
from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import NotFound
from operations.context.comparison import query_of_originals
from operations.context.inputs import basis_of, counter_of, strategy_of
from operations.context.services import ContextQuery, assemble_session
from operations.domain.context.assembly import outgoing_messages
from operations.domain.context.policy import REPLAY, Policy, Pruning, read_policy
from operations.domain.ledger.saving import saved_in_thread
from operations.domain.log.operation import Edit, Fold, spans_of
from operations.domain.thread.check import check
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, entry_key, entry_number
from operations.domain.tree.status import Status
from operations.edits.arguments import EditArguments
from operations.edits.services import resolved_in_turn
from operations.log.cache import Cache
from operations.log.selectors import load_history, load_thread
from operations.messages.reader import MessageReader
from threads.models import Session
from threads.store.selectors import get_session

from .reading import passages_of

_kept: Cache[Hindsight] = Cache(
    lambda found: 320 * sum(map(len, found.losses.values()))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationCost:
    """What one operation, or one step of a policy, saved and lost."""

    key: str
    saved: int
    """Tokens."""
    losses: Sequence[Loss]


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleCost:
    """What the operations of a bundle lost."""

    id: str
    keys: Sequence[str]
    """The keys of its operations that leave something out."""
    losses: Sequence[Loss]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionHindsight:
    """What was needed in a session after it was left out. Counts are of references."""

    session: Session
    thread: Thread
    references: int
    lost: int
    operations: Sequence[OperationCost]
    before: int
    """The tokens before anything was left out."""
    after: int

    @property
    def bundles(self) -> Sequence["BundleCost"]:
        """What the operations of each bundle lost, each reference once."""
        together: dict[str, list[OperationCost]] = defaultdict(list)
        for cost in self.operations:
            number = entry_number(cost.key)  # steps of a policy have no number
            bundle = self.thread.log.at(number).bundle if number else None
            if bundle is not None:
                together[bundle].append(cost)
        return [
            BundleCost(
                id=bundle,
                keys=[cost.key for cost in costs],
                losses=once_each(loss for cost in costs for loss in cost.losses),
            )
            for bundle, costs in together.items()
        ]

    @property
    def saved_share(self) -> float:
        """The share of the tokens that is saved; at most 1, negative if there are more."""
        return (self.before - self.after) / self.before if self.before else 0.0

    @property
    def lost_share(self) -> float:
        """The share of the later references that is lost, from 0 to 1."""
        return self.lost / self.references if self.references else 0.0


def of_log(
    caller: Caller, session_id: uuid.UUID, operation: Key = ""
) -> SessionHindsight:
    """What the operations of a session's log cost; with `operation`, only that one.

    Raises NotFound for an unknown operation.
    """
    session = get_session(caller, session_id)
    thread = load_thread(session)
    numbers = _leaving_out(thread)
    basis = basis_of(session, thread)
    found = _kept.get(basis)
    if found is None:
        found = _run_hindsight(session, thread, numbers)
        _kept.keep(basis, found)
    if not operation:
        return _of_thread(session, thread, found, numbers)
    number = _number_of(session, operation)
    one = [number] if number in numbers else []
    looked = _of_thread(session, thread, found, one)
    return replace(looked, lost=sum(len(cost.losses) for cost in looked.operations))


def of_operations(
    caller: Caller,
    session_id: uuid.UUID,
    edits: Sequence[EditArguments | Edit],
) -> SessionHindsight:
    """What these operations would cost instead of the log's; nothing is recorded.

    Raises Invalid and Conflict as recording them as a bundle would.
    """
    session = get_session(caller, session_id)
    return _of_edits(session, _originals(session), edits)


def of_rules(
    caller: Caller, session_id: uuid.UUID, rules: Mapping[str, Any]
) -> SessionHindsight:
    """What pruning by these rules would cost instead of the log's operations.

    A message counts as still in sight while it was among the last ones that the rules keep.
    """
    session = get_session(caller, session_id)
    return under_rules(session, rules_of(session, rules))


def under_rules(session: Session, rules: Pruning) -> SessionHindsight:
    """`of_rules` for a session that the caller is known to be allowed to read."""
    thread = _originals(session)
    planned = plan(
        prunable(session, thread, rules), rules, counter_of(session.encoding)
    )
    return _of_edits(session, thread, planned.edits, rules.keep_last_n)


def of_policy(
    caller: Caller, session_id: uuid.UUID, settings: Mapping[str, Any]
) -> SessionHindsight:
    """What a policy would cost instead of the log's operations. Raises Invalid."""
    session = get_session(caller, session_id)
    return under_policy(session, read_policy(settings))


def under_policy(session: Session, policy: Policy) -> SessionHindsight:
    """`of_policy` for a session that the caller is known to be allowed to read."""
    query = query_of_originals(session, ContextQuery(policy=REPLAY))
    before = assemble_session(session, query)
    after = assemble_session(
        session,
        query_of_originals(session, ContextQuery(policy=policy)),
    )
    thread = before.thread
    words = MessageReader(session, thread).effective(
        shown.key for shown in thread.effective()
    )
    messages = outgoing_messages(thread, words, counter_of(session.encoding))
    found = hindsight(
        passages_under_policy(messages, policy, strategy_of(before.provider))
    )
    saved = {
        step.name: sum(omission.tokens for omission in step.left_out)
        for step in after.steps
        if step.name in STEPS
    }
    return SessionHindsight(
        session=session,
        thread=thread,
        references=found.references,
        lost=found.lost,
        operations=[
            OperationCost(key=name, saved=tokens, losses=found.losses.get(name, ()))
            for name, tokens in saved.items()
        ],
        before=before.sent,
        after=after.sent,
    )


def _originals(session: Session) -> Thread:
    """The thread without any operations except redactions, which stay on."""
    thread = query_of_originals(session, ContextQuery()).thread
    assert thread is not None  # noqa: S101 - for the type checker
    return thread


def _of_edits(
    session: Session,
    thread: Thread,
    edits: Sequence[EditArguments | Edit],
    kept: int = 0,
) -> SessionHindsight:
    made = resolved_in_turn(session, thread, edits)
    tried = check(thread, made, bundle=True).thread
    numbers = _leaving_out(tried)
    found = _run_hindsight(session, tried, numbers, kept)
    return _of_thread(session, tried, found, numbers)


def _number_of(session: Session, operation: str) -> int:
    """The number of an operation given by key or id. Raises NotFound."""
    history = load_history(session)
    number = entry_number(operation) or next(
        (number for number, row in history.rows.items() if str(row.id) == operation), 0
    )
    if number not in history.log.edits:
        raise NotFound(f"There is no operation {operation[:40]}.", at=["operation"])
    return number


def _leaving_out(thread: Thread) -> list[int]:
    """The operations that apply and leave something out."""
    edits = thread.log.edits
    return [
        number
        for number, recorded in edits.items()
        if thread.status(number) is Status.APPLIED and _leaves_out(recorded.edit)
    ]


def _leaves_out(edit: Edit) -> bool:
    """Whether an edit takes away text that hindsight may look for; a redaction doesn't count."""
    return isinstance(edit, Fold) or (edit.kind == "replace" and bool(spans_of(edit)))


def _run_hindsight(
    session: Session, thread: Thread, numbers: Iterable[int], kept: int = 0
) -> Hindsight:
    """Run hindsight; it reads the session only if something was left out."""
    return hindsight(passages_of(session, thread, kept) if numbers else ())


def _of_thread(
    session: Session, thread: Thread, found: Hindsight, numbers: Sequence[int]
) -> SessionHindsight:
    return SessionHindsight(
        session=session,
        thread=thread,
        references=found.references,
        lost=found.lost,
        operations=[
            OperationCost(
                key=entry_key(number),
                saved=saved_in_thread(thread, number),
                losses=found.losses.get(entry_key(number), ()),
            )
            for number in numbers
        ],
        before=thread.tokens.original,
        after=thread.tokens.effective,
    )
