"""The counted texts of a provider's request, read from its JSON without the product's code.

A text counts as it is. For a call, its name and its arguments as JSON count; for a block specific
to its provider, its JSON. Images and files contain no text and are skipped.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any


def tokens_of(
    provider: str, request: Mapping[str, Any], count: Callable[[str], int]
) -> int:
    """The tokens of a request's own texts, without the estimates for media."""
    read = _READERS.get(provider, _chat)
    return sum(map(count, read(request)))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _call(name: str, arguments: Any) -> Iterator[str]:
    yield name
    yield arguments if isinstance(arguments, str) else _json(arguments)


def _chat(request: Mapping[str, Any]) -> Iterator[str]:
    for message in request["messages"]:
        yield message.get("reasoning_content") or ""
        content = message["content"]
        blocks = [content] if isinstance(content, str) else content or []
        for block in blocks:
            match block:
                case str():
                    yield block
                case {"type": "text"}:
                    yield block["text"]
                case {"type": "image_url"}:
                    pass
                case {"type": "file", "file": {"file_data": _}}:
                    pass
                case _:
                    yield _json(block)
        for call in message.get("tool_calls", ()):
            function = call["function"]
            yield from _call(function["name"], function["arguments"])


def _anthropic(request: Mapping[str, Any]) -> Iterator[str]:
    yield request.get("system", "")
    for message in request["messages"]:
        yield from _blocks(message["content"])


def _blocks(content: Any) -> Iterator[str]:
    for block in [content] if isinstance(content, str) else content:
        match block:
            case str():
                yield block
            case {"type": "text"}:
                yield block["text"]
            case {"type": "thinking"}:
                yield block["thinking"]
            case {"type": "redacted_thinking"}:
                pass
            case {"type": "tool_use"}:
                yield from _call(block["name"], block["input"])
            case {"type": "tool_result"}:
                yield from _blocks(block.get("content", ""))
            case {"type": "image", "source": {"type": "base64" | "url"}}:
                pass
            case {"type": "document", "source": {"type": "base64" | "url" | "text"}}:
                pass
            case _:
                yield _json(block)


def _gemini(request: Mapping[str, Any]) -> Iterator[str]:
    for part in request.get("systemInstruction", {}).get("parts", ()):
        yield part["text"]
    for content in request["contents"]:
        for part in content["parts"]:
            match part:
                case {"text": text}:
                    yield text
                case {"functionCall": call}:
                    yield from _call(call["name"], call["args"])
                case {"functionResponse": response}:
                    yield from response["response"].values()
                case {"inlineData": _} | {"fileData": _}:
                    pass
                case _:
                    yield _json(part)


def _bedrock(request: Mapping[str, Any]) -> Iterator[str]:
    contents = (message["content"] for message in request["messages"])
    for block in chain(request.get("system", ()), *contents):
        match block:
            case {"text": text}:
                yield text
            case {"reasoningContent": reasoning}:
                yield reasoning.get("reasoningText", {}).get("text", "")
            case {"toolUse": call}:
                yield from _call(call["name"], call["input"])
            case {"toolResult": result}:
                yield from (one["text"] for one in result["content"])
            case {"image": _}:
                pass
            case {"document": _}:
                pass


def _responses(request: Mapping[str, Any]) -> Iterator[str]:
    yield request.get("instructions", "")
    for item in request["input"]:
        match item:
            case {"type": "function_call"}:
                yield from _call(item["name"], item["arguments"])
            case {"type": "custom_tool_call"}:
                yield from _call(item["name"], item["input"])
            case {"type": "function_call_output" | "custom_tool_call_output"}:
                yield from _items(item["output"])
            case {"type": "reasoning"}:
                yield from (one["text"] for one in item["summary"])
            case {"content": content}:
                yield from _items(content)
            case _:
                yield _json(item)


def _items(content: Any) -> Iterator[str]:
    for block in [content] if isinstance(content, str) else content:
        match block:
            case str():
                yield block
            case {"type": "input_text" | "output_text"}:
                yield block["text"]
            case {"type": "input_image", "image_url": _}:
                pass
            case {"type": "input_file", "file_url": _} | {
                "type": "input_file",
                "file_data": _,
            }:
                pass
            case _:
                yield _json(block)


_READERS: Mapping[str, Callable[[Mapping[str, Any]], Iterator[str]]] = {
    "anthropic": _anthropic,
    "bedrock": _bedrock,
    "gemini": _gemini,
    "openai-responses": _responses,
}
