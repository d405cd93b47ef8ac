"""The local provider's answers, in each provider's form, whole or streamed."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

MODEL = "gpt-4o-mini"
USAGE = {"in": 40, "cached": 16, "out": 9}


class Said(NamedTuple):
    """An answer: text, the city for the weather tool, and calls of other tools."""

    text: str
    city: str = ""
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()
    first: int = 1
    """The number of its first call."""
    name: str = "1"
    """The suffix of the ids of a response and its items."""
    thinks: bool = False
    """Whether reasoning without text precedes it, as stored by its provider."""
    runs: str = ""
    """A command that the provider's own shell ran before (Responses)."""

    @property
    def called(self) -> list[tuple[int, str, dict[str, Any]]]:
        """All calls, numbered."""
        weather = [("get_weather", {"city": self.city})] if self.city else []
        named = enumerate([*self.calls, *weather], start=self.first)
        return [(number, name, given) for number, (name, given) in named]


def _halves(given: dict[str, Any]) -> tuple[str, str]:
    text = json.dumps(given)
    return text[:9], text[9:]


Answer = tuple[str, list[bytes]]
"""A content type, and a body in pieces."""


def answer_of(path: str, body: Any, said: Said) -> Answer:
    """The answer to a request."""
    path, _, query = path.partition("?")
    if path.endswith("/count_tokens"):
        return _whole({"input_tokens": 123})
    if path.endswith(":countTokens"):
        return _whole({"totalTokens": 123})
    if path.endswith("/chat/completions"):
        return _chat(body, said)
    if path.endswith("/messages"):
        return _anthropic(body, said)
    if path.endswith("/responses"):
        return _responses(body, said)
    if "Content" in path:
        return _gemini("streamGenerate" in path, "alt=sse" in query, said)
    return _whole({"echo": body})


def _whole(value: Any) -> Answer:
    return "application/json", [json.dumps(value).encode()]


def _words(said: Said) -> Iterator[str]:
    """The words one by one, as models stream them."""
    for place, word in enumerate(said.text.split(" ")):
        yield word if place == 0 else f" {word}"


def _events(values: list[Any], *, named: bool = False, done: bool = False) -> Answer:
    pieces = []
    for value in values:
        name = f"event: {value['type']}\n" if named else ""
        pieces.append(f"{name}data: {json.dumps(value)}\n\n".encode())
    if done:
        pieces.append(b"data: [DONE]\n\n")
    return "text/event-stream; charset=utf-8", pieces


def _chat(body: Any, said: Said) -> Answer:
    usage = {
        "prompt_tokens": USAGE["in"],
        "completion_tokens": USAGE["out"],
        "total_tokens": USAGE["in"] + USAGE["out"],
        "prompt_tokens_details": {"cached_tokens": USAGE["cached"]},
    }
    calls = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(given)},
        }
        for number, name, given in said.called
    ]
    head = {"id": "chatcmpl-1", "created": 1_700_000_000, "model": MODEL}
    reason = "tool_calls" if calls else "stop"
    if not body.get("stream"):
        message: dict[str, Any] = {"role": "assistant", "content": said.text}
        if calls:
            message["tool_calls"] = calls
        choice = {"index": 0, "message": message, "finish_reason": reason}
        return _whole(
            head | {"object": "chat.completion", "choices": [choice], "usage": usage}
        )

    def chunk(delta: Any, reason: str | None = None) -> Any:
        choices = [{"index": 0, "delta": delta, "finish_reason": reason}]
        return head | {"object": "chat.completion.chunk", "choices": choices}

    chunks = [chunk({"role": "assistant", "content": ""})]
    chunks += [chunk({"content": word}) for word in _words(said)]
    for at, (number, name, given) in enumerate(said.called):
        named = {"id": f"call_{number}", "type": "function", "index": at}
        function = {"name": name, "arguments": ""}
        chunks.append(chunk({"tool_calls": [named | {"function": function}]}))
        for piece in _halves(given):
            more = {"index": at, "function": {"arguments": piece}}
            chunks.append(chunk({"tool_calls": [more]}))
    chunks.append(chunk({}, reason))
    if (body.get("stream_options") or {}).get("include_usage"):
        chunks.append(chunk({}) | {"choices": [], "usage": usage})
    return _events(chunks, done=True)


def _anthropic(body: Any, said: Said) -> Answer:
    usage = {
        "input_tokens": USAGE["in"] - USAGE["cached"],
        "cache_read_input_tokens": USAGE["cached"],
        "cache_creation_input_tokens": 0,
        "output_tokens": USAGE["out"],
    }
    reason = "tool_use" if said.called else "end_turn"
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": MODEL}
    calls = [
        {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": given}
        for number, name, given in said.called
    ]
    if not body.get("stream"):
        content: list[Any] = [{"type": "text", "text": said.text}, *calls]
        ended = {"content": content, "stop_reason": reason, "stop_sequence": None}
        return _whole(head | ended | {"usage": usage})
    begun = {"content": [], "stop_reason": None, "stop_sequence": None}
    events: list[Any] = [
        {"type": "message_start", "message": head | begun | {"usage": usage}},
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "text", "text": ""},
        },
        {"type": "ping"},
    ]

    def delta(index: int, **given: str) -> Any:
        return {"type": "content_block_delta", "index": index, "delta": given}

    events += [delta(0, type="text_delta", text=word) for word in _words(said)]
    events.append({"type": "content_block_stop", "index": 0})
    for index, call in enumerate(calls, start=1):
        block = call | {"input": {}}
        events.append(
            {"type": "content_block_start", "index": index, "content_block": block}
        )
        for piece in ("", *_halves(call["input"])):
            events.append(delta(index, type="input_json_delta", partial_json=piece))
        events.append({"type": "content_block_stop", "index": index})
    ended = {"stop_reason": reason, "stop_sequence": None}
    out = {"output_tokens": USAGE["out"]}
    events.append({"type": "message_delta", "delta": ended, "usage": out})
    events.append({"type": "message_stop"})
    return _events(events, named=True)


