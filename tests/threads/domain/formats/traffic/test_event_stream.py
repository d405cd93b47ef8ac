"""Streams of replies that somebody has copied, each reply a message."""

import json
from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support import readings, streams
from tests.threads.support.streams import as_sse, chunk
from tests.threads.support.transcripts import lines
from threads.domain.formats import detect
from threads.domain.message import Role, Usage
from threads.domain.part import Text, Thinking, ToolCall
from threads.domain.transcript import Event

SAID = "assistant: At the old pier."
FORMS = {
    "openai": (streams.chat(), "m-1", Usage(input_tokens=9, output_tokens=4)),
    "anthropic": (
        streams.anthropic(),
        "m-2",
        Usage(input_tokens=7, output_tokens=7, cached_tokens=2),
    ),
    "openai-responses": (
        streams.responses(),
        "m-3",
        Usage(input_tokens=6, output_tokens=3),
    ),
    "gemini": (streams.gemini(), "m-4", Usage(input_tokens=8, output_tokens=4)),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_stream_is_the_message_that_it_comes_to(form: str) -> None:
    events, model, usage = FORMS[form]
    data = as_sse(*events)
    [found] = readings.read(data)
    [message] = readings.messages(found)
    assert found.format == "event_stream"
    assert (found.strategy, found.model) == (form.partition("-")[0], model)
    assert found.title == "At the old pier."
    assert (message.role, message.text) == (Role.ASSISTANT, "At the old pier.")
    assert (message.usage, message.partial) == (usage, False)
    assert not found.warnings
    [record] = message.records
    start, end = map(int, record.removeprefix("bytes:").split("-"))
    assert data[start:end].startswith(b"data: ") and data[end:].strip() == b""


def test_blocks_of_a_stream_are_thoughts_words_and_calls() -> None:
    [message] = readings.messages(readings.read(as_sse(*streams.anthropic()))[0])
    assert message.parts == (
        Thinking("The pier.", "s"),
        Text("At the old pier."),
        ToolCall("t1", "look", {"at": 1}),
    )


@pytest.mark.parametrize("form", ["openai", "anthropic", "openai-responses"])
@pytest.mark.parametrize("write", [lambda rows: lines(*rows), json.dumps])
def test_the_data_of_events_may_stand_a_line_each_or_in_a_list(
    form: str, write: Any
) -> None:
    events = [one for one in FORMS[form][0] if isinstance(one, dict)]
    data = write(events)
    [found] = readings.read(data if isinstance(data, bytes) else data.encode())
    assert found.format == "event_stream"
    assert [one.text for one in readings.messages(found)] == ["At the old pier."]


def test_several_replies_are_a_message_each() -> None:
    events = [*streams.chat("It is late."), *streams.chat(id_="c-2")]
    without_ends = [one for one in events if isinstance(one, dict)]
    for data in (
        as_sse(*events),
        as_sse(*without_ends),
        as_sse(*events).replace(b"\n\n", b"\r\n"),
    ):
        [found] = readings.read(data)
        assert readings.told(found) == ["assistant: It is late.", SAID]
    both = [*streams.anthropic("It is late."), *streams.gemini(), *streams.responses()]
    [found] = readings.read(as_sse(*both))
    assert readings.texts(found) == ["It is late."] + ["At the old pier."] * 2
    calls = [
        p.id for parts in readings.parts(found) for p in parts if type(p) is ToolCall
    ]
    assert calls == ["t1", "call_2_1"]


def test_other_lines_are_events_before_and_behind_a_reply() -> None:
    head = b"HTTP/2 200\n\n: keep-alive\nretry: 3\n"
    tail = b"* Connection #0 left intact\n"
    error = {"type": "error", "error": {"message": "Overloaded"}}
    data = head + as_sse(error, *streams.anthropic()) + tail
    [found] = readings.read(data)
    assert readings.told(found) == ["line", "error", SAID, "line"]
    events = [one for one in found.items if isinstance(one, Event)]
    assert events[0].record == "bytes:0-11"


def test_a_stream_that_broke_off_is_partial() -> None:
    data = as_sse(*streams.chat()[:3])
    [found] = readings.read(data + b'data: {"id": "c-1", "obj')
    [message] = readings.messages(found)
    assert (message.text, message.partial) == ("At the old pier.", True)
    assert readings.events(found) == ["line"]


def test_a_reply_that_says_nothing_is_an_event() -> None:
    nothing = [chunk({"role": "assistant"}), "[DONE]"]
    [found] = readings.read(as_sse(*nothing, *streams.chat(id_="c-2")))
    assert readings.told(found) == ["response", SAID]
    with pytest.raises(Invalid) as refused:
        readings.read(as_sse(*nothing))
    assert refused.value.code == "no_messages"


def test_a_reply_that_is_not_understood_is_named() -> None:
    call = [{"index": 0, "id": "t", "function": {"name": "look", "arguments": ""}}]
    broken = {"type": "message_start", "message": {"role": "assistant", "content": 3}}
    [found] = readings.read(
        as_sse(chunk({"tool_calls": call}), broken, {"type": "message_stop"})
    )
    assert readings.events(found) == ["response"]
    assert [one.code for one in found.warnings] == ["invalid"]


def test_lines_of_gemini_s_that_name_one_reply_are_its_pieces() -> None:
    [found] = readings.read(lines(*streams.gemini()))
    [message] = readings.messages(found)
    assert (found.format, message.text) == ("event_stream", "At the old pier.")
    assert message.usage == Usage(input_tokens=8, output_tokens=4)


@pytest.mark.parametrize(
    "data",
    [
        b'data: {"a": 1}\n\ndata: [DONE]\n',
        lines({"type": "response.x"}, {"type": "ping"}),
        lines(
            *({**one, "responseId": str(n)} for n, one in enumerate(streams.gemini()))
        ),
        lines({"choices": [{"message": {"role": "user", "content": "x"}}]}),
    ],
)
def test_other_events_and_whole_responses_are_no_stream(data: bytes) -> None:
    assert "event_stream" not in [one.format for one in detect(data)]


# In a log


ASKED = {"role": "user", "content": "Where does the night ferry land?"}


@pytest.mark.parametrize("form", ["openai", "anthropic"])
def test_a_log_may_hold_a_stream_as_its_response(form: str) -> None:
    events = FORMS[form][0]
    system = {"system": "Be brief."} if form == "anthropic" else {}
    request = {"messages": [ASKED], **system}
    listed = [one for one in events if isinstance(one, dict)]
    for response in (as_sse(*events).decode(), listed):
        [found] = readings.read({"request": request, "response": response})
        assert found.format == form
        assert readings.told(found)[-2:] == [f"user: {ASKED['content']}", SAID]
        assert readings.messages(found)[-1].usage == FORMS[form][2]


def test_a_response_that_is_another_text_is_the_answer_and_a_list_an_event() -> None:
    [found] = readings.read({"messages": [ASKED], "response": "At the pier."})
    assert readings.told(found)[1:] == ["assistant: At the pier."]
    listed = [{"message": "It failed."}]
    [found] = readings.read({"messages": [ASKED], "response": listed})
    assert readings.events(found) == ["response"]


def test_what_a_tool_of_the_provider_s_answered_stands_in_a_streamed_reply() -> None:
    of = {"call_id": "c1", "status": "completed"}
    printed = {"stdout": "pier.txt", "stderr": ""}
    events = streams.responses()
    events[-1]["response"]["output"][:0] = [
        {"type": "shell_call", "id": "s1", **of, "action": {"commands": ["ls"]}},
        {"type": "shell_call_output", "id": "o1", **of, "output": [printed]},
    ]
    [found] = readings.read(as_sse(*events))
    call, result, answer = readings.messages(found)
    assert call.parts == (ToolCall("c1", "shell", {"commands": ["ls"]}),)
    assert (result.role, result.source_id) == (Role.TOOL, "o1")
    assert (answer.text, answer.source_id) == ("At the old pier.", "resp_1")
    assert (call.usage, call.model) == (None, "m-3")
    assert answer.usage == Usage(input_tokens=6, output_tokens=3)
