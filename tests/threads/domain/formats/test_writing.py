"""What is written: the public form, bodies of requests, and Markdown for people."""

import io
import json
import re
import uuid
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.strategies import messages as any_messages
from tests.threads.support.strategies import texts
from threads.domain import formats
from threads.domain.formats.documents import markdown
from threads.domain.formats.format import Heading
from threads.domain.formats.kit import spoken
from threads.domain.formats.openai.forms import write_message
from threads.domain.message import Message, Role
from threads.domain.part import (
    File,
    Image,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

PNG = Image("image/png", data=b"PNG")


def message(role: Role, *parts: Part, **members: Any) -> Message:
    return Message(role=role, parts=parts, **members)


def written(format: str, *found: Message, **options: Any) -> Any:
    return json.loads(
        b"".join(formats.write(format, found, formats.Heading(**options)))
    )


SYSTEM = message(Role.SYSTEM, Text("Be brief."))
ASKED = message(Role.USER, Text("Look."), PNG)
CALLED = message(
    Role.ASSISTANT,
    Thinking("Hm."),
    Thinking("Signed.", "s"),
    Text("Looking."),
    ToolCall("1", "look", {"at": "plug"}),
    ToolCall("2", "patch", "*** Begin"),
)
FIRST = message(Role.TOOL, ToolResult("1", (Text("Plugged in."), PNG)))
SECOND = message(Role.USER, ToolResult("2", (), is_error=True), Text("Go on."))


# The public form


def test_content_is_a_string_where_all_is_text() -> None:
    form = write_message(message(Role.USER, Text("One."), Text("Two.")))

    assert form == {"role": "user", "content": "One.\n\nTwo.", "tool_results": []}


def test_content_is_parts_where_not_all_is_text() -> None:
    stored = Image("image/png", sha256="ab")
    paper = File("application/pdf", "a.pdf", url="https://example.org/a.pdf")
    form = write_message(message(Role.USER, Text("See."), stored, PNG, paper))

    assert form["content"] == [
        {"type": "text", "text": "See."},
        {"type": "image_url", "image_url": {"url": "/api/blobs/ab"}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,UE5H"}},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": paper.url}},
    ]


def test_calls_and_results_have_members_of_their_own() -> None:
    called = write_message(message(Role.ASSISTANT, ToolCall("1", "f", {"a": "é"})))
    answered = write_message(message(Role.TOOL, ToolResult("1", (Text("ok"),), "f")))

    assert called["content"] is None
    assert called["tool_calls"][0]["function"] == {
        "name": "f",
        "arguments": '{"a": "é"}',
    }
    assert (answered["content"], answered["tool_call_id"]) == ("ok", "1")
    assert answered["tool_results"] == [
        {"tool_call_id": "1", "content": "ok", "is_error": False, "name": "f"}
    ]


def test_several_results_have_no_single_id_and_a_name_is_said() -> None:
    both = message(Role.USER, ToolResult("1", ()), ToolResult("2", (PNG,)), name="ann")
    form = write_message(both)

    assert "tool_call_id" not in form
    assert [result["tool_call_id"] for result in form["tool_results"]] == ["1", "2"]
    assert form["name"] == "ann"


# OpenAI


def test_an_openai_request_has_a_message_a_result() -> None:
    body = written("openai", SYSTEM, ASKED, CALLED, FIRST, SECOND, model="m")

    assert body["model"] == "m"
    assert [found["role"] for found in body["messages"]] == [
        "system",
        "user",
        "assistant",
        "tool",
        "user",
        "tool",
        "user",
    ]
    assert body["messages"][4]["content"][0]["type"] == "image_url"
    assert body["messages"][2]["thinking_blocks"][1]["signature"] == "s"
    assert body["messages"][2]["tool_calls"][1]["function"]["arguments"] == (
        '{"input": "*** Begin"}'
    )


def test_openai_s_own_features_come_back_from_an_export() -> None:
    refusal = {"type": "refusal", "refusal": "No."}
    found = [
        SYSTEM,
        message(Role.DEVELOPER, Text("One."), Text("Two."), name="rules"),
        ASKED,
        message(Role.ASSISTANT, Thinking("Hm."), ToolCall("1", "f", {"b": 1, "a": 2})),
        message(Role.TOOL, ToolResult("1", (Text("ok"),), "f")),
        message(Role.ASSISTANT, ToolCall("", "g", [])),
        message(Role.TOOL, ToolResult("", (Text("ok"),), "g")),
        message(Role.ASSISTANT, Text("Well."), Opaque("refusal", refusal)),
        message(Role.USER),
    ]
    raw = b"".join(formats.write("openai", found))
    [transcript] = formats.read(io.BytesIO(raw), "openai")

    read = [item for item in transcript.items if isinstance(item, Message)]
    assert [(m.role, m.parts, m.name) for m in read] == [
        (m.role, m.parts, m.name) for m in found
    ]


# Anthropic


def test_an_anthropic_request_joins_the_results_behind_their_calls() -> None:
    body = written("anthropic", SYSTEM, ASKED, CALLED, FIRST, SECOND)

    assert body["system"] == "Be brief."
    assert [found["role"] for found in body["messages"]] == [
        "user",
        "assistant",
        "user",
    ]
    results = body["messages"][2]["content"]
    assert [block["type"] for block in results] == [
        "tool_result",
        "tool_result",
        "text",
    ]
    assert results[1] == {"type": "tool_result", "tool_use_id": "2", "is_error": True}


