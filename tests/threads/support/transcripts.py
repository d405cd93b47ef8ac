"""Builders of lines in Claude Code's format, for tests."""

import json
from typing import Any

SESSION = "5d1f2f6e-0000-4000-8000-000000000001"


def record(type_: str, id_: str, parent: str | None, **members: Any) -> dict[str, Any]:
    """A record of the graph."""
    return {
        "type": type_,
        "uuid": id_,
        "parentUuid": parent,
        "isSidechain": False,
        "sessionId": SESSION,
        "timestamp": "2026-03-01T10:00:00.000Z",
        **members,
    }


def user(id_: str, parent: str | None, content: Any, **members: Any) -> dict[str, Any]:
    """A user line."""
    message = {"role": "user", "content": content}
    return record("user", id_, parent, message=message, **members)


def answer(
    id_: str,
    parent: str | None,
    block: Any,
    *,
    turn: str = "",
    output: int = 1,
    **members: Any,
) -> dict[str, Any]:
    """An assistant line: one block of the message `turn`."""
    message = {
        "role": "assistant",
        "id": turn or f"msg_{id_}",
        "model": "claude-test",
        "content": [block],
        "usage": {
            "input_tokens": 5,
            "output_tokens": output,
            "cache_read_input_tokens": 2,
        },
    }
    return record("assistant", id_, parent, message=message, **members)


def text(words: str) -> dict[str, Any]:
    """A block of text."""
    return {"type": "text", "text": words}


def call(id_: str) -> dict[str, Any]:
    """A block that calls a tool."""
    return {
        "type": "tool_use",
        "id": id_,
        "name": "Bash",
        "input": {"command": f"run {id_}"},
    }


def spawn(call_id: str, prompt: str, description: str = "") -> dict[str, Any]:
    """A block that starts a sub-agent."""
    asked = {"prompt": prompt, "description": description}
    return {"type": "tool_use", "id": call_id, "name": "Task", "input": asked}


def result(call_id: str) -> list[dict[str, Any]]:
    """The content of a line that answers a call."""
    return [
        {"type": "tool_result", "tool_use_id": call_id, "content": f"ran {call_id}"}
    ]


def claude_lines() -> list[dict[str, Any]]:
    """A small session: a question, two parallel calls with their results, an answer."""
    return [
        {"type": "mode", "mode": "normal", "sessionId": SESSION},
        user("u1", None, "Please look."),
        answer("a1", "u1", call("c1"), turn="msg_1", output=3),
        answer("a2", "a1", call("c2"), turn="msg_1", output=9),
        record("progress", "p1", "a1", data={"type": "bash_progress"}),
        user("r1", "a1", result("c1")),
        user("r2", "a2", result("c2")),
        answer("a3", "r2", text("All is well."), turn="msg_2", output=4),
    ]


def lines(*records: Any) -> bytes:
    """Records as JSON Lines."""
    return b"".join(json.dumps(found).encode() + b"\n" for found in records)
