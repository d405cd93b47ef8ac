"""A valid call of every tool, and its expected answer. A tool without a case fails the suite."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from contextstudio.accounts.domain.rights import Right

COUNT = 24
"""The length of the session that tools are called on: user and assistant alternate."""
SAID = [{"role": "user", "content": "said"}]
EDIT = {"success", "head", "operation_id", "key", "type", "resolved", "status"}
SWITCH = {"success", "head", "warnings", "changed"}
ON_SESSION = "session"


@dataclass(frozen=True)
class Case:
    """A call: its arguments apart from `on`, and the members of its answer.

    `needs` names what must exist before (a key of `PREPARED`); `on` is what it acts on, the session
    or what was prepared. `right` is the right it requires.
    """

    arguments: Mapping[str, Any] = field(default_factory=dict)
    answers: frozenset[str] | set[str] = frozenset()
    on: str = ON_SESSION
    needs: tuple[str, ...] = ()
    right: Right = Right.READ
    check: Callable[[Any], bool] = bool


def edit(**arguments: Any) -> Case:
    return Case(arguments, EDIT, right=Right.PROPOSE)


def read(*answers: str, **arguments: Any) -> Case:
    return Case(arguments, set(answers))


def switch(on: str, right: Right = Right.EDIT, **arguments: Any) -> Case:
    return Case(arguments, SWITCH, on=on, needs=(on,), right=right)


PREPARED: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "operation": [("digest_messages", {"range": [14, 15], "summary": "Sum"})],
    "proposal": [("snip_messages", {"range": [16, 17], "propose": True})],
    "undone": [
        ("tag_messages", {"range": [18, 18], "tags": ["gone"]}),
        ("undo_operation", {}),
    ],
    "memo": [("save_memo", {"content": "Use UTC.", "tags": ["gotcha"]})],
}
"""Preparatory tool calls; the tool under test acts on the id that the first returns."""

GROUP = {"group_id", "first", "last", "title", "tokens", "status"}
CASES: dict[str, Case] = {
    "list_sessions": Case({}, {"sessions"}, on=""),
    "create_session": Case(
        {"title": "New", "messages": SAID},
        {"id", "message_count"},
        on="",
        right=Right.EDIT,
    ),
    "append_messages": Case(
        {"messages": SAID}, {"id", "message_count"}, right=Right.EDIT
    ),
    "tag_messages": edit(start_idx=1, end_idx=2, tags=["a", "b"]),
    "digest_messages": edit(start_idx=1, end_idx=2, summary="Sum"),
    "revise_messages": edit(start_idx=1, end_idx=2, replacements=SAID),
    "snip_messages": edit(start_idx=1, end_idx=2),
    "resequence_messages": edit(new_order=[4, 2]),
    "insert_messages": edit(after_idx=5, messages=SAID),
    "list_operations": read("operations", active_only=True),
    "revert_operation": switch("operation"),
    "toggle_operation": switch("operation", active=False),
    "toggle_actor": Case(
        {"active": False}, SWITCH, needs=("operation",), right=Right.EDIT
    ),
    "accept_operation": switch("proposal", Right.REVIEW),
    "reject_operation": switch("proposal", Right.REVIEW),
    "amend_operation": switch("operation", summary="Better"),
    "undo_operation": Case({}, SWITCH, needs=("operation",), right=Right.PROPOSE),
    "redo_operation": Case({}, SWITCH, needs=("undone",), right=Right.PROPOSE),
    "set_active_tags": Case({"tags": ["brief"]}, {"active_tags"}, right=Right.EDIT),
    "manage_snapshots": Case(
        {"action": "take", "snapshot": "then"},
        {"name", "head", "message_count"},
        right=Right.PROPOSE,
    ),
    "list_groups": Case(
        {"n": 2}, check=lambda groups: [set(one) for one in groups] == [GROUP] * 2
    ),
    "show_group": read(*GROUP, "messages", group_id=2),
    "drop_group": Case({"group_id": 2}, {*EDIT, "group_id"}, right=Right.PROPOSE),
    "remove_group": Case(
        {"group_id": 4}, {"success", "head", "purged"}, right=Right.ADMIN
    ),
    "undo": Case({}, {*EDIT, "group_id", "state"}, right=Right.PROPOSE),
    "search_session_history": read("query", "matches", "total_matches", query="SSAGE"),
    "get_message_range": read("start", "end", "messages", start=3, end=5),
    "summarize_message_range": Case(
        {"start_idx": 6, "end_idx": 8},
        {"summary", "operation_id", "status", "made_by"},
        right=Right.PROPOSE,
    ),
    "request_context_slice": read(
        "success", "message_range", start_message_index=3, end_message_index=5
    ),
    "show_context": read("request", "layers", "issues", "tokens"),
    "set_context_window": Case({"n": 3}, {"window", "tokens"}, right=Right.EDIT),
    "manage_scratchpad": Case(
        {"action": "append", "content": "- plan"},
        {"content", "version"},
        right=Right.EDIT,
    ),
    "rebuild_state": read("state", "previous", "difference", "status", "made_by"),
    "query_db": read(
        "columns", "rows", "truncated", sql="SELECT count(*) FROM messages"
    ),
    "save_memo": Case(
        {"content": "Moments are stored in UTC.", "tags": ["arch-decision"]},
        {"memo_id"},
        right=Right.EDIT,
    ),
    "update_memo": Case(
        {"tags": ["time"]}, {"memo_id"}, on="memo", needs=("memo",), right=Right.EDIT
    ),
    "delete_memo": Case({}, {"success"}, on="memo", needs=("memo",), right=Right.EDIT),
    "retrieve_memos": Case({"tags": ["gotcha"]}, {"memos"}, needs=("memo",)),
    "recall": Case({"ref_id": "m3"}, {"ref_id", "content", "truncated", "token_count"}),
    "context": Case(
        {"action": "discard", "targets": [["m3"]]},
        {"success", "replacements", "errors"},
        right=Right.PROPOSE,
    ),
    "hindsight": Case({}, {"references", "lost", "operations"}),
    "prune": Case({}, {"items", "tokens_saved"}, right=Right.PROPOSE),
}
