"""Traces of OpenTelemetry: OTLP and rows of spans, in each convention for models."""

import io
import json
from typing import Any

import pytest
from hypothesis import given, settings

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.readings import messages, read
from tests.threads.strategies import json_values
from tests.threads.transcripts import lines
from threads.domain.formats import otel, otel_attributes
from threads.domain.message import Message, Usage
from threads.domain.part import Image, Text, Thinking, ToolCall, ToolResult
from threads.domain.transcript import Event

START = 1_770_000_000


def otlp_value(value: Any) -> dict[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case str():
            return {"stringValue": value}
        case list():
            return {"arrayValue": {"values": [otlp_value(one) for one in value]}}
        case dict():
            pairs = [{"key": k, "value": otlp_value(v)} for k, v in value.items()]
            return {"kvlistValue": {"values": pairs}}
    return {}


def attributes(values: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": name, "value": otlp_value(value)} for name, value in values.items()]


def span(second: int, values: dict[str, Any], **members: Any) -> dict[str, Any]:
    """A span of OTLP at a second, named by it."""
    return {
        "traceId": "t1",
        "spanId": f"s{second}",
        "parentSpanId": "s0",
        "name": f"n{second}",
        "startTimeUnixNano": f"{START + second}000000000",
        "endTimeUnixNano": f"{START + second + 1}000000000",
        "attributes": attributes(values),
        **members,
    }


def otlp(*spans: dict[str, Any]) -> dict[str, Any]:
    scope = {"scope": {"name": "x"}, "spans": list(spans)}
    return {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [scope]}]}


def row(second: int, values: Any, **members: Any) -> dict[str, Any]:
    """A span as exporters write it a line."""
    return {
        "name": f"n{second}",
        "context": {"trace_id": "t1", "span_id": f"s{second}"},
        "parent_id": "s0",
        "start_time": f"2026-02-03T04:05:{second:02}Z",
        "end_time": f"2026-02-03T04:05:{second + 1:02}Z",
        "attributes": values,
        **members,
    }


def only(*spans: dict[str, Any]) -> list[Message]:
    [transcript] = read(otlp(*spans))
    return messages(transcript)


