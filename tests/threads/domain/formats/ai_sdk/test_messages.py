"""The AI SDK's messages: of pages (versions 4 to 6), and for models."""

from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support import readings
from tests.threads.support.agent_specimens import lines
from tests.threads.support.editor_specimens import MODEL_CHAT, UI_CHAT, UI_CHAT_OF_4
from threads.domain.formats import detect
from threads.domain.message import Message, Role
from threads.domain.part import (
    File,
    Image,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

CALLED = ToolCall("c1", "look", {"lamp": 1})


def said(*parts: Any, role: str = "assistant", **members: Any) -> list[Message]:
    """The messages of one on a page."""
    asked = {"id": "m0", "role": "user", "parts": [{"type": "text", "text": "Go."}]}
    [found] = readings.read([asked, {"role": role, "parts": parts, **members}])
    assert (found.format, found.warnings) == ("ai_sdk", [])
    return readings.messages(found)[1:]


def one(**block: Any) -> Any:
    """The one part of a message for models."""
    [found] = readings.read([*MODEL_CHAT, {"role": "assistant", "content": [block]}])
    [part] = readings.messages(found)[-1].parts
    return part


def test_the_steps_of_a_message_are_the_messages_that_the_model_was_sent() -> None:
    [found] = readings.read(UI_CHAT)
    asked, called, answered, told = readings.messages(found)

    assert asked.parts == (Text("Look."),)
    assert called.parts == (Thinking("I shall look.", "c2VhbA=="), CALLED)
    assert (answered.role, answered.parts) == (
        Role.TOOL,
        (ToolResult("c1", (Text('{"light": false}'),), "look"),),
    )
    assert told.parts == (Text("It is dark."),)
    assert called.records == answered.records == told.records
    assert (called.source_id, told.source_id) == ("m2", None)


def test_a_chat_of_version_4_says_its_words_behind_its_calls() -> None:
    [found] = readings.read(UI_CHAT_OF_4)

    assert (found.format, found.external_id) == ("ai_sdk", "chat-1")
    assert readings.parts(found) == [
        (Text("Look."),),
        (CALLED,),
        (ToolResult("c1", (Text("dark"),), "look"),),
        (Text("It is dark."),),
    ]


def test_reasoning_and_an_open_call_of_version_4() -> None:
    call = {
        "state": "call",
        "toolCallId": "c1",
        "toolName": "look",
        "args": {"lamp": 1},
    }
    [found] = said(content="", reasoning="Hm.", toolInvocations=[call])
    assert found.parts == (Thinking("Hm."), CALLED)

    [listed] = said(
        content=[{"type": "text", "text": "Hi"}], toolInvocations=[], parts=[]
    )
    assert listed.parts == (Text("Hi"),)


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (
            {"type": "reasoning", "reasoning": "x", "details": [{"text": "x"}]},
            (Thinking("x"),),
        ),
        (
            {"type": "reasoning", "text": "", "details": [{"data": "zzz"}]},
            (Thinking("", data="zzz"),),
        ),
        (
            {
                "type": "reasoning",
                "text": "",
                "providerMetadata": {"anthropic": {"redactedData": "zzz"}},
            },
            (Thinking("", data="zzz"),),
        ),
        (
            {"type": "file", "mediaType": "image/png", "url": "data:;base64,UE5H"},
            (Image("image/png", data=b"PNG"),),
        ),
        (
            {"type": "file", "mimeType": "text/plain", "data": "SGk="},
            (File("text/plain", None, data=b"Hi"),),
        ),
        (
            {"type": "file", "mediaType": "application/pdf", "url": "https://x/y"},
            (File("application/pdf", None, url="https://x/y"),),
        ),
        (
            {"type": "file", "data": "?"},
            (Opaque("file", {"type": "file", "data": "?"}),),
        ),
        (
            {"type": "source-url", "url": "https://x"},
            (Opaque("source-url", {"type": "source-url", "url": "https://x"}),),
        ),
        (
            {"type": "file", "mediaType": "image", "url": "https://x/y"},
            (Image("image/*", url="https://x/y"),),
        ),
        (
            {"type": "custom", "kind": "openai.compaction"},
            (Opaque("custom", {"type": "custom", "kind": "openai.compaction"}),),
        ),
        (
            {"type": "reasoning-file", "mediaType": "image/png", "url": "https://x"},
            (
                Opaque(
                    "reasoning-file",
                    {
                        "type": "reasoning-file",
                        "mediaType": "image/png",
                        "url": "https://x",
                    },
                ),
            ),
        ),
        ({"type": "text", "text": ""}, ()),
    ],
)
def test_each_part_of_a_page_has_its_part(
    part: dict[str, Any], expected: tuple[Any, ...]
) -> None:
    [found] = said(part)
    assert found.parts == expected


