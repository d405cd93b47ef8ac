"""Translates the events of other streams into the similar forms that are read.

Ollama's chunks and Cohere's events become Chat Completions chunks; the events of Bedrock's Converse
become Anthropic's.

Sources: github.com/ollama/ollama, `docs/api.md`; docs.cohere.com/v2/docs/streaming;
docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStreamOutput.html.
"""

from collections.abc import Iterator
from typing import Any

from threads.domain.formats.io import fields, json_text
from threads.domain.part import JSON

Form = dict[str, Any]
_ASKING = frozenset({"messages", "prompt", "request", "input"})
"""Members of a log of questions and answers, which isn't a stream."""
_OF_COHERE = frozenset(
    {"message-start", "content-start", "content-delta", "tool-plan-delta"}
    | {"tool-call-start", "tool-call-delta", "message-end"}
)
_PADDING = frozenset({"p"})
"""The padding by which Bedrock hides the length of an event."""
_COUNTS = {
    "input_tokens": "inputTokens",
    "output_tokens": "outputTokens",
    "cache_read_input_tokens": "cacheReadInputTokens",
    "cache_creation_input_tokens": "cacheWriteInputTokens",
}


class KnownEvents:
    """Translates the events of a file, one after the other."""

    def __init__(self) -> None:
        self._calls = 0
        """The number of calls so far, used for ids of calls without one."""

    def of(self, event: JSON) -> Form | None:
        """The translated event; None if it is in none of these forms."""
        if not isinstance(event, dict):
            return None
        if isinstance(event.get("done"), bool) and fields.text(event, "model"):
            return self._ollama(event) if _ASKING.isdisjoint(event) else None
        if fields.text(event, "type") in _OF_COHERE:
            return _cohere(event)
        return _bedrock(fields.mapping(event, "event") or event)

    def _ollama(self, event: Form) -> Form | None:
        said = fields.mapping(event, "message")
        words = fields.text(said, "content") or fields.text(event, "response")
        is_said = fields.text(said, "role") == "assistant" or "response" in event
        if not (is_said or "total_duration" in event):
            return None
        delta: Form = {"content": words} if words else {}
        if thoughts := fields.text(said or event, "thinking"):
            delta["reasoning_content"] = thoughts
        if calls := fields.items(said, "tool_calls"):
            delta["tool_calls"] = [*self._of_ollama(calls)]
        if not event["done"]:
            return _chunk(event, delta)
        counts = ("prompt_eval_count", "eval_count")
        usage = _usage(event, *counts) if "eval_count" in event else None
        return _chunk(event, delta, usage, fields.text(event, "done_reason") or "stop")

    def _of_ollama(self, calls: list[JSON]) -> Iterator[Form]:
        """Ollama's calls, each of which comes whole, and usually without an id."""
        for call in map(fields.mapping, calls):
            self._calls += 1
            function = fields.mapping(call, "function")
            given = json_text.dump(function.get("arguments") or {}).decode()
            yield {
                "index": self._calls,
                "id": fields.text(call, "id") or f"call_{self._calls}",
                "function": {"name": fields.text(function, "name"), "arguments": given},
            }


def ends(event: JSON) -> bool:
    """Whether an untranslated event is the last of its reply."""
    return fields.mapping(event).get("done") is True


def _chunk(
    event: Form, delta: Form, usage: Form | None = None, reason: str | None = None
) -> Form:
    """A chunk of Chat Completions."""
    return {
        "object": "chat.completion.chunk",
        "id": event.get("id"),
        "model": event.get("model"),
        "created": event.get("created_at"),
        "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
        "usage": usage,
    }


def _usage(counted: JSON, asked: str, said: str) -> Form:
    return {
        "prompt_tokens": fields.count(counted, asked),
        "completion_tokens": fields.count(counted, said),
    }


def _cohere(event: Form) -> Form | None:
    delta = fields.mapping(event, "delta")
    if event["type"] == "message-end":
        tokens = fields.mapping(fields.mapping(delta, "usage"), "tokens")
        usage = _usage(tokens, "input_tokens", "output_tokens") if tokens else None
        return _chunk(event, {}, usage, fields.text(delta, "finish_reason") or "stop")
    message = fields.mapping(delta, "message")
    if not message:
        return None
    block, called = fields.mapping(message, "content"), message.get("tool_calls")
    said: Form = {"content": block.get("text") or message.get("tool_plan")}
    if thoughts := fields.text(block, "thinking"):
        said["reasoning_content"] = thoughts
    index = fields.count(event, "index")
    calls = map(fields.mapping, called if isinstance(called, list) else [called])
    said["tool_calls"] = [{**call, "index": index} for call in calls if call]
    return _chunk(event, said)


def _bedrock(event: Form) -> Form | None:
    kind, *others = event.keys() - _PADDING or ("",)
    held = fields.mapping(event, kind)
    if others or kind not in _BEDROCK or (kind == "metadata" and "usage" not in held):
        return None
    return {"index": fields.count(held, "contentBlockIndex"), **_BEDROCK[kind](held)}


def _begun(held: Form) -> Form:
    use = fields.mapping(fields.mapping(held, "start"), "toolUse")
    if not use:  # a text block, which its first delta begins
        return {"type": "content_block_start"}
    block = {"type": "tool_use", "id": use.get("toolUseId"), "name": use.get("name")}
    return {"type": "content_block_start", "content_block": block}


def _piece(held: Form) -> Form:
    delta = fields.mapping(held, "delta")
    thoughts = fields.mapping(delta, "reasoningContent")
    if use := fields.mapping(delta, "toolUse"):
        piece = {"type": "input_json_delta", "partial_json": use.get("input")}
    elif "signature" in thoughts:
        piece = {"type": "signature_delta", "signature": thoughts["signature"]}
    elif thoughts:
        piece = {"type": "thinking_delta", "thinking": thoughts.get("text")}
    else:
        piece = {"type": "text_delta", "text": delta.get("text")}
    return {"type": "content_block_delta", "delta": piece}


def _counted(held: Form) -> Form:
    usage = fields.mapping(held, "usage")
    counts = {name: fields.count(usage, theirs) for name, theirs in _COUNTS.items()}
    return {"type": "message_delta", "usage": counts if usage else None}


_BEDROCK = {
    "messageStart": lambda held: {"type": "message_start", "message": {**held}},
    "contentBlockStart": _begun,
    "contentBlockDelta": _piece,
    "contentBlockStop": lambda _held: {"type": "content_block_stop"},
    "messageStop": lambda held: {
        "type": "message_delta",
        "delta": {"stop_reason": held.get("stopReason")},
    },
    "metadata": _counted,
}
"""Map of the only member of an event to its translator."""
