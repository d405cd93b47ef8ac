"""Prunes a session: plans from its thread, archives, and records the run as one bundle."""

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.transaction import atomic

from archive.domain.pruning.classes import Protected, Prunable
from archive.domain.pruning.fitting import fit_plan
from archive.domain.pruning.harm import NamesLeft
from archive.domain.pruning.needs import plan
from archive.domain.pruning.plan import PrunePlan
from archive.domain.pruning.reading import ThreadReading
from archive.entries.store import PackedEntry, keep, pack
from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.domain.rights import Right
from operations.context.inputs import counter_of
from operations.context.policies import policy_of, set_policy
from operations.domain.context.policy import (
    Pruning,
    encode_policy,
    encode_pruning,
    read_pruning,
)
from operations.domain.log.operation import Insert, Snip, named_keys
from operations.domain.thread.check import check
from operations.domain.thread.preparation import prepare
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, parse_made_key
from operations.ledger.services import BundleTrial, try_out_bundle
from operations.log.selectors import load_thread
from operations.log.transaction import LogTransaction, refuse_stale, write_apart
from operations.messages.reader import MessageReader
from threads.models import Session
from threads.search import meaning
from threads.search.relevance import relevance_of
from threads.store.selectors import get_session, has_session_right

TITLE = "Prune"
_MIN_SAVED_PART = 20
"""An automatic run must save more than one part in this many of what remains (a twentieth)."""
_PRODUCT = Caller(actor="system", name="Pruner")


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneQuery:
    """The options of a run. `rules` are changes to the rules of the session's policy."""

    rules: Mapping[str, Any] | None = None
    target_tokens: int | None = None
    protected: Protected | None = None
    protected_keys: Sequence[Key] = ()
    """Messages to keep as well; the key of a fold or an insert means all its messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """The result of a run; `transaction` is None if nothing was recorded."""

    session: Session
    plan: PrunePlan
    rules: Pruning
    transaction: LogTransaction | None = None
    trial: BundleTrial | None = None
    """What it would save and cost in a request, if that was asked for and there are steps."""
    is_proposal: bool = False
    """Whether what was recorded waits for review."""

    @property
    def bundle_id(self) -> uuid.UUID | None:
        """The bundle of the run's operations."""
        if self.transaction is None:
            return None
        rows = self.transaction.history.rows
        return rows[self.transaction.numbers[0]].bundle


def rules_of(session: Session, changes: Mapping[str, Any] | None = None) -> Pruning:
    """The rules of a session's policy, or else document 1's, with these changes.

    Raises Invalid; Conflict for a rule that needs search by meaning while that is off.
    """
    rules = policy_of(session).pruning or Pruning(automatic=False)
    if changes and changes.get("keep_relevant_above") is not None:
        meaning.require_on()
    return read_pruning(changes, rules) if changes else rules


def has_rules(session: Session) -> bool:
    """Whether the policy in force has rules."""
    return policy_of(session).pruning is not None


@atomic
def set_rules(
    caller: Caller, session_id: uuid.UUID, changes: Mapping[str, Any]
) -> Pruning:
    """Change the rules in the session's own policy and keep its other settings. Raises Invalid."""
    session = get_session(caller, session_id, Right.EDIT, lock=True)
    rules = rules_of(session, changes)
    settings = encode_policy(policy_of(session)) | {"pruning": encode_pruning(rules)}
    set_policy(caller, session_id, settings)
    return rules


def dry_run(
    caller: Caller, session_id: uuid.UUID, query: PruneQuery, *, tried: bool = True
) -> Pruned:
    """What a run would do and, with `tried`, what it would cost; nothing is recorded.

    Raises Invalid for invalid rules.
    """
    session = get_session(caller, session_id)
    rules = rules_of(session, query.rules)
    found = _planned(session, load_thread(session), rules, query)
    trial = _try_out(session, found) if tried and found.steps else None
    return Pruned(session=session, plan=found, rules=rules, trial=trial)


def _try_out(session: Session, planned: PrunePlan) -> BundleTrial:
    """What a run would save and cost in a request."""
    trial = try_out_bundle(session, planned.edits)
    less = planned.tokens_saved - trial.row.bill.saved
    return trial._replace(row=replace(trial.row, frame=less))