def _responses(body: Any, said: Said) -> Answer:
    usage = {
        "input_tokens": USAGE["in"],
        "input_tokens_details": {"cached_tokens": USAGE["cached"]},
        "output_tokens": USAGE["out"],
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": USAGE["in"] + USAGE["out"],
    }
    text = {"type": "output_text", "text": said.text, "annotations": []}
    item = {
        "type": "message",
        "id": f"msg_{said.name}",
        "role": "assistant",
        "status": "completed",
    }
    output: list[Any] = [item | {"content": [text]}]
    if said.thinks:
        thought = {"type": "reasoning", "id": f"rs_{said.name}", "summary": []}
        output.insert(0, thought)
    if said.runs:
        output[:0] = ran(said.runs)
    for number, name, given in said.called:
        call = {
            "type": "function_call",
            "id": f"fc_{number}",
            "call_id": f"call_{number}",
        }
        named = {"name": name, "arguments": json.dumps(given), "status": "completed"}
        output.append(call | named)
    response = {
        "id": f"resp_{said.name}",
        "object": "response",
        "created_at": 1_700_000_000,
        "status": "completed",
        "model": MODEL,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": usage,
    }
    if not body.get("stream"):
        return _whole(response)
    begun = response | {"status": "in_progress", "output": [], "usage": None}
    events: list[Any] = [{"type": "response.created", "response": begun}]
    for place, whole in enumerate(output):
        at = {"output_index": place, "item_id": whole["id"]}
        empty = {"content": []} if "content" in whole else {"arguments": ""}
        started = whole | empty | {"status": "in_progress"}
        events.append({"type": "response.output_item.added", **at, "item": started})
        if not {"content", "arguments"} & whole.keys():
            events.append({"type": "response.output_item.done", **at, "item": whole})
            continue
        if "content" in whole:
            part = text | {"text": ""}
            inner = at | {"content_index": 0}
            events.append(
                {"type": "response.content_part.added", **inner, "part": part}
            )
            pieces = {"type": "response.output_text.delta", **inner, "logprobs": []}
            events += [pieces | {"delta": word} for word in _words(said)]
            events.append(
                {
                    "type": "response.output_text.done",
                    **inner,
                    "text": said.text,
                    "logprobs": [],
                }
            )
            events.append({"type": "response.content_part.done", **inner, "part": text})
        else:
            kind = "response.function_call_arguments"
            events.append({"type": f"{kind}.delta", **at, "delta": whole["arguments"]})
            events.append(
                {"type": f"{kind}.done", **at, "arguments": whole["arguments"]}
            )
        events.append({"type": "response.output_item.done", **at, "item": whole})
    events.append({"type": "response.completed", "response": response})
    numbered = [event | {"sequence_number": n} for n, event in enumerate(events)]
    return _events(numbered, named=True)


def ran(command: str) -> list[dict[str, Any]]:
    """The items for a command that the provider ran, and for its output."""
    of = {"call_id": "call_sh", "status": "completed"}
    outcome = {"type": "exit", "exit_code": 0}
    printed = {"stdout": "pier.txt\n", "stderr": "", "outcome": outcome}
    action = {"commands": [command], "timeout_ms": None}
    return [
        {"type": "shell_call", "id": "sh_1", **of, "action": action},
        {"type": "shell_call_output", "id": "sho_1", **of, "output": [printed]},
    ]


def _gemini(streams: bool, is_sse: bool, said: Said) -> Answer:
    usage = {
        "promptTokenCount": USAGE["in"],
        "cachedContentTokenCount": USAGE["cached"],
        "candidatesTokenCount": USAGE["out"],
        "totalTokenCount": USAGE["in"] + USAGE["out"],
    }

    def response(parts: list[Any], *, ended: bool) -> Any:
        candidate: dict[str, Any] = {
            "content": {"role": "model", "parts": parts},
            "index": 0,
        }
        found = {"candidates": [candidate], "modelVersion": "gemini-2.5-flash"}
        if ended:
            candidate["finishReason"] = "STOP"
        return found | {"usageMetadata": usage, "responseId": "r1"}

    calls = [
        {"functionCall": {"name": name, "args": given}}
        for _, name, given in said.called
    ]
    if not streams:
        return _whole(response([{"text": said.text}, *calls], ended=True))
    texts = [[{"text": word}] for word in _words(said)]
    *pieces, last = [*texts, calls] if calls else texts
    chunks = [response(piece, ended=False) for piece in pieces]
    chunks.append(response(last, ended=True))
    if is_sse:
        return _events(chunks)
    pieces = [
        (b"[" if n == 0 else b",\r\n") + json.dumps(c).encode()
        for n, c in enumerate(chunks)
    ]
    return "application/json; charset=UTF-8", [*pieces, b"]"]
