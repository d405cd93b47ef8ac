"""The drawer: what waits for a decision, the operations, and what was taken back.

The templates `operations/{drawer,panel,decision,operation_row}.html` document the contract.
"""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any

from django.urls import reverse

from contextstudio.accounts.domain.caller import Caller, is_agent
from contextstudio.templatetags.look import messages
from operations.context.services import MAX_UNASKED
from operations.domain.log.authors import switch_of
from operations.domain.log.history import (
    is_staged,
    redo,
    redoable,
    staged,
    undo,
    undoable,
)
from operations.domain.log.log import Log
from operations.domain.log.operation import Redo, Undo, messages_of, named_keys
from operations.domain.thread.check import expanded
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key
from operations.domain.tree.status import WITHDRAWN, Status
from operations.editor.rows.look import Look, derived
from operations.editor.rows.operation import Op, condition_words, members_of
from operations.edits.own_entries import may_turn_back
from operations.forwarding.sent.turns import SentTurns, load_turns
from operations.messages.names import Named, named, ranges_of
from threads.rendering.hidden import visible

from .bundles import MAX_MEMBERS, Bundle, group, with_members, with_rest
from .notice import describe_entries

MAX_LISTED = 30
"""Most operations per group that the drawer shows until more are requested, as each edit renders
them anew."""
MAX_REQUESTED = 2_000
"""Most operations per group that it ever shows; the log page lists all of them."""
MAX_WIDENED = 3
"""Most conflicts for which a wider range is computed, as each costs a replay."""

_WAITING = frozenset({Status.PROPOSED, Status.CONFLICT})
_REST = frozenset(Status) - WITHDRAWN - _WAITING


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """An agent whose operations can all be switched at once.

    `active` is the state to switch to, `count` the number of operations that would change.
    """

    actor: str
    name: str
    on: int
    off: int
    active: bool
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision(Op):
    """An operation that waits for a decision: see `decision.html`."""

    why: str
    """Its purpose, or why it is set aside; empty if not stated."""
    under: str
    """When it would apply, if it has a condition."""
    gives: Sequence[str]
    """The tags that it would give."""
    blockers: Sequence[Named]
    widen: str
    own: bool
    """Whether the viewer recorded it."""
    may_decide: bool
    may_amend: bool
    """Whether the viewer may change its text before deciding."""


def drawer_of(look: Look, caller: Caller, *, show_more: bool = False) -> dict[str, Any]:
    """The drawer's template context, operations newest first."""
    thread, log, ops = look.thread, look.thread.log, look.operations
    most = MAX_REQUESTED if show_more else MAX_LISTED
    own = staged(log, caller.actor)
    drafts, waiting = _waiting(look)
    others = [number for number in drafts if number not in own]
    gone, rest = _count(thread, WITHDRAWN), _count(thread, _REST)
    turns = load_turns(look.session)
    members = most if show_more else MAX_MEMBERS
    asked = group(look, waiting, most, members)
    listed = group(look, thread.newest_edits(_REST), most, members)
    taken_back = group(look, thread.newest_edits(WITHDRAWN), most, members)
    listed_in_all = asked.edits + listed.edits + taken_back.edits
    return {
        "undo": _offered(look, caller, undo, undoable),
        "redo": _offered(look, caller, redo, redoable),
        "active_tags": sorted(log.active_tags),
        "may_activate": look.may_edit,
        "staged": ops.of(own),
        "may_commit": look.may_decide,
        "staged_by_others": ops.of(others[:most]),
        "others_count": len(others),
        "agents": _agents(look),
        "waiting": _decisions(look, asked.rows),
        "waiting_count": len(waiting),
        "proposed_count": _decided_together(look, waiting, len(asked.rows)),
        "operations": _reaching(look, with_rest(thread, listed.rows), turns),
        "gone": _reaching(look, taken_back.rows, turns),
        "gone_title": _gone_title(thread),
        "gone_count": gone,
        "older": len(waiting) + len(others[most:]) + rest + gone - listed_in_all,
        "has_messages": bool(look.session.message_count),
        "shows_more": show_more,
        "awaits_costs": look.session.message_count <= MAX_UNASKED,
        "operations_count": len(log.edits) - gone,
        "entries_count": log.head,
        "log_href": reverse("operations:log", args=[look.session.pk]),
        "more_href": reverse("operations:panel", args=[look.session.pk]) + "?more=1",
    }


def _offered(
    look: Look,
    caller: Caller,
    control_of: Callable[[Log, str], Undo | Redo],
    entries_of: Callable[[Log, str], tuple[int, ...]],
) -> str:
    """What undo or redo would do for the caller; empty for nothing, or without the rights."""
    log = look.thread.log
    if not may_turn_back(caller, look.session, log, control_of):
        return ""
    return describe_entries(look, entries_of(log, caller.actor))