def prune(
    caller: Caller,
    session_id: uuid.UUID,
    query: PruneQuery,
    *,
    expected_head: int | None = None,
) -> Pruned:
    """Archive what the rules leave out, and leave it out with one bundle, in one transaction.

    If the caller may not edit, the bundle is a proposal. Raises Conflict if the log has grown
    past `expected_head`.
    """
    session = get_session(caller, session_id, Right.PROPOSE)
    rules = rules_of(session, query.rules)
    may_edit = has_session_right(caller, Right.EDIT, session)

    def planned(transaction: LogTransaction) -> PrunePlan:
        refuse_stale(transaction.session, expected_head)
        return _planned(transaction.session, transaction.thread, rules, query)

    recorded, found = _record(session, caller, planned, proposed=not may_edit)
    return Pruned(
        session=session,
        plan=found,
        rules=rules,
        transaction=recorded,
        is_proposal=not may_edit,
    )


def prune_automatically(session: Session, rules: Pruning) -> Pruned:
    """Prune a session because its policy says so; the log names the product as the actor.

    A run that would save next to nothing isn't recorded, as each run invalidates the provider's
    prompt cache.
    """
    query = PruneQuery()

    def planned(transaction: LogTransaction) -> PrunePlan:
        found = _planned(transaction.session, transaction.thread, rules, query)
        is_worth_it = found.tokens_saved * _MIN_SAVED_PART > found.tokens_after
        return found if is_worth_it else found.only((), "Not worth it")

    recorded, found = _record(session, _PRODUCT, planned)
    return Pruned(session=session, plan=found, rules=rules, transaction=recorded)


def _record(
    session: Session,
    caller: Caller,
    planned: Callable[[LogTransaction], PrunePlan],
    *,
    proposed: bool = False,
) -> tuple[LogTransaction | None, PrunePlan]:
    """Plan, compress and check without a lock; then lock to write the bundle and the archive."""
    packed: list[PackedEntry] = []

    def write(transaction: LogTransaction) -> tuple[LogTransaction | None, PrunePlan]:
        found = planned(transaction)
        stashed = list(found.stashed)
        reader = MessageReader(transaction.session, transaction.thread)
        words = reader.recorded({item.key for item in stashed})
        packed[:] = pack(transaction.session, stashed, words)
        if not found.steps:
            return None, found
        checked = check(transaction.thread, found.edits, proposed=proposed, bundle=True)
        transaction.add(
            *checked.edits,
            proposed=proposed,
            bundle=uuid.uuid4(),
            title=TITLE,
            tried=checked.thread,
        )
        return transaction, found

    return write_apart(session, caller, write, also=lambda: keep(session, packed))


def prunable(session: Session, thread: Thread, rules: Pruning) -> list[Prunable]:
    """The messages of a thread as the model sees them, for the pruner."""
    near = _relevance(session, rules)
    shown = list(thread.effective())
    said = MessageReader(session, thread).effective(one.key for one in shown)
    found: list[Prunable] = []
    for one in shown:
        text = said[one.key]
        is_leaf = _is_leaf(thread, one.key)
        found.append(
            Prunable(
                key=one.key,
                name=text.original.row.short_id if text.original else one.key,
                role=text.role,
                parts=text.parts,
                tokens=one.tokens,
                tags=thread.tags(one.key) if is_leaf else (),
                is_fixed=not is_leaf,
                relevance=near.get(one.key),
            )
        )
    return found


def _relevance(session: Session, rules: Pruning) -> Mapping[Key, float]:
    """Map of original to its similarity to the objective, as far as it is known.

    Empty unless the rules ask for it and search by meaning is on.
    """
    if rules.keep_relevant_above is None or not meaning.is_on():
        return {}
    return relevance_of(session)


def _is_leaf(thread: Thread, key: Key) -> bool:
    """Whether a message is an original or an inserted one, not a fold's replacement."""
    number, _ = parse_made_key(key) or (0, None)
    return not number or isinstance(thread.log.edits[number].edit, Insert)


def _planned(
    session: Session, thread: Thread, rules: Pruning, query: PruneQuery
) -> PrunePlan:
    messages = prunable(session, thread, rules)
    count = counter_of(session.encoding)
    read = ThreadReading(messages)
    protected = replace(
        query.protected or Protected(), keys=_leaves(thread, query.protected_keys)
    )
    found = plan(messages, rules, count, protected, read)
    if query.target_tokens is not None:
        near = {one.key: one.relevance or 0 for one in messages}
        names = NamesLeft(read, found)
        found = fit_plan(found, query.target_tokens, names, near)
    return found


def _leaves(thread: Thread, keys: Sequence[Key]) -> frozenset[Key]:
    """The messages that keys name. Raises Invalid with the place of each unknown key."""
    if not keys:
        return frozenset()
    try:
        (named,) = prepare(thread, [Snip(targets=tuple(keys))])
    except Invalid as error:
        for fault in (error, *error.errors):
            fault.at = ("protect", "keys", *fault.at[1:])
        raise
    return frozenset(named_keys(named))
