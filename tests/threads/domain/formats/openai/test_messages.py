"""OpenAI's messages: what clients post, and what files hold."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support import readings
from tests.threads.support.transcripts import lines
from threads.domain.formats.arguments import read_call, text_of
from threads.domain.formats.openai import messages as openai
from threads.domain.message import Message, Role, Usage, digest
from threads.domain.part import (
    File,
    Image,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from threads.domain.transcript import Event, Transcript

PNG = "data:image/png;base64,UE5H"


def one(message: dict[str, Any]) -> Message:
    [found] = openai.read_messages([message])
    return found


def read(data: Any) -> list[Transcript]:
    return readings.read(data, "openai")


def read_one(data: Any) -> tuple[Transcript, list[Message | Event]]:
    [found] = read(data)
    return found, list(found.items)


@pytest.mark.parametrize("content", [None, "", [], [{"type": "text", "text": ""}]])
def test_empty_contents_are_one_and_the_same(content: Any) -> None:
    assert one({"role": "assistant", "content": content}).parts == ()


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


def test_a_file_s_message_that_was_not_understood_is_kept_whole_with_a_warning() -> (
    None
):
    spoken = {"role": "user", "body": "Hi", "content": ""}
    result = {"role": "tool", "tool_call_id": "c1", "output": {"words": "Dark."}}
    function = {"role": "function", "name": "look", "content": None, "result": [1]}
    transcript, items = read_one(
        lines({"role": "user", "content": "Go."}, spoken, result, function)
    )

    _, first, second, third = (item for item in items if isinstance(item, Message))
    assert first.parts == (Opaque("message", spoken),)
    assert second.parts == (ToolResult("c1", (Opaque("message", result),)),)
    assert third.role is Role.TOOL
    assert [(one.code, one.line) for one in transcript.warnings] == [
        ("message_not_understood", 2),
        ("message_not_understood", 3),
        ("message_not_understood", 4),
    ]


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


HI = {"role": "user", "content": "Hi"}
YES = {"role": "assistant", "content": "Yes?"}


@pytest.mark.parametrize(
    "data",
    [
        [HI, YES],
        {"messages": [HI, YES]},
        {"request": {"messages": [HI]}, "response": {"choices": [{"message": YES}]}},
        {"id": 7, "session": {"messages": [HI, YES]}},
        {"data": {"messages": [HI, YES]}, "status": "ok"},
        {"messages": [HI], "choices": [{"message": YES}]},
        {"messages": [HI, YES], "choices": [{"message": YES}]},
        lines(HI, YES),
        b"\xef\xbb\xbf" + lines(HI, YES).replace(b"\n", b"\r\n\r\n"),
        json.dumps([HI, YES], indent=2).encode(),
    ],
)
def test_every_container_gives_every_message(data: Any) -> None:
    transcript, items = read_one(data)

    assert [item.text for item in items if isinstance(item, Message)] == ["Hi", "Yes?"]
    assert (transcript.title, transcript.warnings) == ("Hi", [])


def test_a_document_behind_the_first_is_not_passed_over_in_silence() -> None:
    first = json.dumps({"messages": [HI]}).encode()
    (transcript,) = read(first + first)
    for _ in range(2):  # a warning is said once, however often the items are read
        assert len(list(transcript.items)) == 1
        (warning,) = transcript.warnings
        assert warning.code == "another_document"
        assert f"byte {len(first)}" in warning.message


@pytest.mark.parametrize(
    "data",
    [
        [{"messages": [HI]}, {"messages": [YES]}],
        lines({"messages": [HI]}, {"messages": [YES]}),
    ],
)
def test_rows_are_conversations_of_their_own(data: Any) -> None:
    assert [len(list(found.items)) for found in read(data)] == [1, 1]


def test_a_log_says_model_usage_and_time_of_its_response() -> None:
    usage = {
        "prompt_tokens": 9,
        "completion_tokens": 3,
        "prompt_tokens_details": {"cached_tokens": 4},
    }
    response = {
        "id": "chatcmpl-1",
        "model": "gpt-test",
        "created": 1_757_015_046,
        "choices": [{"message": YES}],
        "usage": usage,
    }
    data = {
        "title": "A\nlog",
        "session_id": "s-1",
        "messages": [HI],
        "response": response,
    }
    transcript, [_, reply] = read_one(data)

    assert (transcript.title, transcript.external_id, transcript.model) == (
        "A log",
        "s-1",
        "gpt-test",
    )
    assert isinstance(reply, Message)
    assert reply.usage == Usage(input_tokens=9, output_tokens=3, cached_tokens=4)
    assert (reply.source_id, reply.model) == ("chatcmpl-1", "gpt-test")
    assert reply.created_at == datetime(2025, 9, 4, 19, 44, 6, tzinfo=UTC)


def test_a_response_that_is_no_message_is_an_event() -> None:
    for response in ({"error": "overloaded"}, {"choices": [{"message": {"role": 1}}]}):
        _, [_, event] = read_one({"messages": [HI], "response": response})

        assert isinstance(event, Event)
        assert event.type == "response"


def test_a_message_points_at_its_record() -> None:
    raw = json.dumps({"messages": [HI, YES]}, indent=2).encode()
    _, items = read_one(raw)

    places = [item.records[0] for item in items if isinstance(item, Message)]
    assert places[0].startswith("bytes:")
    starts = [
        tuple(map(int, place.removeprefix("bytes:").split("-"))) for place in places
    ]
    assert [json.loads(raw[start:end]) for start, end in starts] == [HI, YES]


def test_a_broken_line_is_reported_and_the_rest_is_read() -> None:
    raw = lines(HI) + b'{"role": "user", \n' + lines({"note": 1}, {"role": 7}, YES)
    transcript, items = read_one(raw)

    assert [item.type for item in items if isinstance(item, Event)] == [
        "unreadable",
        "record",
        "unreadable",
    ]
    assert len([item for item in items if isinstance(item, Message)]) == 2
    assert [(w.code, w.line) for w in transcript.warnings] == [
        ("json_invalid", 2),
        ("invalid", 4),
    ]
    assert transcript.warnings[0].message.startswith("Line 2 can't be read.")


def test_a_file_that_breaks_off_gives_what_it_holds() -> None:
    raw = json.dumps({"model": "m", "messages": [HI, YES, HI]}).encode()[:-20]
    transcript, items = read_one(raw)

    assert len([item for item in items if isinstance(item, Message)]) == 2
    assert {warning.code for warning in transcript.warnings} == {
        "json_truncated",
        "json_invalid",
    }


def test_rows_that_are_no_conversation_are_reported_with_the_first() -> None:
    found = read(lines({"messages": [HI]}) + b"{broken\n" + lines({"messages": []}, 3))

    assert len(found) == 1
    assert [warning.line for warning in found[0].warnings] == [2, None]


def test_a_member_that_cannot_be_read_is_reported() -> None:
    transcript, _ = read_one(
        b'{"messages": [{"role": "user", "content": ""}], "title": 01x, "system": 01x}'
    )

    assert [warning.code for warning in transcript.warnings] == ["json_invalid"]


@pytest.mark.parametrize(
    "data", [b"3", b'"text"', b"{}", b"[]", b'{"messages": [{}]}', b"[3]"]
)
def test_a_file_without_messages_is_refused(data: bytes) -> None:
    with pytest.raises(Invalid):
        read(data)


def test_a_lone_message_is_a_conversation() -> None:
    _, items = read_one(json.dumps(HI, indent=1).encode())

    assert len(items) == 1


def test_a_name_is_looked_for_among_the_first_messages_only() -> None:
    assert read_one([YES] * 49 + [HI])[0].title == "Hi"
    assert read_one([YES] * 50 + [HI])[0].title == ""
