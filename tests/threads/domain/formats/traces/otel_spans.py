"""Spans of OpenTelemetry, built and read by tests."""

from typing import Any

from tests.threads.support.readings import messages, read
from threads.domain.message import Message

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
    """An OTLP span at a second, named after it."""
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
    """A span as exporters write it, one per line."""
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
