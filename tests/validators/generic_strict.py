"""Validates requests for a strict OpenAI-compatible server, whose chat template raises errors.

vLLM, SGLang and llama.cpp render messages with the model's own template. The strictest of them
allow one system message, at the top ("System message must be at the beginning",
https://github.com/suitenumerique/conversations/issues/197), then alternating user and assistant,
apart from rounds of tools ("After the optional system message, conversation roles must alternate
user and assistant roles except for tool calls and results",
https://github.com/vllm-project/vllm/issues/6862). Hosts such as Groq and Cerebras refuse unknown
members ("property 'reasoning_content' is unsupported", https://github.com/janhq/jan/issues/8136).
"""

from collections.abc import Iterator
from typing import Any

from . import chat
from .checks import IMAGES, address, filled, matches, members, named, text, validator

ROLES = ("system", "user", "assistant", "tool")
MEMBERS = {
    "system": ("role", "content"),
    "user": ("role", "content"),
    "assistant": ("role", "content", "tool_calls"),
    "tool": ("role", "content", "tool_call_id"),
}
TOP = named(
    "messages model frequency_penalty max_tokens max_completion_tokens n presence_penalty"
    " response_format seed stop stream stream_options temperature tool_choice tools top_p"
    " parallel_tool_calls user"
)


@validator
def validate(request: dict[str, Any]) -> Iterator[str]:
    """What the provider would refuse in a request; nothing if it is accepted."""
    yield from chat.head(request, TOP, "max_tokens", "max_completion_tokens")
    messages = request.get("messages")
    yield from filled(messages, "messages")
    if isinstance(messages, list) and messages:
        yield from chat.spoken(messages, ROLES, _conversation)
    if "tools" in request:
        yield from chat.definitions(request["tools"])
    yield from chat.choice(request)


def _conversation(messages: list[dict[str, Any]]) -> Iterator[str]:
    yield from _turns(messages)
    yield from chat.rounds(messages)
    yield from chat.parsed_arguments(messages)
    for place, message in enumerate(messages):
        yield from _message(message, f"messages[{place}]")


def _turns(messages: list[dict[str, Any]]) -> Iterator[str]:
    for place, message in enumerate(messages):
        if message["role"] == "system" and place:
            yield f"messages[{place}]: System message must be at the beginning."
    spoken = [
        (place, message["role"])
        for place, message in enumerate(messages)
        if message["role"] in ("user", "assistant") and not message.get("tool_calls")
    ]
    for turn, (place, role) in enumerate(spoken):
        if (role == "user") != (turn % 2 == 0):
            yield (
                f"messages[{place}]: after the optional system message, conversation roles"
                " must alternate user and assistant roles except for tool calls and results."
            )
            return
    rest = [message for message in messages if message["role"] != "system"]
    if not rest:
        yield "messages: there is no user message."
    elif rest[0]["role"] != "user":
        yield "messages: conversation roles must alternate, the first must be user."


def _message(message: dict[str, Any], at: str) -> Iterator[str]:
    role = message["role"]
    yield from members(message, MEMBERS[role], at)
    if "tool_calls" in message:
        yield from chat.function_calls(
            message["tool_calls"], f"{at}.tool_calls", pattern=chat.NAME, limit=64
        )
    if role == "tool":
        given = message.get("tool_call_id")
        yield from matches(given, chat.NAME, f"{at}.tool_call_id", 64)
    content = message.get("content")
    if content is None:
        if not message.get("tool_calls"):
            yield f"{at}.content: expected a string, got null."
    elif not isinstance(content, str):
        yield from _parts(content, role, f"{at}.content")


def _parts(content: Any, role: str, at: str) -> Iterator[str]:
    yield from filled(content, at)
    for k, part in enumerate(content if isinstance(content, list) else ()):
        here = f"{at}[{k}]"
        kind = part.get("type") if isinstance(part, dict) else None
        if kind == "text":
            yield from members(part, ("type", "text"), here)
            yield from text(part.get("text"), f"{here}.text")
        elif kind == "image_url" and role == "user":
            yield from members(part, ("type", "image_url"), here)
            image = part.get("image_url")
            url = image.get("url") if isinstance(image, dict) else None
            yield from address(url, f"{here}.image_url.url", IMAGES)
        else:
            yield f"{here}.type: {kind!r} is not supported here."
