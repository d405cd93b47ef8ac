"""The drawer: what waits for a decision, the operations, what was taken back.

The contracts stand in `templates/operations/{drawer,panel,decision,operation_row}.html`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from contextstudio.templatetags.look import messages
from operations.domain.log.history import redoable, staged, undoable
from operations.domain.log.operation import named_keys
from operations.domain.thread.check import expanded
from operations.domain.tree.key import Key, entry_key
from operations.domain.tree.status import Status
from operations.editor.rows.look import Look, derived
from operations.editor.rows.operation import Op, members_of
from operations.messages.names import Named, named, ranges_of, word_of
from threads.rendering.hidden import visible

from .notice import done_by

MOST_LISTED = 100
"""Operations of each group that the drawer shows, until all are asked for."""
MOST_WIDENED = 3
"""Conflicts for which a wider range is sought: each costs a replay."""

_GONE = (Status.REVERTED, Status.REJECTED)
_WAITING = (Status.PROPOSED, Status.CONFLICT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision(Op):
    """An operation that waits for somebody: see `decision.html`."""

    why: str
    blockers: Sequence[Named]
    widen: str
    may_decide: bool


def drawer_of(look: Look, *, actor: str, show_all: bool = False) -> dict[str, Any]:
    """The operations of a thread, newest first; `actor` is whose undo it offers."""
    newest = look.operations.all()[::-1]
    log = look.thread.log
    most = len(newest) if show_all else MOST_LISTED
    rest = [op for op in newest if op.status not in (*_WAITING, *_GONE)]
    gone = [op for op in newest if op.status in _GONE]
    own = {entry_key(number) for number in staged(log, actor)}
    waiting = [op for op in newest if op.status in _WAITING and op.key not in own]
    groups = (waiting, rest, gone)
    return {
        "undo": done_by(look, undoable(log, actor)),
        "redo": done_by(look, redoable(log, actor)),
        "active_tags": sorted(log.active_tags),
        "may_activate": look.may_edit,
        "staged": [  # in the order of the log
            op for op in reversed(newest) if op.key in own
        ],
        "may_commit": look.may_decide,
        "waiting": _decisions(look, waiting[:most]),
        "operations": rest[:most],
        "gone": gone[:most],
        "older": sum(max(0, len(group) - most) for group in groups),
        "operations_count": len(newest) - len(gone),
        "entries_count": log.head,
        "log_href": reverse("operations:log", args=[look.session.pk]),
        "all_href": reverse("operations:panel", args=[look.session.pk]) + "?all=1",
    }


def _decisions(look: Look, waiting: Sequence[Op]) -> list[Decision]:
    """What waits; for the newest conflicts also the range that would work."""
    conflicts = [op.key for op in waiting if op.status == Status.CONFLICT]

    def wider() -> dict[Key, str]:
        found = {key: expanded(look.thread, key) for key in conflicts[:MOST_WIDENED]}
        return {
            key: ranges_of(look.thread, keys) or messages(len(keys))
            for key, edit in found.items()
            if edit is not None and (keys := named_keys(edit))
        }

    ranges = derived(look.thread, "wider", wider)
    return [_decision(look, op, ranges.get(op.key, "")) for op in waiting]


def _decision(look: Look, op: Op, widen: str) -> Decision:
    report = look.thread.report(int(op.key[1:]))
    proposed = op.status == Status.PROPOSED
    why = op.title
    if not proposed:
        why = f"{op.reason} It is set aside; nothing is lost."
    elif not why:
        recorded = look.thread.log.edit(op.key)
        tags = recorded.edit.condition.tags if recorded else ()
        under = f" while {visible(', '.join(tags))} is active" if tags else ""
        why = f"proposes to {word_of(op.word)} {op.range or op.where}{under}."
    return Decision(
        **members_of(op),
        why=why,
        blockers=named(look.thread, report.operations),
        widen=widen,
        may_decide=look.may_decide if proposed else look.may_edit,
    )
