"""Converts messages in files that are close to the published form into that form.

Files come from many programs. A message may be in a member `message` of its own, or its content in
`text`; a call may have its name beside its id instead of in a `function`; a tool's result may be an
object. Bedrock's Converse has blocks without a type, named by their only member; some data sets
hold the content of a block in `value`, whatever its type. A text of OpenAI's Assistants has its
content in `value`, beside its citations. A door that takes requests is stricter and reads none of
this.

Sources: platform.openai.com/docs/api-reference/messages;
docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ContentBlock.html;
github.com/hiyouga/LLaMA-Factory, `data/v1_sft_demo.jsonl`.
"""

from collections.abc import Callable
from typing import Any

from threads.domain.formats.arguments import object_of, parsed
from threads.domain.formats.emptiness import SPEECH_MEMBERS
from threads.domain.formats.io import base64_text, fields, json_text
from threads.domain.part import JSON

Block = dict[str, Any]
SPOKEN = frozenset({"content", *SPEECH_MEMBERS})
"""Members of which every message has at least one; notes about a message have none."""
_NAMES = ("name", "tool", "tool_name", "toolName")
_ARGUMENTS = ("arguments", "args", "input", "parameters", "arguments_json")
_IDS = ("id", "call_id", "tool_call_id", "toolCallId")


def is_message(record: dict[str, Any]) -> bool:
    """Whether a record with a role is a message, not just notes about one."""
    return len(record) == 1 or not SPOKEN.isdisjoint(record)


def with_content(record: dict[str, Any]) -> dict[str, Any]:
    """The record with its content moved to `content`, if it is elsewhere; else the record."""
    inner = record.get("message")
    if isinstance(inner, dict) and "content" in inner:
        return record | inner | {"role": record["role"]}
    if isinstance(inner, str):
        return record | {"content": inner}
    if isinstance(record.get("text"), str):
        return record | {"content": record["text"]}
    return record


def with_ollama(record: dict[str, Any]) -> dict[str, Any]:
    """The record with Ollama's images and thinking in the published members; else the record."""
    found = record
    content = record.get("content")
    pictures = [
        one for one in fields.items(record, "images") if base64_text.decode(one)
    ]
    if pictures and isinstance(content, str):
        urls = [{"url": f"data:image/*;base64,{one}"} for one in pictures]
        images = [{"type": "image_url", "image_url": url} for url in urls]
        found = found | {"content": [{"type": "text", "text": content}, *images]}
    if thoughts := fields.text(record, "thinking"):
        found = {"reasoning_content": thoughts} | found
    return found


def normalized(record: dict[str, Any]) -> dict[str, Any]:
    """A message that could not be read as it is, with its parts in the published form.

    A call that names no tool becomes a block of an unknown type, so that it is kept whole; so does
    a result inside a call.
    """
    content = normalized_content(record.get("content"))
    if isinstance(content, dict):
        is_block = isinstance(content.get("type"), str)
        content = [content] if is_block else json_text.decode(json_text.dump(content))
    calls = record.get("tool_calls")
    if not isinstance(calls, list):
        return record | {"content": content}
    read = [_call(call) for call in calls]
    unread = [
        {"type": "tool_call", "tool_call": given}
        for given, call in zip(calls, read, strict=True)
        if call is None
    ]
    unread += [
        {"type": "tool_output", "tool_output": given["output"]}
        for given, call in zip(calls, read, strict=True)
        if call is not None and call is not given and given.get("output")
    ]
    if unread:
        said = [content] if isinstance(content, str) and content else content or []
        content = [*said, *unread] if isinstance(said, list) else content
    return record | {
        "content": content,
        "tool_calls": [call for call in read if call is not None],
    }


def reply_in(response: JSON) -> dict[str, Any] | None:
    """The message of a response of any provider; None if it isn't a response.

    LiteLLM logs its responses to Anthropic's requests in OpenAI's form.
    """
    choice = next(iter(fields.items(response, "choices")), None)
    if chosen := fields.mapping(fields.mapping(choice), "message"):
        return _in_blocks(chosen)
    holders = (fields.mapping(response, "output"), fields.mapping(response))
    held = (fields.mapping(one, "message") for one in holders)
    found = next(filter(None, held), fields.mapping(response))
    is_message = found.get("role") == "assistant" and "content" in found
    return normalized(with_ollama(found)) if is_message else None