def text(role: str, words: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": words}]}


HI = text("user", "Make tea.")
CALL = {"type": "tool_call", "id": "k1", "name": "boil", "arguments": {"c": 90}}
CALLS = {"role": "assistant", "parts": [CALL]}
HOT = {
    "role": "tool",
    "parts": [{"type": "tool_call_response", "id": "k1", "response": "Hot."}],
}
YES = text("assistant", "Ready.")
CHAT = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m-1"}
FIRST = span(
    1,
    {
        **CHAT,
        "gen_ai.conversation.id": "c1",
        "gen_ai.system_instructions": json.dumps(
            [{"type": "text", "content": "Brief."}]
        ),
        "gen_ai.input.messages": json.dumps([HI]),
        "gen_ai.output.messages": json.dumps([CALLS]),
        "gen_ai.usage.input_tokens": 12,
        "gen_ai.usage.output_tokens": 5,
        "gen_ai.usage.cache_read.input_tokens": 8,
    },
)
LAST = span(
    4,
    {
        **CHAT,
        "gen_ai.system_instructions": [{"type": "text", "content": "Brief."}],
        "gen_ai.input.messages": [HI, CALLS, HOT],
        "gen_ai.output.messages": [{**YES, "finish_reason": "stop"}],
    },
)
TOOL = span(
    2,
    {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "boil",
        "gen_ai.tool.call.id": "k1",
        "gen_ai.tool.call.result": json.dumps({"c": 90}),
    },
)


def test_the_longest_request_of_a_conversation_is_it() -> None:
    [transcript] = read(otlp(LAST, TOOL, FIRST))
    system, human, call, result, answer = messages(transcript)

    assert (transcript.format, transcript.title) == ("otel", "Make tea.")
    assert (transcript.external_id, transcript.model) == ("c1", "m-1")
    assert (system.role, system.text, human.text) == ("system", "Brief.", "Make tea.")
    assert call.parts == (ToolCall("k1", "boil", {"c": 90}),)
    assert call.usage == Usage(input_tokens=12, output_tokens=5, cached_tokens=8)
    assert call.created_at is not None and call.created_at.timestamp() == START + 2
    assert result.parts == (ToolResult("k1", (Text("Hot."),)),)
    assert answer.text == "Ready."
    assert [i.type for i in transcript.items if isinstance(i, Event)] == ["tool/boil"]


def test_a_call_is_answered_by_the_span_of_its_tool() -> None:
    said = only(FIRST, TOOL)

    assert said[-1].parts == (ToolResult("k1", (Text('{"c": 90}'),), "boil"),)


def test_the_collector_writes_one_object_a_line() -> None:
    [transcript] = read(lines(otlp(FIRST), otlp(LAST)))

    assert len(messages(transcript)) == 5


def test_conversations_of_two_traces_are_two() -> None:
    other = span(9, {**CHAT, "gen_ai.input.messages": json.dumps([HI])}, traceId="t2")
    found = read(otlp(FIRST, other))

    assert [transcript.external_id for transcript in found] == ["c1", "t2"]


def test_messages_may_stand_in_an_event_of_their_span() -> None:
    held = {
        "gen_ai.input.messages": json.dumps([HI]),
        "gen_ai.output.messages": json.dumps([YES]),
    }
    event = {"name": "gen_ai.client.inference.operation.details"}
    said = only(span(1, CHAT, events=[{**event, "attributes": attributes(held)}]))

    assert [message.text for message in said] == ["Make tea.", "Ready."]


def test_messages_logged_one_by_one_are_read() -> None:
    def event(name: str, **values: Any) -> dict[str, Any]:
        return {"name": f"gen_ai.{name}", "attributes": attributes(values)}

    call = {
        "id": "k1",
        "function": {"name": "boil", "arguments": "{}"},
        "type": "function",
    }
    choice = json.dumps({"role": "assistant", "content": "Ready."})
    said = only(
        span(
            1,
            CHAT,
            events=[
                event("system.message", content="Brief."),
                event("user.message", event_body=json.dumps({"content": "Make tea."})),
                event("assistant.message", tool_calls=json.dumps([call])),
                event("tool.message", content="Hot.", id="k1"),
                event("choice", message=choice, index=0),
                {"name": "exception", "attributes": []},
            ],
        )
    )

    assert [m.role for m in said] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    assert said[3].parts == (ToolResult("k1", (Text("Hot."),)),)
    assert said[4].text == "Ready."


def test_the_prompt_may_be_the_content_of_an_event() -> None:
    def event(name: str, key: str, words: str) -> dict[str, Any]:
        values = {key: json.dumps([{"role": "user", "content": words}])}
        return {"name": name, "attributes": attributes(values)}

    answer = {"gen_ai.completion": json.dumps([{"content": "Ready."}])}
    said = only(
        span(
            1,
            CHAT,
            events=[
                event("gen_ai.content.prompt", "gen_ai.prompt", "Make tea."),
                {"name": "gen_ai.content.completion", "attributes": attributes(answer)},
            ],
        )
    )

    assert [(m.role, m.text) for m in said] == [
        ("user", "Make tea."),
        ("assistant", "Ready."),
    ]


def test_pydantic_ai_keeps_its_messages_in_an_attribute() -> None:
    logged = [
        {"event.name": "gen_ai.user.message", "role": "user", "content": "Make tea."},
        {
            "event.name": "gen_ai.choice",
            "message": {"role": "assistant", "content": "Ready."},
        },
        "odd",
    ]
    said = only(span(1, {**CHAT, "events": json.dumps(logged)}))

    assert [message.text for message in said] == ["Make tea.", "Ready."]


def test_openllmetry_numbers_its_messages() -> None:
    said = only(
        span(
            1,
            {
                "llm.request.type": "chat",
                "gen_ai.prompt.0.role": "user",
                "gen_ai.prompt.0.content": "Make tea.",
                "gen_ai.prompt.10.role": "tool",
                "gen_ai.prompt.10.content": "Hot.",
                "gen_ai.prompt.10.tool_call_id": "k1",
                "gen_ai.prompt.2.role": "assistant",
                "gen_ai.prompt.2.tool_calls.0.id": "k1",
                "gen_ai.prompt.2.tool_calls.0.name": "boil",
                "gen_ai.prompt.2.tool_calls.0.arguments": '{"c": 90}',
                "gen_ai.completion.0.content": "Ready.",
                "gen_ai.completion.0.finish_reason": "stop",
                "gen_ai.usage.prompt_tokens": 3,
            },
        )
    )

    assert [m.role for m in said] == ["user", "assistant", "tool", "assistant"]
    assert said[1].parts == (ToolCall("k1", "boil", {"c": 90}),)
    assert said[2].parts == (ToolResult("k1", (Text("Hot."),)),)
    assert said[3].usage == Usage(input_tokens=3)


IN, OUT = "llm.input_messages", "llm.output_messages"
OPENINFERENCE = {
    "openinference.span.kind": "LLM",
    "llm.model_name": "m-1",
    f"{IN}.0.message.role": "user",
    f"{IN}.0.message.contents.0.message_content.type": "text",
    f"{IN}.0.message.contents.0.message_content.text": "Make tea.",
    f"{IN}.0.message.contents.1.message_content.type": "image",
    f"{IN}.0.message.contents.1.message_content.image.image.url": "https://a.example/b.png",
    f"{OUT}.0.message.role": "assistant",
    f"{OUT}.0.message.tool_calls.0.tool_call.id": "k1",
    f"{OUT}.0.message.tool_calls.0.tool_call.function.name": "boil",
    f"{OUT}.0.message.tool_calls.0.tool_call.function.arguments": '{"c": 90}',
    "llm.token_count.prompt": "12",
    "llm.token_count.completion": 5,
}
NESTED = {
    "openinference": {"span": {"kind": "LLM"}},
    "llm": {
        "model_name": "m-1",
        "input_messages": [
            {
                "message": {
                    "role": "user",
                    "contents": [
                        {"message_content": {"type": "text", "text": "Make tea."}},
                        {
                            "message_content": {
                                "type": "image",
                                "image": {"image": {"url": "https://a.example/b.png"}},
                            }
                        },
                    ],
                }
            }
        ],
        "output_messages": [
            {
                "message": {
                    "role": "assistant",
                    "tool_calls": [
                        {
                            "tool_call": {
                                "id": "k1",
                                "function": {"name": "boil", "arguments": '{"c": 90}'},
                            }
                        }
                    ],
                }
            }
        ],
        "token_count": {"prompt": 12, "completion": 5},
    },
}
COLUMNS = {
    "context.trace_id": "t1",
    "context.span_id": "s1",
    "name": "n1",
    "start_time": "2026-02-03T04:05:06Z",
    **{f"attributes.{name}": value for name, value in OPENINFERENCE.items()},
    "attributes.none": None,
}


@pytest.mark.parametrize(
    "data",
    [
        [row(1, OPENINFERENCE)],
        {"data": [row(1, NESTED)]},
        lines(row(1, NESTED), row(2, {}, context={})),
        [COLUMNS],
        otlp(span(1, OPENINFERENCE)),
    ],
)
def test_openinference_reads_the_same_however_it_lies(data: Any) -> None:
    [transcript] = read(data)
    human, call = messages(transcript)

    assert human.parts == (
        Text("Make tea."),
        Image("image/*", url="https://a.example/b.png"),
    )
    assert call.parts == (ToolCall("k1", "boil", {"c": 90}),)
    assert call.usage == Usage(input_tokens=12, output_tokens=5)
    assert transcript.external_id == "t1"


def test_the_input_and_output_as_a_whole_count_last() -> None:
    values = {
        "openinference.span.kind": "LLM",
        "input.value": json.dumps(
            {"messages": [{"role": "user", "content": "Make tea."}]}
        ),
        "output.value": "Ready.",
    }
    agent = {
        "openinference.span.kind": "AGENT",
        "input.value": "x",
        "output.value": "y",
    }
    [transcript] = read(otlp(span(1, values), span(2, agent)))

    assert [message.text for message in messages(transcript)] == ["Make tea.", "Ready."]


def test_the_ai_sdk_s_spans_are_read() -> None:
    values = {
        "ai.operationId": "ai.generateText.doGenerate",
        "ai.model.id": "m-1",
        "ai.prompt.messages": json.dumps(
            [{"role": "user", "content": [{"type": "text", "text": "Make tea."}]}]
        ),
        "ai.response.text": "On it.",
        "ai.response.reasoning": "Hm.",
        "ai.response.toolCalls": json.dumps(
            [{"toolCallId": "k1", "toolName": "boil", "input": '{"c": 90}'}]
        ),
        "ai.usage.promptTokens": 3,
    }
    tool = {
        "ai.operationId": "ai.toolCall",
        "ai.toolCall.name": "boil",
        "ai.toolCall.id": "k1",
        "ai.toolCall.result": '"Hot."',
    }
    [transcript] = read(otlp(span(1, values), span(2, tool)))
    human, call, result = messages(transcript)

    assert (human.text, transcript.model) == ("Make tea.", "m-1")
    assert call.parts == (
        Thinking("Hm."),
        Text("On it."),
        ToolCall("k1", "boil", {"c": 90}),
    )
    assert result.parts == (ToolResult("k1", (Text("Hot."),), "boil"),)


def test_spans_without_messages_are_refused() -> None:
    with pytest.raises(Invalid, match="holds no messages"):
        read(otlp(span(1, {"http.method": "GET"})))
    with pytest.raises(Invalid, match="holds no messages"):
        read({"resourceSpans": {}})


def test_values_of_otlp_are_plain_again() -> None:
    value = {"a": [1, 2.5, True, "x"], "b": {}}

    assert otel_attributes.plain(otlp_value(value)) == value
    assert otel_attributes.plain({"intValue": "many"}) == "many"
    assert otel_attributes.plain({"bytesValue": "aGk="}) == "aGk="
    assert otel_attributes.plain({"other": 1}) is otel_attributes.plain(None) is None


def test_attributes_that_are_a_value_and_a_family_keep_both() -> None:
    assert otel_attributes.attributes({"a": 1, "a.b": 2}) == {"a": {"": 1, "b": 2}}
    assert otel_attributes.attributes({"a.b": 2, "a": 1}) == {"a": {"b": 2, "": 1}}
    assert otel_attributes.attributes({"a.b": 2, "a": {"c.d": 1}}) == {
        "a": {"b": 2, "c": {"d": 1}}
    }


def test_times_are_nanoseconds_or_text() -> None:
    found = otel._moment({"startTimeUnixNano": START * 10**9}, "startTimeUnixNano")

    assert found is not None and found.timestamp() == START
    assert otel._moment({"start_time": "soon"}, "start_time") is None


@settings(deadline=None, max_examples=40)
@given(json_values)
def test_whatever_a_span_holds_nothing_else_is_raised(value: Any) -> None:
    keys = (
        "gen_ai.input.messages",
        "llm.output_messages",
        "events",
        "gen_ai.prompt.0",
        "ai",
    )
    for key in keys:
        raw = json.dumps([row(1, {**CHAT, key: value}, events=value)]).encode()
        try:
            for transcript in otel.read(io.BytesIO(raw), ""):
                list(transcript.items)
        except Invalid:
            pass
