"""Blocks in files that are nearly of the published forms, made into these.

Bedrock's Converse has blocks without a type, named by their one member; some data sets hold
what a block says in `value`, whatever its type.

Sources: docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ContentBlock.html;
github.com/hiyouga/LLaMA-Factory, `data/v1_sft_demo.jsonl`.
"""

from collections.abc import Callable
from typing import Any

from threads.domain.formats.io import fields, json_text
from threads.domain.part import JSON

Block = dict[str, Any]


def are_foreign(content: JSON) -> bool:
    """Whether blocks of a content are of neither published form."""
    return isinstance(content, list) and any(
        type(block) is dict and ("type" not in block or "value" in block)
        for block in content
    )


def normalized(content: JSON) -> JSON:
    """The content with each of its blocks as OpenAI or Anthropic publish it."""
    if not isinstance(content, list):
        return content
    return [_block(one) if isinstance(one, dict) else one for one in content]


def _block(block: Block) -> Block:
    kind, value = block.get("type"), block.get("value")
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
    """A call that is written as JSON; None where it is none."""
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
    """A result, whose content is texts, pictures, and JSON."""
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
        "content": normalized(content),
        "is_error": held.get("status") == "error",
    }


def _image(held: Block) -> Block:
    return {
        "type": "image",
        "source": {
            "type": "base64",
            "media_type": f"image/{fields.text(held, 'format') or '*'}",
            "data": fields.mapping(held, "source").get("bytes"),
        },
    }


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
