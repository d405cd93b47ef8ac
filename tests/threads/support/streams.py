"""Streamed replies of providers, for tests."""

import json
from typing import Any


def as_sse(*events: Any) -> bytes:
    """Server-sent events: strings unchanged, anything else as JSON."""
    pieces = []
    for event in events:
        named = isinstance(event, dict) and "type" in event
        head = f"event: {event['type']}\n" if named else ""
        data = event if isinstance(event, str) else json.dumps(event)
        pieces.append(f"{head}data: {data}\n\n")
    return "".join(pieces).encode()


def chunk(delta: dict[str, Any], id_: str = "c-1", **choice: Any) -> dict[str, Any]:
    """A chunk of Chat Completions."""
    choices = [{"index": 0, "delta": delta, **choice}]
    head = {"id": id_, "object": "chat.completion.chunk", "model": "m-1"}
    return {**head, "created": 1_757_015_046, "choices": choices}


def chat(text: str = "At the old pier.", id_: str = "c-1") -> list[Any]:
    """A reply of Chat Completions, with its usage at the end."""
    first, _, rest = text.partition(" ")
    usage = {"prompt_tokens": 9, "completion_tokens": 4}
    return [
        chunk({"role": "assistant", "content": ""}, id_),
        chunk({"content": first}, id_),
        chunk({"content": f" {rest}"}, id_),
        chunk({}, id_, finish_reason="stop"),
        {"id": id_, "object": "chat.completion.chunk", "choices": [], "usage": usage},
        "[DONE]",
    ]


def anthropic(text: str = "At the old pier.") -> list[dict[str, Any]]:
    """A reply of Anthropic, with a thought and a call."""
    usage = {"input_tokens": 5, "cache_read_input_tokens": 2, "output_tokens": 1}
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m-2"}
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = [
        (
            {"type": "thinking", "thinking": ""},
            [
                {"type": "thinking_delta", "thinking": "The pier."},
                {"type": "signature_delta", "signature": "s"},
            ],
        ),
        (
            {"type": "text", "text": ""},
            [
                {"type": "text_delta", "text": text[:4]},
                {"type": "text_delta", "text": text[4:]},
                {"type": "citations_delta", "citation": {"n": 1}},
                {"type": "other_delta"},
            ],
        ),
        (
            {"type": "tool_use", "id": "t1", "name": "look", "input": {}},
            [
                {"type": "input_json_delta", "partial_json": '{"at"'},
                {"type": "input_json_delta", "partial_json": ": 1}"},
            ],
        ),
    ]
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**head, "content": [], "usage": usage}},
        {"type": "ping"},
    ]
    for index, (block, deltas) in enumerate(blocks):
        start = {"type": "content_block_start", "index": index}
        events.append({**start, "content_block": block})
        delta = {"type": "content_block_delta", "index": index}
        events += [{**delta, "delta": one} for one in deltas]
        events.append({"type": "content_block_stop", "index": index})
    end = {"delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 7}}
    return [*events, {"type": "message_delta", **end}, {"type": "message_stop"}]


def responses(text: str = "At the old pier.") -> list[dict[str, Any]]:
    """A reply of OpenAI's Responses, complete in its last event."""
    message = {
        "type": "message",
        "id": "i1",
        "role": "assistant",
        "content": [{"type": "output_text", "text": text}],
    }
    response = {"id": "resp_1", "object": "response", "model": "m-3", "output": []}
    usage = {"input_tokens": 6, "output_tokens": 3}
    return [
        {"type": "response.created", "response": response},
        {"type": "response.output_item.added", "output_index": 0, "item": {}},
        {"type": "response.output_text.delta", "output_index": 0, "delta": text},
        {"type": "response.output_item.done", "output_index": 0, "item": message},
        {
            "type": "response.completed",
            "response": {**response, "output": [message], "usage": usage},
        },
    ]


def gemini(text: str = "At the old pier.") -> list[dict[str, Any]]:
    """A reply of Gemini, in two chunks and a call."""
    found = []
    call = {"functionCall": {"name": "look", "args": {"at": 1}}}
    for parts in ([{"text": text[:4]}], [{"text": text[4:]}], [call]):
        content = {"role": "model", "parts": parts}
        found.append({"candidates": [{"content": content}], "responseId": "g-1"})
    usage = {"promptTokenCount": 8, "candidatesTokenCount": 4}
    found[-1]["candidates"][0]["finishReason"] = "STOP"
    found[-1] |= {"usageMetadata": usage, "modelVersion": "m-4"}
    return found