def test_a_call_that_failed_has_the_error_as_its_result() -> None:
    failed = {
        "type": "dynamic-tool",
        "toolName": "look",
        "toolCallId": "c1",
        "state": "output-error",
        "input": {"lamp": 1},
        "errorText": "No lamp.",
    }
    called, answered = said(failed)
    assert called.parts == (CALLED,)
    assert answered.parts == (ToolResult("c1", (Text("No lamp."),), "look", True),)


DENIED = "Tool call execution denied."


@pytest.mark.parametrize("state", ["output-denied", "approval-responded"])
@pytest.mark.parametrize(("reason", "words"), [("Not now.",) * 2, (None, DENIED)])
def test_a_call_that_was_not_allowed_has_the_reason_as_its_result(
    state: str, reason: str | None, words: str
) -> None:
    denied = {
        "type": "tool-look",
        "toolCallId": "c1",
        "state": state,
        "input": {"lamp": 1},
        "approval": {"id": "a1", "approved": False, "reason": reason},
    }
    called, answered = said(denied)
    assert called.parts == (CALLED,)
    assert answered.parts == (ToolResult("c1", (Text(words),), "look", True),)


def test_a_call_that_waits_to_be_allowed_is_open() -> None:
    asked = {
        "type": "tool-look",
        "toolCallId": "c1",
        "state": "approval-requested",
        "input": {"lamp": 1},
        "approval": {"id": "a1"},
    }
    [called] = said(asked)
    assert called.parts == (CALLED,)


def test_attachments_stand_with_the_words() -> None:
    attached = {
        "name": "a.txt",
        "contentType": "text/plain",
        "url": "data:;base64,SGk=",
    }
    [found] = said(
        {"type": "text", "text": "See."},
        role="user",
        experimental_attachments=[attached],
    )
    assert found.parts == (Text("See."), File("text/plain", "a.txt", data=b"Hi"))


def test_what_is_no_part_is_kept() -> None:
    [found] = readings.read([*UI_CHAT, {**UI_CHAT_OF_4["messages"][1], "parts": [7]}])
    assert readings.parts(found)[-1] == (Opaque("part", 7),)


def test_messages_for_models_are_read() -> None:
    [found] = readings.read(lines(MODEL_CHAT))
    assert found.format == "ai_sdk"
    assert readings.parts(found) == [
        (Text("You mend lamps."),),
        (Text("Look."),),
        (CALLED,),
        (ToolResult("c1", (Text("It is dark."),), "look"),),
    ]


def test_each_block_for_models_has_its_part() -> None:
    assert one(type="reasoning", text="Hm.") == Thinking("Hm.")
    assert one(type="redacted-reasoning", data="zzz") is not None
    assert one(type="image", image="data:image/png;base64,UE5H") == Image(
        "image/png", data=b"PNG"
    )
    failed = {"type": "error-json", "value": {"x": 1}}
    assert one(
        type="tool-result", toolCallId="c1", toolName="look", output=failed
    ) == ToolResult("c1", (Text('{"x": 1}'),), "look", True)
    denied = {"type": "execution-denied", "reason": "Not now."}
    assert one(
        type="tool-result", toolCallId="c1", toolName="look", output=denied
    ) == ToolResult("c1", (Text("Not now."),), "look", True)
    spoken = {"type": "text", "value": "Dark.", "providerOptions": {"a": {}}}
    assert one(
        type="tool-result", toolCallId="c1", toolName="look", output=spoken
    ) == ToolResult("c1", (Text("Dark."),), "look")


