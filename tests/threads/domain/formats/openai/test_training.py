"""Data sets to train on: read a conversation a row, written as one line."""

import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.strategies import messages as any_messages
from tests.threads.support.transcripts import lines
from threads.domain import formats
from threads.domain.formats.openai import training
from threads.domain.message import Message, Role
from threads.domain.part import Part, Text, Thinking, ToolCall, ToolResult
from threads.domain.transcript import Event, Transcript


def read(*rows: Any) -> list[Transcript]:
    return formats.read(io.BytesIO(lines(*rows)))


def said(transcript: Transcript) -> list[tuple[str, tuple[Part, ...]]]:
    return [(str(i.role), i.parts) for i in transcript.items if isinstance(i, Message)]


def written(*found: Message) -> str:
    return b"".join(formats.write("finetuning", found)).decode()


TALK = [
    Message(role=Role.DEVELOPER, parts=(Text("Be brief."),)),
    Message(role=Role.USER, parts=(Text("Look."),)),
    Message(
        role=Role.ASSISTANT,
        parts=(Thinking("Hm."), ToolCall("c1", "look", {"at": "plug"})),
    ),
    Message(role=Role.TOOL, parts=(ToolResult("c1", (Text("In."),), "look"),)),
    Message(role=Role.ASSISTANT, parts=(Text("It is in."),)),
]


def test_a_conversation_is_one_line_with_the_tools_that_were_called() -> None:
    line = written(*TALK)
    row = json.loads(line)

    assert line.count("\n") == 1
    assert [message["role"] for message in row["messages"]] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    assert "reasoning_content" not in row["messages"][2]
    assert [tool["function"]["name"] for tool in row["tools"]] == ["look"]
    assert "tools" not in json.loads(written(TALK[1]))


def test_definitions_of_tools_are_written_in_openai_s_form() -> None:
    schema = {"type": "object"}
    own = {"type": "function", "function": {"name": "press", "parameters": schema}}
    anthropic = {"name": "look", "description": "Looks.", "input_schema": schema}
    legacy = {"name": "call", "parameters": schema}
    tools = [own, anthropic, legacy, 7]
    line = b"".join(formats.write("finetuning", TALK, formats.Heading(tools=tools)))

    assert json.loads(line)["tools"] == [
        own,
        {
            "type": "function",
            "function": {"name": "look", "description": "Looks.", "parameters": schema},
        },
        {"type": "function", "function": {"name": "call", "parameters": schema}},
    ]


def test_lines_of_a_data_set_are_conversations_of_their_own() -> None:
    row = {
        "messages": [{"role": "user", "content": "Hi."}],
        "functions": [],
        "tools": [],
    }
    first, second = read(json.loads(written(*TALK)), row)

    assert (first.format, first.title, second.title) == ("openai", "Look.", "Hi.")
    assert [i.type for i in second.items if isinstance(i, Event)] == [
        "functions",
        "tools",
    ]
    assert said(first)[1:] == [(str(m.role), m.parts[-1:]) for m in TALK[1:]]


@settings(deadline=None)
@given(st.lists(any_messages, min_size=1, max_size=5))
def test_any_messages_make_one_line_of_json(found: list[Message]) -> None:
    line = written(*found)

    assert line.count("\n") == 1
    assert json.loads(line)["messages"]


def test_prompts_and_completions_are_conversations() -> None:
    hi = {"role": "user", "content": "Hi."}
    hello = {"role": "assistant", "content": "Hello."}
    first, second, third = read(
        {"prompt": "Look: ", "completion": " In.", "id": 1},
        {"prompt": [hi], "completion": [hello, 7]},
        {"completion": "", "prompt": 7},
    )

    assert (first.format, first.title) == ("completions", "Look:")
    assert said(first) == [("user", (Text("Look: "),)), ("assistant", (Text(" In."),))]
    assert [i.type for i in first.items if isinstance(i, Event)] == ["id"]
    assert [role for role, _ in said(second)] == ["user", "assistant"]
    assert said(third) == [("assistant", ())]
    assert len(third.warnings) == 1
    with pytest.raises(Invalid, match="a data set of prompts and completions"):
        training.LIST_FORMAT.read(io.BytesIO(b'{"prompt": 7}'), "")