def _waiting(look: Look) -> tuple[list[int], list[int]]:
    """The staged operations, and those that wait for a decision; newest first."""
    thread = look.thread
    drafts: list[int] = []
    waiting: list[int] = []
    for number in reversed(thread.marked_edits):
        if thread.status(number) in _WAITING:
            is_draft = is_staged(thread.log.edits[number])
            (drafts if is_draft else waiting).append(number)
    return drafts, waiting


def _decided_together(look: Look, waiting: Sequence[int], rows: int) -> int:
    """How many proposals can be decided on at once; 0 for a single row, or without the right."""
    if rows < 2 or not look.may_decide:
        return 0
    log = look.thread.log
    found = [
        number for number in waiting if look.thread.status(number) is Status.PROPOSED
    ]
    bundles = {log.at(number).bundle or str(number) for number in found}
    return len(found) if len(bundles) > 1 else 0


def _count(thread: Thread, statuses: AbstractSet[Status]) -> int:
    return sum(thread.status_counts[status] for status in statuses)


def _gone_title(thread: Thread) -> str:
    named = ((Status.REVERTED, "reverted"), (Status.REJECTED, "rejected"))
    words = [word for status, word in named if thread.status_counts[status]]
    return " and ".join(words).capitalize()


def _reaching(
    look: Look, rows: Sequence[Op | Bundle], turns: SentTurns
) -> list[Op | Bundle]:
    """The rows, with the first request that was sent with each operation in its current form."""
    log = look.thread.log

    def reaching(op: Op) -> Op:
        words = turns.words(log.last_change(int(op.key[1:])))
        return replace(op, reaches=words) if words else op

    return [with_members(row, reaching) for row in rows]


def _agents(look: Look) -> list[Agent]:
    """The agents that recorded operations, with what switching all of theirs would do."""
    log = look.thread.log
    names = look.operations.history.names()
    return [
        Agent(
            actor=actor,
            name=visible(names[actor]),
            on=standing.on,
            off=standing.off,
            active=not standing.on,
            count=standing.on or len(switch_of(log, actor, active=True).operations),
        )
        for actor, standing in log.counts_by_actor.items()
        if is_agent(actor) and (standing.on or standing.off)
    ]


def decision_of(look: Look, key: Key) -> Decision | None:
    """A waiting operation as the drawer shows it; None if it doesn't wait."""
    if look.thread.status(int(key[1:])) not in _WAITING:
        return None
    return _decision(look, look.operations[key], _wider(look, [key]).get(key, ""))


def _decisions(look: Look, rows: Sequence[Op | Bundle]) -> list[Op | Bundle]:
    """The waiting operations; for the newest conflicts also the range that would work."""
    wider = _wider(look, [row.key for row in rows if isinstance(row, Op)])

    def deciding(op: Op) -> Op:
        return _decision(look, op, wider.get(op.key, ""))

    return [with_members(row, deciding) for row in rows]


def _wider(look: Look, keys: Sequence[Key]) -> dict[Key, str]:
    """Map of key to the range that would work, for the newest conflicts."""
    conflicts = [
        key for key in keys if look.thread.status(int(key[1:])) is Status.CONFLICT
    ]
    newest = tuple(conflicts[:MAX_WIDENED])

    def wider() -> dict[Key, str]:
        found = {key: expanded(look.thread, key) for key in newest}
        return {
            key: ranges_of(look.thread, keys) or messages(len(keys))
            for key, edit in found.items()
            if edit is not None and (keys := named_keys(edit))
        }

    return derived(look.thread, ("wider", newest), wider)


def _decision(look: Look, op: Op, widen: str) -> Decision:
    report = look.thread.report(int(op.key[1:]))
    proposed = op.status == Status.PROPOSED
    recorded = look.thread.log.edit(op.key)
    title = visible(op.title)
    why = f"{title}." if title and title[-1] not in ".!?…" else title
    if not proposed:
        why = f"{op.reason} It is set aside; nothing is lost."
    return Decision(
        **members_of(op),
        why=why,
        under=condition_words(recorded.edit.condition) if proposed and recorded else "",
        gives=op.tags if op.word == "tag" else (),
        blockers=named(look.thread, report.operations),
        widen=widen,
        own=recorded is not None and recorded.entry.actor == look.actor,
        may_decide=look.may_decide if proposed else look.may_edit,
        may_amend=proposed
        and look.may_edit
        and recorded is not None
        and len(messages_of(recorded.edit)) == 1,
    )
