"""Traces in the conventions of others: Pydantic AI, OpenLLMetry, OpenInference, the AI SDK."""

import json
from typing import Any

import pytest

from tests.threads.support.readings import messages, read
from tests.threads.support.transcripts import lines
from threads.domain.message import Usage
from threads.domain.part import Image, Text, Thinking, ToolCall, ToolResult

from .otel_spans import CHAT, only, otlp, row, span


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


def test_the_ai_sdk_s_answer_may_be_an_object() -> None:
    asked = [{"role": "user", "content": [{"type": "text", "text": "Which tea?"}]}]
    said = only(
        span(
            1,
            {
                "ai.operationId": "ai.generateObject.doGenerate",
                "ai.model.id": "m-1",
                "ai.prompt.messages": json.dumps(asked),
                "ai.response.object": '{"tea": "green"}',
            },
        )
    )

    assert [message.text for message in said] == ["Which tea?", '{"tea": "green"}']
