"""Pruning a session: planned from its thread, archived, then recorded as one bundle."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.db.transaction import atomic

from archive.domain.pruning.classes import Protected, Prunable
from archive.domain.pruning.plan import Plan, plan
from archive.entries.store import archive
from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Conflict
from contextstudio.accounts.domain.rights import Right
from operations.context.pipeline import counter_of
from operations.context.policies import policy_of, set_policy
from operations.domain.context.policy import (
    Pruning,
    encode_policy,
    encode_pruning,
    read_pruning,
)
from operations.domain.log.operation import Insert
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, made_place
from operations.edits.services import record_bundle
from operations.log.selectors import load_thread
from operations.log.transaction import LogTransaction, refuse_stale
from operations.messages.reader import MessageReader
from threads.models import Session
from threads.store.selectors import get_session

TITLE = "Prune"
_TRIES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneQuery:
    """What a run is asked for. `rules` are changes to those of the session's policy."""

    rules: Mapping[str, Any] | None = None
    target_tokens: int | None = None
    protected: Protected | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """What a run comes to; `transaction` is None where nothing was recorded."""

    session: Session
    plan: Plan
    rules: Pruning
    transaction: LogTransaction | None = None

    @property
    def bundle_id(self) -> uuid.UUID | None:
        """The bundle of the run's operations."""
        if self.transaction is None:
            return None
        rows = self.transaction.history.rows
        return rows[self.transaction.numbers[0]].bundle


def rules_of(session: Session, changes: Mapping[str, Any] | None = None) -> Pruning:
    """The rules of a session's policy, else document 1's, with these changes. Raises Invalid."""
    rules = policy_of(session).pruning or Pruning(automatic=False)
    return read_pruning(changes, rules) if changes else rules


def has_rules(session: Session) -> bool:
    """Whether the policy in force has rules."""
    return policy_of(session).pruning is not None


@atomic
def set_rules(
    caller: Caller, session_id: uuid.UUID, changes: Mapping[str, Any]
) -> Pruning:
    """Change the rules in the session's own policy; what it says else stays. Raises Invalid."""
    session = get_session(caller, session_id, Right.EDIT, lock=True)
    rules = rules_of(session, changes)
    settings = encode_policy(policy_of(session)) | {"pruning": encode_pruning(rules)}
    set_policy(caller, session_id, settings)
    return rules


def dry_run(caller: Caller, session_id: uuid.UUID, query: PruneQuery) -> Pruned:
    """What a run would do; nothing is recorded. Raises Invalid for rules that can't be."""
    session = get_session(caller, session_id)
    rules = rules_of(session, query.rules)
    return Pruned(session=session, plan=_planned(session, rules, query), rules=rules)


def prune(
    caller: Caller,
    session_id: uuid.UUID,
    query: PruneQuery,
    *,
    expected_head: int | None = None,
) -> Pruned:
    """Archive what the rules leave out, then leave it out with one bundle.

    Planning and compressing hold no lock: if the log grew meanwhile, it is done again.
    """
    for attempt in range(_TRIES):
        session = get_session(caller, session_id, Right.PROPOSE)
        refuse_stale(session, expected_head)
        rules = rules_of(session, query.rules)
        planned = _planned(session, rules, query)
        pruned = Pruned(session=session, plan=planned, rules=rules)
        if not planned.steps:
            return pruned
        _archive(session, planned)
        try:
            recorded = record_bundle(
                caller,
                session_id,
                planned.edits,
                title=TITLE,
                expected_head=session.head,
            )
        except Conflict as conflict:
            if conflict.code != "stale_head" or attempt == _TRIES - 1:
                raise
            continue
        return replace(pruned, transaction=recorded)
    raise AssertionError  # the last attempt returns or raises


def prunable(session: Session, thread: Thread) -> list[Prunable]:
    """The messages of a thread as the model sees them, for the pruner."""
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
            )
        )
    return found


def _is_leaf(thread: Thread, key: Key) -> bool:
    """Whether a message is an original or inserted, not what a fold shows."""
    number, _ = made_place(key) or (0, None)
    return not number or isinstance(thread.log.edits[number].edit, Insert)


def _planned(session: Session, rules: Pruning, query: PruneQuery) -> Plan:
    messages = prunable(session, load_thread(session))
    return plan(messages, rules, counter_of(session.encoding), query.protected)


def _archive(session: Session, planned: Plan) -> None:
    stashed = list(planned.stashed)
    reader = MessageReader(session, load_thread(session))
    archive(session, stashed, reader.recorded({item.key for item in stashed}))