def _in_blocks(chosen: Block) -> Block:
    """An OpenAI message in Anthropic's form, with its reasoning and its calls as blocks."""
    content = normalized_content(chosen.get("content"))
    said = [{"type": "text", "text": content}] if isinstance(content, str) else content
    thoughts = fields.items(chosen, "thinking_blocks")
    if not thoughts and (words := fields.text(chosen, "reasoning_content")):
        thoughts = [{"type": "thinking", "thinking": words}]
    calls = [
        {
            "type": "tool_use",
            "id": fields.text(call, "id"),
            "name": fields.text(function, "name"),
            "input": object_of(parsed(function.get("arguments"))),
        }
        for call in map(fields.mapping, fields.items(chosen, "tool_calls"))
        if (function := fields.mapping(call, "function"))
    ]
    return {"role": "assistant", "content": [*thoughts, *(said or ()), *calls]}


def _call(call: JSON) -> JSON:
    """A call in the form of Chat Completions; None if it names no tool."""
    if not isinstance(call, dict):
        return None
    if any(isinstance(call.get(name), dict) for name in ("function", "custom")):
        return call
    name = next((call[key] for key in _NAMES if isinstance(call.get(key), str)), None)
    if name is None:
        return None
    id_ = next((call[key] for key in _IDS if isinstance(call.get(key), str)), "")
    member = next((key for key in _ARGUMENTS if key in call), None)
    arguments = call[member] if member else {}
    function = {"name": name, "arguments": arguments}
    return {"id": id_, "type": "function", "function": function}


# Blocks


def are_foreign(content: JSON) -> bool:
    """Whether any block of a content is in neither published form."""
    return isinstance(content, list) and any(
        type(block) is dict
        and (
            "type" not in block
            or "value" in block
            or type(block.get("text")) is dict
            or block["type"] == "think"
        )
        for block in content
    )


def normalized_content(content: JSON) -> JSON:
    """The content with each block in the form that OpenAI or Anthropic publish."""
    if not isinstance(content, list):
        return content
    return [_block(one) if isinstance(one, dict) else one for one in content]


def _block(block: Block) -> Block:
    kind, value = block.get("type"), block.get("value")
    if kind == "think":  # printed by Kimi's runs
        value = block.get("think")
    if kind == "text" and isinstance(block.get("text"), dict):  # with its citations
        value = block["text"].get("value")
    if isinstance(kind, str) and isinstance(value, str) and kind in _VALUED:
        return _VALUED[kind](value) or block
    if "type" in block:
        return block
    for name, convert in _CONVERSE.items():
        if isinstance(held := block.get(name), dict):
            return convert(held)
    if isinstance(block.get("text"), str):
        return {"type": "text", "text": block["text"]}
    return {"type": next(iter(block), "block")} | block


def _called(value: str) -> Block | None:
    """A call written as JSON; None if it isn't one."""
    try:
        call = fields.mapping(json_text.parse_strictly(value))
    except ValueError:
        return None
    if not isinstance(name := call.get("name"), str):
        return None
    return {
        "type": "tool_use",
        "id": fields.text(call, "id"),
        "name": name,
        "input": call.get("arguments", {}),
    }


_VALUED: dict[str, Callable[[str], Block | None]] = {
    "text": lambda value: {"type": "text", "text": value},
    "reasoning": lambda value: {"type": "thinking", "thinking": value},
    "think": lambda value: {"type": "thinking", "thinking": value},
    "thinking": lambda value: {"type": "thinking", "thinking": value},
    "image_url": lambda value: {"type": "image_url", "image_url": value},
    "tool_call": _called,
}


def _tool_use(held: Block) -> Block:
    return {
        "type": "tool_use",
        "id": fields.text(held, "toolUseId"),
        "name": fields.text(held, "name"),
        "input": held.get("input", {}),
    }


def _tool_result(held: Block) -> Block:
    """A result, whose content is texts, images and JSON."""
    content = [
        {"text": json_text.decode(json_text.dump(one["json"]))}
        if "json" in one
        else one
        for one in fields.items(held, "content")
        if isinstance(one, dict)
    ]
    return {
        "type": "tool_result",
        "tool_use_id": fields.text(held, "toolUseId"),
        "content": normalized_content(content),
        "is_error": held.get("status") == "error",
    }


def _image(held: Block) -> Block:
    media_type = f"image/{fields.text(held, 'format') or '*'}"
    data = fields.mapping(held, "source").get("bytes")
    source = {"type": "base64", "media_type": media_type, "data": data}
    return {"type": "image", "source": source}


def _reasoning(held: Block) -> Block:
    said = fields.mapping(held, "reasoningText")
    return {
        "type": "thinking",
        "thinking": fields.text(said, "text"),
        "signature": fields.text(said, "signature"),
    }


_CONVERSE = {
    "toolUse": _tool_use,
    "toolResult": _tool_result,
    "image": _image,
    "reasoningContent": _reasoning,
}
