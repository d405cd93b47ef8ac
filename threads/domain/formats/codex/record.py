"""The lines of Codex's rollouts: envelopes, or bare items behind a header."""

import re
from typing import Any, NamedTuple

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.io import fields, json_text
from threads.domain.part import JSON

CONTEXT = re.compile(
    r"\s*(# AGENTS\.md instructions|<(user_instructions|environment_context|instructions"
    r"|permissions instructions|skills?|user_shell_command|turn_aborted|hook_prompt"
    r"|subagent_notification|codex_internal_context|goal_context|recommended_plugins"
    r"|collaboration_mode|multi_agent_mode|personality_spec|model_switch|context_window"
    r"|external_|skills_instructions|realtime_conversation|rollout_budget|token_budget))",
    re.IGNORECASE,
)
"""How texts begin that Codex itself put in as a user's or developer's message."""
DELIVERED = "delivered_assistant_message"


class Record(NamedTuple):
    """A line of a rollout: what it is, what it holds, and the type of that.

    Since September 2025 it is an envelope; before, a bare item behind one header line.
    """

    kind: str
    payload: dict[str, Any]
    type: str


def name_of(kind: str, type_: str) -> str:
    """What a record is called as an event."""
    if kind == "response_item" or kind == "event_msg":
        return f"{kind}/{type_ or 'message'}"
    return kind


def opened(value: JSON) -> tuple[str, dict[str, Any], str]:
    """The members of the line's record, which take half the time without it.

    A bare item reads as if it had an envelope.
    """
    record = value if type(value) is dict else {}
    payload = record.get("payload")
    if type(payload) is dict:
        kind, type_ = record.get("type"), payload.get("type")
        if "metadata" in record and fields.mapping(record, "metadata").get(DELIVERED):
            kind = "retained_context"  # it repeats what a tool has delivered
        return (
            kind if kind and type(kind) is str else "record",
            payload,
            type_ if type(type_) is str else "",
        )
    if "record_type" in record:
        return fields.text(record, "record_type") or "record", record, ""
    if "type" in record or "role" in record:
        return "response_item", record, fields.text(record, "type")
    return "session_meta" if "id" in record else "record", record, ""


def is_typed(payload: dict[str, Any]) -> bool:
    """Whether a user's message was typed: nothing in it is what Codex puts in."""
    return not any(CONTEXT.match(text) for text in texts_of(payload))


def parse_record(data: bytes) -> Record | None:
    """The record of a line; None where it can't be read."""
    try:
        return Record(*opened(json_text.parse(data)))
    except Invalid:
        return None


def texts_of(payload: dict[str, Any]) -> list[str]:
    """The texts of a message's content."""
    content = payload.get("content")
    if isinstance(content, str):
        return [content]
    return [fields.text(block, "text") for block in fields.items(payload, "content")]