FILES: list[tuple[Any, Any]] = [
    ({"type": "data", "data": "UERG"}, File("application/pdf", "a", data=b"PDF")),
    (
        {"type": "url", "url": "https://x"},
        File("application/pdf", "a", url="https://x"),
    ),
    ({"type": "text", "text": "é"}, File("application/pdf", "a", data="é".encode())),
]


@pytest.mark.parametrize(("data", "expected"), FILES)
def test_a_file_of_version_7_says_what_its_data_is(data: Any, expected: File) -> None:
    block = {"mediaType": "application/pdf", "filename": "a", "data": data}
    assert one(type="file", **block) == expected
    output = {"type": "content", "value": [{"type": "file", **block}]}
    assert one(
        type="tool-result", toolCallId="c1", toolName="look", output=output
    ) == ToolResult("c1", (expected,), "look")


def test_a_file_that_the_provider_keeps_is_opaque() -> None:
    held = {"type": "reference", "reference": {"openai": "file-1"}}
    block = {"type": "file", "mediaType": "application/pdf", "data": held}
    assert one(**block) == Opaque("file", block)


def test_a_file_without_a_type_in_a_result_is_a_file() -> None:
    value = [{"type": "file-url", "url": "https://x/y"}]
    output = {"type": "content", "value": value}
    assert one(
        type="tool-result", toolCallId="c1", toolName="look", output=output
    ) == ToolResult(
        "c1", (File("application/octet-stream", url="https://x/y"),), "look"
    )


def test_a_message_that_says_nothing_is_an_event_with_a_warning() -> None:
    [found] = readings.read([*UI_CHAT, {"role": "user"}, {"role": "x"}])
    assert readings.events(found) == ["unreadable", "unreadable"]
    assert [w.code for w in found.warnings] == ["message_not_understood", "invalid"]


def test_a_file_without_messages_is_refused() -> None:
    with pytest.raises(Invalid, match="holds no messages"):
        readings.read({"messages": []}, "ai_sdk")
    with pytest.raises(Invalid):
        readings.read(b"\n", "ai_sdk")


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": "Hi"},
        {"role": "user", "parts": [{"text": "Hi"}]},
        {"role": "user", "parts": [{"type": "image_url"}], "content": "x"},
        {"role": "user", "content": "x", "parts": [{"type": "text", "text": "x"}]}
        | {"tool_results": []},
    ],
)
def test_messages_of_others_are_not_taken(message: dict[str, Any]) -> None:
    found = detect(readings.encoded([message]))
    assert all(candidate.format != "ai_sdk" for candidate in found)


def test_rows_of_several_chats_are_a_conversation_each() -> None:
    def row(chat: str, role: str, words: str) -> dict[str, Any]:
        said = [{"type": "text", "text": words}]
        return {"id": words, "chatId": chat, "role": role, "parts": said}

    rows = [
        row("chat-0001", "user", "Look."),
        row("chat-0002", "user", "Count."),
        row("chat-0001", "assistant", "Dark."),
        row("chat-0002", "assistant", "Nine."),
    ]
    for data in (rows, lines(rows), lines(rows) + b"{\n"):
        first, second = readings.read(data)
        assert readings.texts(first) == ["Look.", "Dark."]
        assert readings.texts(second) == ["Count.", "Nine."]
        assert (first.external_id, second.external_id) == ("chat-0001", "chat-0002")
        assert first.warnings[0].code == "several_sessions"
    assert readings.events(second) == ["unreadable"]
    [one_chat] = readings.read(rows[::2])
    assert readings.texts(one_chat) == ["Look.", "Dark."]
