"""Traces of OpenTelemetry in its own convention for models."""

import io
import json
from typing import Any

import pytest
from hypothesis import given, settings

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.readings import messages, read
from tests.threads.support.strategies import json_values
from tests.threads.support.transcripts import lines
from threads.domain.formats.traces import otel
from threads.domain.message import Usage
from threads.domain.part import Text, ToolCall, ToolResult
from threads.domain.transcript import Event

from .otel_spans import (
    CALLS,
    CHAT,
    HI,
    HOT,
    START,
    YES,
    attributes,
    only,
    otlp,
    row,
    span,
)

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


def test_spans_without_messages_are_refused() -> None:
    with pytest.raises(Invalid, match="holds no messages"):
        read(otlp(span(1, {"http.method": "GET"})))
    with pytest.raises(Invalid, match="holds no messages"):
        read({"resourceSpans": {}})


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
