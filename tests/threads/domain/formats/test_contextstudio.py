"""Our own form loses nothing, and refuses what it didn't write."""

import io
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.strategies import messages
from threads.domain import formats
from threads.domain.body import encode_part
from threads.domain.formats import contextstudio
from threads.domain.message import Message, Role
from threads.domain.part import File, Image, Text, ToolCall, ToolResult


def exported(found: list[Message], **options: Any) -> bytes:
    return b"".join(formats.write("contextstudio", found, formats.Heading(**options)))


@settings(deadline=None)
@given(st.lists(messages, min_size=1, max_size=5))
def test_import_of_an_export_gives_the_same_messages(given_: list[Message]) -> None:
    [transcript] = formats.read(io.BytesIO(exported(given_)))

    found = [item for item in transcript.items if isinstance(item, Message)]
    assert [replace(message, records=()) for message in found] == given_
    assert transcript.warnings == []


def test_the_heading_comes_back() -> None:
    file = exported(
        [Message(role=Role.USER, parts=(Text("Hi"),))],
        title="Séance" * 50,
        model="m-1",
        external_id="s-1",
        strategy="anthropic",
    )
    [found] = formats.read(io.BytesIO(file))

    assert (found.title, found.model) == ("Séance" * 50, "m-1")
    assert (found.external_id, found.strategy) == ("s-1", "anthropic")


def test_keys_keep_their_order() -> None:
    arguments = {"z": 1, "a": {"y": 2, "b": 3}}
    parts = (ToolCall("c", "f", arguments),)
    [found] = formats.read(
        io.BytesIO(exported([Message(role=Role.ASSISTANT, parts=parts)]))
    )
    [message] = found.items

    assert isinstance(message, Message)
    assert json.dumps(message.parts[0].arguments) == json.dumps(arguments)  # type: ignore[union-attr]


def test_stored_images_are_exported_with_their_bytes() -> None:
    picture = Image("image/png", sha256="ab" * 32)
    parts = (picture, ToolResult("c", (picture,)))
    file = exported([Message(role=Role.USER, parts=parts)], blob=lambda _sha256: b"PNG")
    [message] = next(iter(formats.read(io.BytesIO(file)))).items

    assert isinstance(message, Message)
    whole = Image("image/png", data=b"PNG")
    assert message.parts == (whole, ToolResult("c", (whole,)))


TEXT = {"type": "text", "text": "x"}


@pytest.mark.parametrize(
    ("message", "place"),
    [
        ([], ()),
        ({"role": "robot"}, ("role",)),
        ({"role": "user"}, ("parts",)),
        ({"role": "user", "parts": [3]}, ("parts", 0)),
        ({"role": "user", "parts": [TEXT, {"type": "song"}]}, ("parts", 1, "type")),
        ({"role": "user", "parts": [{"type": "text"}]}, ("parts", 0, "text")),
        (
            {"role": "user", "parts": [{"type": "thinking", "text": "", "data": 1}]},
            ("parts", 0, "data"),
        ),
        (
            {"role": "user", "parts": [{"type": "image", "media_type": "image/png"}]},
            ("parts", 0, "data"),
        ),
        (
            {"role": "tool", "parts": [{"type": "tool_result", "call_id": "c"}]},
            ("parts", 0, "content"),
        ),
        (
            {
                "role": "tool",
                "parts": [
                    {
                        "type": "tool_result",
                        "call_id": "c",
                        "content": [{"type": "thinking", "text": ""}],
                    }
                ],
            },
            ("parts", 0, "content"),
        ),
    ],
)
def test_a_malformed_message_is_refused_with_its_place(
    message: Any, place: tuple[str | int, ...]
) -> None:
    with pytest.raises(Invalid) as refusal:
        contextstudio.read_message(message)

    assert refusal.value.at == place


def test_an_export_of_no_messages_is_refused() -> None:
    with pytest.raises(Invalid, match="no messages"):
        formats.read(io.BytesIO(exported([])))


def test_arguments_keep_their_text_where_it_says_no_more_than_they() -> None:
    call = ToolCall("c", "look", {"b": 1, "a": 2}, '{"b": 1,  "a": 2}')
    [transcript] = formats.read(
        io.BytesIO(exported([Message(role=Role.ASSISTANT, parts=(call,))]))
    )
    (found,) = transcript.items
    assert isinstance(found, Message)
    assert found.parts == (call,)


def test_what_belongs_to_a_provider_s_form_comes_back() -> None:
    call = ToolCall("c", "gh_search", {}, namespace="gh_")
    file = File("text/plain", url="a:b", members={"context": "Old."})
    [transcript] = formats.read(
        io.BytesIO(exported([Message(role=Role.ASSISTANT, parts=(call, file))]))
    )
    (found,) = transcript.items
    assert isinstance(found, Message)
    assert [*map(encode_part, found.parts)] == [encode_part(call), encode_part(file)]
