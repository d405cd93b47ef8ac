"""Anthropic's messages, from a request written after its specification."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from threads.domain import formats
from threads.domain.formats.anthropic import messages as anthropic
from threads.domain.formats.openai import messages as openai
from threads.domain.message import Message, Role, Usage
from threads.domain.part import (
    File,
    Image,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

REQUEST = Path(__file__).parents[3] / "files" / "anthropic.json"


def messages() -> list[Message]:
    with REQUEST.open("rb") as file:
        [transcript] = formats.read(file)
        assert (transcript.format, transcript.strategy) == ("anthropic", "anthropic")
        assert (transcript.model, transcript.warnings) == ("claude-test", [])
        return [item for item in transcript.items if isinstance(item, Message)]


@pytest.mark.parametrize(
    ("message", "member"),
    [
        ({"role": "user"}, "content"),
        ({"role": "assistant", "content": None, "tool_calls": [{}]}, "tool_calls"),
        ({"role": "assistant", "content": "I look.", "toolInvocations": [{}]}, None),
    ],
)
def test_a_message_that_was_not_understood_is_refused_at_its_member(
    message: dict[str, Any], member: str | None
) -> None:
    with pytest.raises(Invalid) as refused:
        anthropic.read_messages([message])

    assert refused.value.at == ("messages", 0, member or "toolInvocations")


def test_a_request_is_read_with_every_block() -> None:
    system, asked, called, answered, told = messages()

    assert (system.role, system.parts) == (
        Role.SYSTEM,
        (Text("You mend small things."),),
    )
    assert asked.parts == (
        Text("What is wrong with the lamp?"),
        Image("image/png", data=b"PNG"),
        File("text/plain", "Manual", data=b"Turn it on."),
    )
    assert called.parts == (
        Thinking("I should look first.", "c2lnbmVk"),
        Thinking("", data="c2VhbGVk"),
        Text("Let me look."),
        ToolCall("toolu_1", "look", {"at": "plug"}),
        ToolCall("toolu_2", "look", {"at": "bulb"}),
    )
    picture = Image("image/*", url="https://example.org/a.png")
    assert answered.parts == (
        ToolResult("toolu_1", (Text("It is plugged in."),)),
        ToolResult("toolu_2", (Text("Too dark."), picture), is_error=True),
        Text("Go on, please."),
    )
    assert [part.kind for part in told.parts] == ["opaque", "opaque", "text"]


def test_a_request_written_again_says_the_same() -> None:
    heading = formats.Heading(model="claude-test")
    raw = b"".join(formats.write("anthropic", messages(), heading))
    said = json.loads(raw)
    given = json.loads(REQUEST.read_bytes())

    assert said["system"] == "You mend small things."
    assert said["messages"] == given["messages"]


def test_what_a_client_posts_is_read_as_a_file_is() -> None:
    given = json.loads(REQUEST.read_bytes())
    posted = anthropic.read_messages(given["messages"], system=given["system"])

    assert [message.parts for message in posted] == [m.parts for m in messages()]


def test_either_door_reads_the_other_s_blocks() -> None:
    given = json.loads(REQUEST.read_bytes())["messages"]

    assert [m.parts for m in openai.read_messages(given)] == [
        m.parts for m in anthropic.read_messages(given)
    ]


def test_a_response_brings_its_usage() -> None:
    response = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-test",
        "content": [{"type": "text", "text": "Hello."}],
        "usage": {
            "input_tokens": 1,
            "output_tokens": 2,
            "cache_read_input_tokens": 4,
            "cache_creation_input_tokens": 8,
        },
    }
    log = {
        "request": {"messages": [{"role": "user", "content": "Hi"}]},
        "response": response,
    }
    [transcript] = formats.read(io.BytesIO(json.dumps(log).encode()), "anthropic")
    _, reply = transcript.items

    assert isinstance(reply, Message)
    assert reply.usage == Usage(input_tokens=13, output_tokens=2, cached_tokens=4)
    assert reply.source_id == "msg_1"


def test_an_error_in_place_of_a_response_is_an_event() -> None:
    log = {
        "messages": [{"role": "user", "content": "Hi"}],
        "response": {"type": "error"},
    }
    [transcript] = formats.read(io.BytesIO(json.dumps(log).encode()), "anthropic")

    assert [type(item).__name__ for item in transcript.items] == ["Message", "Event"]


@pytest.mark.parametrize(
    "source",
    [
        {"type": "base64", "media_type": "image/png", "data": "not base64!"},
        {"type": "base64", "media_type": "image/png"},
        {"type": "file", "file_id": "file_1"},
        {"type": "url"},
        None,
    ],
)
@pytest.mark.parametrize("kind", ["image", "document"])
def test_a_picture_that_cannot_be_shown_is_kept_whole(kind: str, source: Any) -> None:
    block = {"type": kind, "source": source}
    [message] = anthropic.read_messages([{"role": "user", "content": [block]}])

    assert message.parts == (Opaque(kind, block),)


def test_documents_may_be_bytes_or_an_address() -> None:
    [message] = anthropic.read_messages(
        [
            {
                "role": "user",
                "content": [
                    {"type": "document", "source": {"type": "base64", "data": "UERG"}},
                    {
                        "type": "document",
                        "source": {"type": "url", "url": "https://e.org/a"},
                    },
                ],
            }
        ]
    )

    assert message.parts == (
        File("application/pdf", data=b"PDF"),
        File("application/pdf", url="https://e.org/a"),
    )


@pytest.mark.parametrize(
    ("block", "place"),
    [
        ({"type": "thinking"}, "thinking"),
        ({"type": "redacted_thinking"}, "data"),
        ({"type": "tool_use", "id": "1"}, "name"),
        ({"type": "tool_result"}, "tool_use_id"),
    ],
)
def test_a_malformed_block_is_refused_with_its_place(block: Any, place: str) -> None:
    with pytest.raises(Invalid) as refusal:
        anthropic.read_messages([{"role": "user", "content": [block]}])

    assert refusal.value.at == ("messages", 0, "content", 0, place)


def test_a_role_of_another_s_is_refused() -> None:
    with pytest.raises(Invalid) as refusal:
        anthropic.read_messages([{"role": "tool", "content": "x"}])

    assert refusal.value.at == ("messages", 0, "role")
