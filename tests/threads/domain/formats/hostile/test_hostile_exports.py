"""Exports, logs and traces of any content: conversations or a refusal, never anything else."""

import io
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.strategies import json_values
from threads.domain import formats
from threads.domain.body import encode_parts
from threads.domain.message import Message

HI = {"role": "user", "content": "Make tea."}
CALL = {"id": "k1", "function": {"name": "boil", "arguments": '{"c": 90}'}}
CALLS = {"role": "assistant", "content": "", "tool_calls": [CALL]}


def node(parent: str | None, role: str, content: Any, **members: Any) -> dict[str, Any]:
    message = {"author": {"role": role, "name": "web"}, "content": content, **members}
    return {
        "parent": parent,
        "message": {"create_time": 1.5, "metadata": {}, **message},
    }


def text(*parts: Any) -> dict[str, Any]:
    return {"content_type": "multimodal_text", "parts": list(parts)}


CHATGPT = {
    "conversation_id": "c",
    "title": "Tea",
    "current_node": "r",
    "mapping": {
        "q": node(None, "user", text("Which?", {"asset_pointer": "sediment://file_1"})),
        "a": node("q", "assistant", text("x"), recipient="web"),
        "r": node("a", "tool", {"content_type": "sonic_webpage", "text": "y"}),
        "b": node("q", "assistant", {"content_type": "thoughts", "thoughts": [{}]}),
        "c": node("b", "assistant", text("Green.")),
    },
}
CLAUDE_AI = {
    "uuid": "c",
    "chat_messages": [
        {
            "uuid": "m1",
            "sender": "human",
            "text": "Which?",
            "attachments": [{"file_name": "a", "extracted_content": "b"}],
            "files": [{"file_name": "c"}],
        },
        {
            "uuid": "m2",
            "sender": "assistant",
            "parent_message_uuid": "m1",
            "content": [
                {"type": "thinking", "thinking": "Hm."},
                {"type": "tool_use", "name": "web", "input": {}},
                {"type": "tool_result", "content": [{"type": "text", "text": "x"}]},
            ],
        },
    ],
}
INSPECT = {
    "version": 2,
    "status": "success",
    "eval": {"task": "brew"},
    "samples": [
        {
            "id": 1,
            "epoch": 1,
            "input": "Make tea.",
            "target": "",
            "messages": [{"role": "user", "content": "attachment://a"}],
            "events": [{"event": "model", "output": {"choices": [], "usage": {}}}],
            "attachments": {"a": "Make tea."},
        }
    ],
}
SHAREGPT = {
    "id": 1,
    "system": "Brief.",
    "conversations": [
        {"from": "human", "value": "Make tea."},
        {"from": "function_call", "value": '{"name": "boil"}'},
        {"from": "observation", "value": "Hot."},
    ],
}
LANGCHAIN = [
    {"type": "human", "data": {"content": "Make tea."}},
    {"lc": 1, "type": "constructor", "id": ["AIMessage"], "kwargs": {"content": ["x"]}},
    {"type": "tool", "content": "Hot.", "tool_call_id": "k1"},
]
LANGFUSE = {
    "trace": {"id": "t"},
    "observations": [
        {
            "id": "o",
            "type": "GENERATION",
            "startTime": "2026-02-03T04:05:06Z",
            "input": json.dumps([HI]),
            "output": CALLS,
            "usageDetails": {"input": 3},
        },
        {"id": "p", "type": "TOOL", "name": "boil", "output": "Hot."},
    ],
}
OTEL = [
    {
        "name": "chat",
        "context": {"trace_id": "t", "span_id": "s"},
        "start_time": "2026-02-03T04:05:06Z",
        "attributes": {
            "gen_ai.operation.name": "chat",
            "gen_ai.input.messages": json.dumps([HI]),
            "gen_ai.completion.0.content": "Ready.",
            "gen_ai.usage.input_tokens": 3,
        },
        "events": [{"name": "gen_ai.choice", "attributes": {"message": CALLS}}],
    }
]
SEEDS: dict[str, Any] = {
    "chatgpt": CHATGPT,
    "claude_ai": CLAUDE_AI,
    "inspect": INSPECT,
    "sharegpt": SHAREGPT,
    "langchain": LANGCHAIN,
    "langfuse": LANGFUSE,
    "otel": OTEL,
}


def places(value: Any) -> list[tuple[Any, Any]]:
    """Each container in a value with each of its keys."""
    if isinstance(value, dict):
        keys: list[Any] = list(value)
    else:
        keys = list(range(len(value))) if isinstance(value, list) else []
    found = [(value, key) for key in keys]
    return found + [place for key in keys for place in places(value[key])]


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(sorted(SEEDS)), st.booleans(), st.data())
def test_a_file_of_any_content_is_read_or_refused(
    name: str, is_said: bool, data: st.DataObject
) -> None:
    value = json.loads(json.dumps([SEEDS[name]]))
    for _ in range(data.draw(st.integers(1, 2))):
        holder, key = data.draw(st.sampled_from(places(value)))
        holder[key] = data.draw(json_values)
    is_list = name not in ("inspect", "langchain")
    raw = json.dumps(value if is_list else value[0]).encode()
    cut = data.draw(st.integers(0, 9))
    try:
        found = formats.read(
            io.BytesIO(raw[: len(raw) - cut]), name if is_said else "auto"
        )
    except Invalid as refusal:
        assert refusal.message.endswith(".") and refusal.code
        return
    for transcript in found:
        items = list(transcript.items)
        assert items == list(transcript.items)
        messages = [item for item in items if isinstance(item, Message)]
        assert messages
        for message in messages:
            assert message.records
            encode_parts(message.parts)
