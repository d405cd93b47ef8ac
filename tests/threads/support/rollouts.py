"""Builders of lines in Codex's rollouts, for tests."""

from typing import Any

from .transcripts import lines

SESSION = "0199a000-0000-7000-8000-000000000001"
AT = "2026-03-01T10:00:00.000Z"
Line = dict[str, Any]


def record(kind: str, payload: Any, at: str = AT) -> Line:
    """A line with its envelope."""
    return {"timestamp": at, "type": kind, "payload": payload}


def meta(**members: Any) -> Line:
    """The first line; `base` are its base instructions."""
    base = members.pop("base", None)
    payload = {"id": SESSION, "cwd": "/lamp", "source": "cli"} | members
    if base is not None:
        payload["base_instructions"] = {"text": base}
    return record("session_meta", payload)


def item(type_: str, **members: Any) -> Line:
    """An item of the conversation."""
    return record("response_item", {"type": type_} | members)


def event(type_: str, **members: Any) -> Line:
    """An event as shown on the screen."""
    return record("event_msg", {"type": type_} | members)


def said(role: str, *texts: str) -> Line:
    """A message item."""
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": text} for text in texts]
    return item("message", role=role, content=content)


def thought(summary: str = "", sealed: str | None = None) -> Line:
    """A reasoning item."""
    pieces = [{"type": "summary_text", "text": summary}] if summary else []
    return item("reasoning", summary=pieces, encrypted_content=sealed)


def call(id_: str, arguments: str = "{}", name: str = "shell") -> Line:
    """A call of a function."""
    return item("function_call", call_id=id_, name=name, arguments=arguments)


def output(id_: str, words: Any = "ok") -> Line:
    """The output of a function."""
    return item("function_call_output", call_id=id_, output=words)


def tokens(total: int, output_tokens: int = 1) -> Line:
    """The tokens of an answer, and of the session."""
    last = {"input_tokens": 9, "cached_input_tokens": 4, "output_tokens": output_tokens}
    info = {"total_token_usage": {"total_tokens": total}, "last_token_usage": last}
    return event("token_count", info=info)


def turn(model: str = "gpt-test") -> Line:
    """The context of a turn."""
    return record("turn_context", {"model": model, "cwd": "/lamp"})


def rollout() -> list[Line]:
    """A small session: a question, an answer of four items with two calls, a last word."""
    return [
        meta(base="Be a lamp."),
        event("task_started", turn_id="t"),
        said("developer", "<permissions instructions>\nRead only."),
        said("user", "<environment_context>\n<cwd>/lamp</cwd>"),
        turn(),
        said("user", "Why is it dark?"),
        event("user_message", message="Why is it dark?"),
        thought("Perhaps the plug.", sealed="c2VhbA=="),
        event("agent_message", message="Looking."),
        said("assistant", "Looking."),
        call("c1", '{"cmd": "ls"}'),
        item("custom_tool_call", call_id="c2", name="apply_patch", input="*** Begin"),
        output("c1"),
        item("custom_tool_call_output", call_id="c2", output="Done."),
        tokens(100, output_tokens=7),
        tokens(100, output_tokens=7),
        thought(),
        event("agent_message", message="Plugged in."),
        said("assistant", "Plugged in."),
        tokens(200, output_tokens=3),
        event("task_complete", turn_id="t"),
    ]


def as_file(*found: Line) -> bytes:
    """Encode the lines as a file."""
    return lines(*found)
