"""Validates requests of DeepSeek's chat completions.

https://api-docs.deepseek.com/api/create-chat-completion and
https://api-docs.deepseek.com/guides/thinking_mode: in thinking mode, which is the default of V4,
"reasoning_content" must be passed back on every assistant message
(https://github.com/openclaw/openclaw/issues/73417). Content may only be text: "unknown variant
`image_url`, expected `text`" (https://github.com/1jehuang/jcode/issues/310).
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

from . import chat
from .checks import filled, matches, members, named, text, validator

ROLES = ("system", "user", "assistant", "tool")
MEMBERS = {
    "system": ("role", "content", "name"),
    "user": ("role", "content", "name"),
    "assistant": (
        *("role", "content", "name", "prefix", "reasoning_content", "tool_calls"),
    ),
    "tool": ("role", "content", "tool_call_id"),
}
TOP = named(
    "messages model frequency_penalty logprobs max_tokens presence_penalty response_format"
    " stop stream stream_options temperature thinking reasoning_effort tool_choice tools"
    " top_logprobs top_p user_id"
)
MAX_TOOLS = 128


@validator
def validate(request: dict[str, Any]) -> Iterator[str]:
    """What the provider would refuse in a request; nothing if it is accepted."""
    yield from chat.head(request, TOP, "max_tokens")
    thinking = request.get("thinking", {"type": "enabled"})
    mode = thinking.get("type") if isinstance(thinking, dict) else None
    if mode not in ("enabled", "disabled"):
        yield "thinking.type: expected enabled or disabled."
    messages = request.get("messages")
    yield from filled(messages, "messages")
    if isinstance(messages, list):
        conversation = partial(_conversation, thinking=mode != "disabled")
        yield from chat.spoken(messages, ROLES, conversation)
    if "tools" in request:
        yield from chat.definitions(request["tools"])
        if isinstance(request["tools"], list) and len(request["tools"]) > MAX_TOOLS:
            yield f"tools: at most {MAX_TOOLS} functions are supported."
    yield from chat.choice(request)


def _conversation(messages: list[dict[str, Any]], *, thinking: bool) -> Iterator[str]:
    for place, message in enumerate(messages):
        yield from _message(message, f"messages[{place}]", thinking=thinking)
    yield from chat.rounds(messages)


def _message(message: dict[str, Any], at: str, *, thinking: bool) -> Iterator[str]:
    role = message["role"]
    yield from members(message, MEMBERS[role], at)
    if "tool_calls" in message:
        yield from chat.function_calls(
            message["tool_calls"],
            f"{at}.tool_calls",
            pattern=r"(?s:.+)",
            limit=1 << 20,
        )
    if role == "tool":
        given = message.get("tool_call_id")
        yield from matches(given, r"(?s:.+)", f"{at}.tool_call_id", 1 << 20)
    if role == "assistant" and thinking:
        if "reasoning_content" not in message:
            yield (
                f"{at}: the `reasoning_content` in the thinking mode must be passed back"
                " to the API."
            )
        else:
            said = message["reasoning_content"]
            yield from text(said, f"{at}.reasoning_content")
    content = message.get("content")
    if content is None:
        if role != "assistant":
            yield f"{at}.content: missing field `content`."
        elif not message.get("tool_calls"):
            yield f"{at}: invalid assistant message, content or tool_calls must be set."
    elif not isinstance(content, str):
        yield from _parts(content, f"{at}.content")


def _parts(content: Any, at: str) -> Iterator[str]:
    yield from filled(content, at)
    for k, part in enumerate(content if isinstance(content, list) else ()):
        here = f"{at}[{k}]"
        kind = part.get("type") if isinstance(part, dict) else None
        if kind != "text":
            yield f"{here}: unknown variant `{kind}`, expected `text`."
            continue
        yield from members(part, ("type", "text"), here, required=("text",))
        yield from text(part.get("text"), f"{here}.text")
