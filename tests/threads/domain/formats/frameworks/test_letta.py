"""Letta's agent files: an agent's messages, and what it is beside them."""

import json
from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.readings import events, messages, parts, read
from threads.domain.message import Role
from threads.domain.part import Opaque, Text, Thinking, ToolCall, ToolResult

CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}


def said(role: str, *content: Any, **members: Any) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": list(content), **members}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words, "signature": None}


def agent(*given: Any, **members: Any) -> dict[str, Any]:
    return {
        "name": "Mender",
        "memory_blocks": [{}],
        "tool_ids": ["t"],
        "llm_config": {"model": "m-1"},
        "messages": list(given),
        **members,
    }


def test_each_agent_is_a_conversation_with_its_name() -> None:
    thoughts = [
        {"type": "reasoning", "reasoning": "Hm.", "signature": "seal"},
        {"type": "redacted_reasoning", "data": "all"},
        {"type": "omitted_reasoning", "signature": "left"},
        {"type": "omitted_reasoning"},
        {
            "type": "summarized_reasoning",
            "summary": [{"text": "So."}],
            "encrypted_content": "x",
        },
        {"type": "tool_call", "id": "c0"},
    ]
    returned = {"tool_call_id": "c1", "status": "error", "func_response": "No lamp."}
    data = {
        "agents": [
            agent(
                said("system", text("You mend lamps.")),
                said("user", text("Look."), name="Ann"),
                said(
                    "assistant", text("\n\n"), *thoughts, tool_calls=[CALL], model="m-2"
                ),
                said(
                    "tool",
                    text("No lamp."),
                    tool_call_id="c1",
                    name="look",
                    tool_returns=[returned],
                ),
                said("assistant"),
            ),
            agent(said("user", text("Hi."))),
        ],
        "blocks": [{"value": "Ann likes lamps."}],
    }

    found, other = read(data)

    assert (found.format, found.title, found.model) == ("letta", "Mender", "m-1")
    assert parts(found) == [
        (Text("You mend lamps."),),
        (Text("Look."),),
        (
            Thinking("Hm.", "seal"),
            Thinking("", data="all"),
            Thinking("", data="left"),
            Thinking("So.", None, "x"),
            Opaque("tool_call", {"type": "tool_call", "id": "c0"}),
            ToolCall("c1", "look", {}),
        ),
        (ToolResult("c1", (Text("No lamp."),), "look", True),),
    ]
    assert (messages(found)[1].name, messages(found)[2].model) == ("Ann", "m-2")
    assert events(found)[:2] == ["blocks", "assistant"]
    assert parts(other) == [(Text("Hi."),)]


def test_several_returns_are_several_results() -> None:
    returns = [{"tool_call_id": f"c{n}", "func_response": f"R{n}"} for n in (1, 2)]
    data = agent(
        said("user", text("Look.")),
        said("tool", text("R1 R2"), tool_returns=returns),
        said("tool", text("R3"), tool_call_id="c3"),
    )

    [found] = read(data)

    assert parts(found)[1:] == [
        (ToolResult("c1", (Text("R1"),)), ToolResult("c2", (Text("R2"),))),
        (ToolResult("c3", (Text("R3"),)),),
    ]


def test_the_first_files_held_texts() -> None:
    data = {
        "agent_type": "memgpt_agent",
        "core_memory": [],
        "id": "a-1",
        "messages": [
            {"role": "user", "text": "Look."},
            {"role": "robot", "text": "No."},
        ],
    }

    [found] = read(data)

    assert (found.external_id, parts(found)) == ("a-1", [(Text("Look."),)])
    assert messages(found)[0].role is Role.USER
    assert len(found.warnings) == 1


def test_an_agent_that_says_nothing_is_refused() -> None:
    with pytest.raises(Invalid, match="a Letta agent file"):
        read({"agents": [agent()]})


def test_a_file_inside_a_string_says_what_to_do() -> None:
    data = json.dumps(json.dumps({"agents": [agent()]}, indent=2)).encode()

    with pytest.raises(Invalid, match="inside a JSON string"):
        read(data)