def test_reasoning_without_a_signature_is_left_out_and_arguments_become_objects() -> (
    None
):
    body = written("anthropic", CALLED)
    blocks = body["messages"][0]["content"]

    assert blocks[0] == {"type": "thinking", "thinking": "Signed.", "signature": "s"}
    assert [block.get("input") for block in blocks[2:]] == [
        {"at": "plug"},
        {"input": "*** Begin"},
    ]


def test_a_later_system_message_is_framed_as_a_user_s() -> None:
    later = message(Role.DEVELOPER, Text("A summary."))
    body = written("anthropic", ASKED, message(Role.ASSISTANT, Text(" \n")), later)

    assert [found["role"] for found in body["messages"]] == ["user", "user"]
    assert (
        "<system_message>\nA summary.\n</system_message>"
        in body["messages"][1]["content"]
    )
    assert written("anthropic", ASKED, message(Role.SYSTEM))["messages"][1:] == []


def test_calls_without_ids_are_given_some_and_answered_in_their_order() -> None:
    body = written(
        "anthropic",
        message(Role.ASSISTANT, ToolCall("", "f", ""), ToolCall("", "g", None)),
        message(Role.TOOL, ToolResult("", (), "g")),
        message(Role.TOOL, ToolResult("", ())),
        message(Role.TOOL, ToolResult("", ())),
    )
    calls, results = (found["content"] for found in body["messages"])

    assert [block["id"] for block in calls] == ["call_1", "call_2"]
    assert [block["tool_use_id"] for block in results] == ["call_2", "call_1", "call_0"]


def test_files_are_documents() -> None:
    body = written(
        "anthropic",
        message(
            Role.USER,
            File("application/pdf", "a.pdf", data=b"PDF"),
            Image("image/png", sha256="ab"),
            Opaque("refusal", {}),
        ),
    )

    assert body["messages"][0]["content"] == [
        {
            "type": "document",
            "source": {
                "type": "base64",
                "media_type": "application/pdf",
                "data": "UERG",
            },
            "title": "a.pdf",
        },
        {"type": "image", "source": {"type": "url", "url": "/api/blobs/ab"}},
    ]


@settings(deadline=None)
@given(st.lists(any_messages, max_size=5))
def test_any_messages_make_a_body_of_the_right_shape(found: list[Message]) -> None:
    for form in written("anthropic", *found)["messages"]:
        content = form["content"]
        kinds = (
            ["text"]
            if isinstance(content, str)
            else [block["type"] for block in content]
        )
        assert kinds
        assert form["role"] in ("user", "assistant")
        assert kinds == sorted(kinds, key=lambda kind: kind != "tool_result")
    for form in written("openai", *found)["messages"]:
        assert form["role"] in spoken.ROLES
        assert "content" in form


# Markdown


def markdown_of(*found: Message, title: str = "") -> str:
    return b"".join(
        formats.write("markdown", found, formats.Heading(title=title))
    ).decode()


def test_markdown_is_readable() -> None:
    opaque = message(Role.ASSISTANT, Opaque("refusal", {"refusal": "No."}), name="bot")
    sealed = message(Role.ASSISTANT, Thinking("", data="x"))
    page = markdown_of(ASKED, CALLED, FIRST, SECOND, opaque, sealed, title="A\nlamp")

    assert page.startswith("# A lamp\n\n## 0 · user\n\nLook.\n\n*image: image/png*\n")
    assert '**Call** `look`\n\n```json\n{\n  "at": "plug"\n}\n```' in page
    assert "**Call** `patch`\n\n```\n*** Begin\n```" in page
    assert "**Result**\n\n```\nPlugged in.\n```\n\n*image: image/png*" in page
    assert "**Result** (error)" in page
    assert "## 4 · assistant (bot)" in page
    assert "(kept by the provider)" in page
    assert markdown_of().startswith("# Conversation\n")


@given(texts)
def test_no_text_ends_its_own_fence(text: str) -> None:
    opening, *inside, closing = markdown.fence(text).split("\n")

    assert opening == closing
    assert not any(re.fullmatch(f" {{0,3}}{opening}`*\\s*", line) for line in inside)


def test_another_format_is_refused_at_once() -> None:
    first = (
        "contextstudio, openai, openai_responses, finetuning, anthropic, gemini, atif"
    )
    with pytest.raises(Invalid, match=first):
        formats.write("tape", [])


def test_a_file_is_called_as_its_tool_looks_for_it() -> None:
    export = uuid.uuid4()
    assert str(export) in str(formats.file_name("codex", export))
    assert formats.file_name("openai", export) is None
    assert formats.file_name("none", export) is None


def test_a_page_has_the_bodies_that_it_is_given() -> None:
    heading = Heading(render=lambda message, _: f"<p>{message.role}, drawn</p>")
    said = [Message(role=Role.USER, parts=(Text("plain"),))]
    drawn = b"".join(formats.write("html", said, heading)).decode()
    assert "<p>user, drawn</p>" in drawn
    assert "plain" not in drawn
    assert "plain" in b"".join(formats.write("html", said)).decode()
