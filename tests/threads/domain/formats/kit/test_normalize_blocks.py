"""Blocks in files that are of neither published form: Bedrock's, and those of data sets."""

from typing import Any

import pytest

from tests.threads.support.readings import messages, read, told
from tests.threads.support.transcripts import lines
from threads.domain.part import (
    Image,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

CALL = '{"name": "count", "arguments": {"of": "lakes"}}'


@pytest.mark.parametrize(
    ("block", "part"),
    [
        ({"text": "Nine."}, Text("Nine.")),
        ({"type": "text", "value": "Nine."}, Text("Nine.")),
        (
            {"type": "text", "text": {"value": "Nine.", "annotations": []}},
            Text("Nine."),
        ),
        ({"type": "reasoning", "value": "Hm."}, Thinking("Hm.")),
        ({"type": "thinking", "value": "Hm."}, Thinking("Hm.")),
        ({"type": "think", "think": "Hm.", "encrypted": None}, Thinking("Hm.")),
        (
            {"type": "think", "think": None},
            Opaque("think", {"type": "think", "think": None}),
        ),
        ({"type": "image_url", "value": "a.png"}, Image("image/*", url="a.png")),
        ({"type": "tool_call", "value": CALL}, ToolCall("", "count", {"of": "lakes"})),
        (
            {"type": "tool_call", "value": "{"},
            Opaque("tool_call", {"type": "tool_call", "value": "{"}),
        ),
        (
            {"type": "tool_call", "value": "3"},
            Opaque("tool_call", {"type": "tool_call", "value": "3"}),
        ),
        ({"type": "mood", "value": 3}, Opaque("mood", {"type": "mood", "value": 3})),
        (
            {"toolUse": {"toolUseId": "c", "name": "count", "input": {"of": "lakes"}}},
            ToolCall("c", "count", {"of": "lakes"}),
        ),
        (
            {
                "toolResult": {
                    "toolUseId": "c",
                    "status": "error",
                    "content": [{"text": "No."}, {"json": {"a": 1}}],
                }
            },
            ToolResult("c", (Text("No."), Text('{"a": 1}')), is_error=True),
        ),
        (
            {"image": {"format": "png", "source": {"bytes": "UE5H"}}},
            Image("image/png", data=b"PNG"),
        ),
        (
            {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "s"}}},
            Thinking("Hm.", "s"),
        ),
        (
            {"video": {"format": "mp4"}, "x": 1},
            Opaque("video", {"type": "video", "video": {"format": "mp4"}, "x": 1}),
        ),
    ],
)
def test_a_block_is_read_by_what_it_holds(block: dict[str, Any], part: Part) -> None:
    said = {"role": "assistant", "content": [block, "and so on"]}
    [found] = read(lines(said, said))

    assert messages(found)[0].parts == (part, Text("and so on"))


def test_a_log_of_bedrock_s_converse_is_a_request_and_its_reply() -> None:
    asked = {"role": "user", "content": [{"text": "How many lakes?"}]}
    answer = {"role": "assistant", "content": [{"text": "Nine."}]}
    log = {
        "body": {"system": [{"text": "Count."}], "messages": [asked]},
        "response": {"output": {"message": answer}},
    }
    [found] = read(log)

    assert told(found)[:3] == [
        "system: Count.",
        "user: How many lakes?",
        "assistant: Nine.",
    ]


def test_a_reply_of_anthropic_s_is_read_in_any_log() -> None:
    reply = {"type": "message", "role": "assistant", "content": [{"text": "Nine."}]}
    log = {"messages": [{"role": "user", "content": "Lakes?"}], "response": reply}
    [found] = read(log)

    assert told(found) == ["user: Lakes?", "assistant: Nine."]
