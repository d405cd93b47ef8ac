"""OpenAI's messages, one by one."""

from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.body import digest
from threads.domain.formats.arguments import read_call, text_of
from threads.domain.formats.openai import forms
from threads.domain.formats.openai import messages as openai
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

PNG = "data:image/png;base64,UE5H"


def one(message: dict[str, Any]) -> Message:
    [found] = openai.read_messages([message])
    return found


@pytest.mark.parametrize("content", [None, "", [], [{"type": "text", "text": ""}]])
def test_empty_contents_are_one_and_the_same(content: Any) -> None:
    assert one({"role": "assistant", "content": content}).parts == ()


def test_thoughts_may_be_a_list_of_texts_as_mistral_has_them() -> None:
    texts = [{"type": "text", "text": "Two "}, {"type": "text", "text": "and two."}]
    words = {"type": "text", "text": "Four."}
    content = [{"type": "thinking", "thinking": texts}, words]
    said = one({"role": "assistant", "content": content})
    assert said.parts == (Thinking("Two and two."), Text("Four."))

    other = {"type": "thinking", "thinking": [{"type": "reference", "ids": [1]}]}
    said = one({"role": "assistant", "content": [other, words]})
    assert said.parts == (Opaque("thinking", other), Text("Four."))


UNREAD: list[tuple[dict[str, Any], str]] = [
    ({"role": "user"}, "content"),
    ({"role": "tool", "tool_call_id": "c1"}, "content"),
    ({"role": "user", "parts": [{"text": "Hi"}]}, "parts"),
    ({"role": "user", "content": "", "parts": [{"type": "text"}]}, "parts"),
    ({"role": "user", "content": None, "tool_calls": [{"id": "c1"}]}, "tool_calls"),
    ({"role": "assistant", "text": "Hi"}, "text"),
    ({"role": "assistant", "message": {"body": "Hi"}}, "message"),
    (
        {"role": "assistant", "content": "I look.", "toolInvocations": [{}]},
        "toolInvocations",
    ),
]


@pytest.mark.parametrize(("message", "member"), UNREAD)
def test_a_message_that_was_not_understood_is_refused_at_its_member(
    message: dict[str, Any], member: str
) -> None:
    with pytest.raises(Invalid) as refused:
        openai.read_messages([{"role": "user", "content": "Hi"}, message])

    assert refused.value.at == ("messages", 1, member)
    assert refused.value.code == "message_not_understood"


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "tool_calls": []},
        {"role": "assistant", "content": None, "refusal": None},
        {"role": "tool", "tool_call_id": "c1", "content": ""},
        {"role": "user", "content": "", "parts": [{"type": "x"}], "tool_results": []},
    ],
)
def test_a_message_may_be_empty_by_its_own_account(message: dict[str, Any]) -> None:
    assert not one(message).text


def test_what_was_said_aloud_is_read_by_its_transcript() -> None:
    audio = {"id": "a1", "transcript": "It is dark."}

    assert one({"role": "assistant", "content": None, "audio": audio}).parts == (
        Text("It is dark."),
        Opaque("audio", {"type": "audio", "audio": audio}),
    )
    assert len(one({"role": "assistant", "audio": {"id": "a1"}}).parts) == 1


def test_what_was_said_aloud_may_be_named_by_the_id_of_its_recording() -> None:
    named = one({"role": "assistant", "audio": {"id": "a1"}})
    whole = one(
        {"role": "assistant", "audio": {"id": "a1", "transcript": "It is dark."}}
    )
    assert (forms.recording_id(named), forms.recording_id(whole)) == ("a1", None)
    assert forms.recording_id(one({"role": "assistant", "audio": {"id": ""}})) is None
    assert forms.has_recording(whole.parts, "a1")
    assert not forms.has_recording(whole.parts, "a2")
    refusal = one({"role": "assistant", "refusal": "No."})
    assert not forms.has_recording(refusal.parts, "a1")


def test_a_string_equals_one_text_part() -> None:
    as_text = one({"role": "user", "content": "Hi"})
    as_part = one(
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}}
            ],
        }
    )

    assert as_text.parts == as_part.parts == (Text("Hi"),)
    assert digest(as_text.role, as_text.parts) == digest(as_part.role, as_part.parts)


