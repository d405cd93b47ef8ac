"""Messages of the public API, taken back: what they were is known again."""

import json
from typing import Any

import pytest
from hypothesis import given, settings

from tests.operations.domain.forwarding.sending import digest_of, named
from tests.threads.support.strategies import messages
from threads.domain.body import encode_part
from threads.domain.formats.openai import forms
from threads.domain.formats.openai import messages as openai
from threads.domain.formats.openai.forms import write_message
from threads.domain.message import Message, Role
from threads.domain.part import File, Image, Text, Thinking, ToolResult

SHA = "ab" * 32


def shown(message: Message, **members: Any) -> dict[str, Any]:
    """A message as the public API shows it."""
    parts = [encode_part(part) for part in message.parts]
    form = {"key": "m0", **write_message(message), "parts": parts, **members}
    found: dict[str, Any] = json.loads(json.dumps(form))
    return found


def message(*parts: Any, role: Role = Role.USER) -> Message:
    return Message(role=role, parts=parts)


@settings(deadline=None)
@given(messages)
def test_any_message_of_the_api_is_the_one_that_it_shows(found: Message) -> None:
    blobs: dict[str, bytes] = {}
    kept = named(found, blobs)
    read = openai.read_message(shown(kept))

    assert forms.hashes_of([read]) == set(blobs)
    assert digest_of(forms.identify_media(read, blobs)) == digest_of(kept)


def test_images_shown_inline_are_the_same_images() -> None:
    kept = message(Text("See."), Image("image/png", sha256=SHA))
    form = shown(kept)
    form["content"][1]["image_url"]["url"] = "data:image/png;base64,UE5H"

    assert forms.identify_media(openai.read_message(form), {SHA}) == kept


def test_what_the_project_does_not_hold_keeps_its_address() -> None:
    inside = ToolResult("1", (File("text/plain", sha256=SHA), Text("ok")))
    read = openai.read_message(shown(message(inside)))

    assert forms.hashes_of([read]) == {SHA}
    assert read == forms.identify_media(read, ())
    [result] = read.parts
    assert isinstance(result, ToolResult)
    assert result.content[0] == File("text/plain", url=f"/api/blobs/{SHA}")


@pytest.mark.parametrize(
    "members",
    [
        {"content": "Changed."},
        {"parts": None},
        {"parts": ["x"]},
        {"parts": [{"type": "text"}]},
        {"parts": [{"type": "tool_result", "call_id": "1", "content": None}]},
        {"tool_results": None},
        {"tool_results": [{"tool_call_id": "1", "content": "ok"}]},
    ],
)
def test_members_that_somebody_changed_count_more_than_the_parts(
    members: dict[str, Any],
) -> None:
    kept = message(Thinking("Hm."), Text("Well."), role=Role.ASSISTANT)
    form = shown(kept, **members)

    assert openai.read_message(shown(kept)).parts == kept.parts
    assert openai.read_message(form).parts == (Text(form["content"]),)
