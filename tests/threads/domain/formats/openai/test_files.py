"""Files of OpenAI's messages: containers, rows, logs of requests, and what is broken in them."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support import readings, streams
from tests.threads.support.transcripts import lines
from threads.domain.message import Message, Role, Usage
from threads.domain.part import Opaque, Text, Thinking, ToolCall, ToolResult
from threads.domain.transcript import Event, Transcript


def read(data: Any) -> list[Transcript]:
    return readings.read(data, "openai")


def read_one(data: Any) -> tuple[Transcript, list[Message | Event]]:
    [found] = read(data)
    return found, list(found.items)


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


def test_a_row_of_litellm_s_log_has_its_request_in_a_member_of_its_own() -> None:
    reply = {"choices": [{"message": YES}]}
    row = {"request_id": "r", "session_id": "s1", "messages": {}, "response": reply}
    found, items = read_one([row | {"proxy_server_request": {"messages": [HI]}}])

    assert [item.text for item in items if isinstance(item, Message)] == ["Hi", "Yes?"]
    assert found.external_id == "s1"


@pytest.mark.parametrize(
    "thought",
    [
        {"reasoning_content": "Hm."},
        {"thinking_blocks": [{"type": "thinking", "thinking": "Hm."}]},
    ],
)
def test_a_row_of_litellm_s_log_with_a_request_to_anthropic_has_its_reply(
    thought: dict[str, Any],
) -> None:
    call = {"id": "t1", "function": {"name": "look", "arguments": '{"at": 1}'}}
    said = [{"message": {**YES, **thought, "tool_calls": [call]}}]
    request = {"system": "Be brief.", "messages": [HI], "model": "m"}
    row = {"messages": {}, "proxy_server_request": request}
    [found] = readings.read([row | {"response": {"choices": said}}])

    assert (found.format, readings.texts(found)) == (
        "anthropic",
        ["Be brief.", "Hi", "Yes?"],
    )
    answer = (Thinking("Hm."), Text("Yes?"), ToolCall("t1", "look", {"at": 1}))
    assert readings.parts(found)[-1] == answer


@pytest.mark.parametrize("as_text", [True, False])
def test_a_stream_of_anthropic_s_is_the_reply_to_a_request_of_either_form(
    as_text: bool,
) -> None:
    events = streams.anthropic()
    kept = streams.as_sse(*events).decode() if as_text else events
    [found] = readings.read([{"messages": [HI], "response": kept}])
    assert readings.texts(found) == ["Hi", "At the old pier."]
    assert readings.parts(found)[-1][-1] == ToolCall("t1", "look", {"at": 1})


def test_an_answer_of_calls_alone_is_read_beside_a_request_to_anthropic() -> None:
    call = {"id": "t1", "function": {"name": "look", "arguments": ""}}
    answer = {"role": "assistant", "content": None, "tool_calls": [call]}
    row = {"response": {"choices": [{"message": answer}]}}
    request = {"system": "Be brief.", "messages": [HI]}
    [found] = readings.read([row | {"proxy_server_request": request}])
    assert readings.parts(found)[-1] == (ToolCall("t1", "look", {}),)


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
    codes = [warning.code for warning in transcript.warnings]
    assert sorted(codes) == ["json_invalid", "json_truncated"]


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