def test_a_user_message_may_hold_images_files_and_sound() -> None:
    sound = {"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}}
    message = one(
        {
            "role": "user",
            "content": [
                "A bare string.",
                {"type": "image_url", "image_url": {"url": PNG, "detail": "low"}},
                {"type": "image_url", "image_url": "https://example.org/a.png"},
                {"type": "file", "file": {"file_data": PNG, "filename": "a.png"}},
                {"type": "file", "file": {"file_id": "file-1"}},
                sound,
            ],
        }
    )

    assert message.parts == (
        Text("A bare string."),
        Image("image/png", data=b"PNG"),
        Image("image/*", url="https://example.org/a.png"),
        File("image/png", "a.png", data=b"PNG"),
        Opaque("file", {"type": "file", "file": {"file_id": "file-1"}}),
        Opaque("input_audio", sound),
    )


def test_an_image_whose_base64_is_spoilt_is_kept_whole() -> None:
    block = {"type": "image_url", "image_url": {"url": "data:image/png;base64,!!"}}

    assert one({"role": "user", "content": [block]}).parts == (
        Opaque("image_url", block),
    )


def test_calls_are_read_with_their_arguments_parsed() -> None:
    message = one(
        {
            "role": "assistant",
            "content": "Looking.",
            "refusal": "Not that.",
            "tool_calls": [
                {
                    "id": "1",
                    "type": "function",
                    "function": {"name": "f", "arguments": "{}"},
                },
                {"id": "2", "function": {"name": "g", "arguments": {"a": 1}}},
                {
                    "id": "3",
                    "type": "custom",
                    "custom": {"name": "patch", "input": "*** Begin"},
                },
            ],
        }
    )

    assert message.parts == (
        Text("Looking."),
        Opaque("refusal", {"type": "refusal", "refusal": "Not that."}),
        ToolCall("1", "f", {}),
        ToolCall("2", "g", {"a": 1}),
        ToolCall("3", "patch", "*** Begin"),
    )


@pytest.mark.parametrize(
    "arguments",
    [
        "",
        "{",
        '"text"',
        '{"a": NaN}',
        '{"a": 1e999}',
        "9" * 5000,
        "[" * 300 + "]" * 300,
    ],
)
def test_arguments_that_are_no_json_stay_text(arguments: str) -> None:
    call = read_call("1", "f", arguments)

    assert (call.arguments, text_of(call)) == (arguments, arguments)


def test_a_result_knows_its_call() -> None:
    message = one(
        {
            "role": "tool",
            "tool_call_id": "1",
            "name": "f",
            "content": [{"type": "text", "text": "ok"}],
        }
    )

    assert message.role is Role.TOOL
    assert message.parts == (ToolResult("1", (Text("ok"),), "f"),)


def test_the_older_functions_are_calls_without_an_id() -> None:
    call = one(
        {
            "role": "assistant",
            "content": None,
            "function_call": {"name": "f", "arguments": "1"},
        }
    )
    answer = one({"role": "function", "name": "f", "content": "ok"})

    assert call.parts == (ToolCall("", "f", 1),)
    assert answer.parts == (ToolResult("", (Text("ok"),), "f"),)


def test_reasoning_is_read_once() -> None:
    plain = one({"role": "assistant", "content": "4", "reasoning_content": "2+2"})
    signed = one(
        {
            "role": "assistant",
            "content": "4",
            "reasoning_content": "2+2",
            "thinking_blocks": [
                {"type": "thinking", "thinking": "2+2", "signature": "s"}
            ],
        }
    )

    assert plain.parts == (Thinking("2+2"), Text("4"))
    assert signed.parts == (Thinking("2+2", "s"), Text("4"))


@pytest.mark.parametrize(
    ("messages", "place"),
    [
        ({}, ("messages",)),
        (["Hi"], ("messages", 0)),
        ([{"content": "Hi"}], ("messages", 0, "role")),
        ([{"role": "robot", "content": "Hi"}], ("messages", 0, "role")),
        ([{"role": "user", "content": 3}], ("messages", 0, "content")),
        ([{"role": "user", "content": [3]}], ("messages", 0, "content", 0)),
        ([{"role": "user", "content": [{}]}], ("messages", 0, "content", 0, "type")),
        (
            [
                {"role": "user", "content": "Hi"},
                {"role": "user", "content": [{"type": "text"}]},
            ],
            ("messages", 1, "content", 0, "text"),
        ),
        (
            [{"role": "user", "content": [{"type": "image_url"}]}],
            ("messages", 0, "content", 0, "image_url"),
        ),
        ([{"role": "assistant", "tool_calls": {}}], ("messages", 0, "tool_calls")),
        (
            [{"role": "assistant", "tool_calls": [{"id": "1"}]}],
            ("messages", 0, "tool_calls", 0, "function"),
        ),
        (
            [{"role": "assistant", "tool_calls": [{"id": "1", "function": {}}]}],
            ("messages", 0, "tool_calls", 0, "function", "name"),
        ),
        (
            [{"role": "tool", "content": [{"type": "thinking", "thinking": ""}]}],
            ("messages", 0, "content", 0, "type"),
        ),
    ],
)
def test_a_malformed_message_is_refused_with_its_place(
    messages: Any, place: tuple[str | int, ...]
) -> None:
    with pytest.raises(Invalid) as refusal:
        openai.read_messages(messages)

    assert refusal.value.at == place


@pytest.mark.parametrize(
    ("member", "value"),
    [("created_at", "yesterday"), ("created_at", True), ("usage", 7)],
)
def test_what_a_client_gives_beside_the_words_is_refused_where_it_is_malformed(
    member: str, value: Any
) -> None:
    good = {"role": "user", "content": "Hi", "created_at": "2026-02-03T04:05:06Z"}
    assert openai.read_given_messages([good, {**good, "created_at": None}])
    with pytest.raises(Invalid) as refused:
        openai.read_given_messages([good, {**good, member: value}])

    assert refused.value.at == ("messages", 1, member)
    assert openai.read_messages([{**good, member: value}]), "in a file it may stand"
