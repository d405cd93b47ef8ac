"""Requests of OpenAI's Chat Completions.

Members and types: https://platform.openai.com/docs/api-reference/chat/create and the types of
the `openai` package (`chat_completion_*_param`). What is refused beyond them:
ids over 40 characters https://github.com/vercel/ai/issues/5171, images outside of `user`
https://github.com/OpenHands/OpenHands/issues/7700, `name`
https://github.com/microsoft/autogen/issues/4157.
"""

from collections.abc import Iterator
from typing import Any

from . import chat
from .checks import IMAGES, address, filled, matches, members, named, text, validator

ROLES = ("system", "developer", "user", "assistant", "tool")
MEMBERS = {
    "system": ("role", "content", "name"),
    "developer": ("role", "content", "name"),
    "user": ("role", "content", "name"),
    "assistant": (
        *("role", "content", "name", "refusal", "audio"),
        *("tool_calls", "function_call"),
    ),
    "tool": ("role", "content", "tool_call_id", "name"),
}
TOP = named(
    "messages model audio frequency_penalty function_call functions logit_bias logprobs"
    " max_completion_tokens max_tokens metadata modalities moderation n parallel_tool_calls"
    " prediction presence_penalty prompt_cache_key prompt_cache_options"
    " prompt_cache_retention reasoning_effort response_format safety_identifier seed"
    " service_tier stop store stream stream_options temperature tool_choice tools"
    " top_logprobs top_p user verbosity web_search_options"
)
PARTS = {
    "system": ("text",),
    "developer": ("text",),
    "tool": ("text",),
    "assistant": ("text", "refusal"),
    "user": ("text", "image_url", "input_audio", "file"),
}
MAX_TOOLS = 128


@validator
def validate(request: dict[str, Any]) -> Iterator[str]:
    """What the provider would refuse in a request; nothing if it is accepted."""
    yield from chat.head(request, TOP, "max_tokens", "max_completion_tokens")
    messages = request.get("messages")
    yield from filled(messages, "messages")
    if isinstance(messages, list):
        yield from chat.spoken(messages, ROLES, _conversation)
    if "tools" in request:
        yield from chat.definitions(request["tools"])
        if isinstance(request["tools"], list) and len(request["tools"]) > MAX_TOOLS:
            yield f"tools: array too long. Expected at most {MAX_TOOLS}."
    yield from chat.choice(request)


def _conversation(messages: list[dict[str, Any]]) -> Iterator[str]:
    for place, message in enumerate(messages):
        yield from _message(message, f"messages[{place}]")
    yield from chat.rounds(messages)


def _message(message: dict[str, Any], at: str) -> Iterator[str]:
    role = message["role"]
    yield from members(message, MEMBERS[role], at)
    if "name" in message:
        yield from matches(message["name"], chat.NAME, f"{at}.name", 64)
    calls = message.get("tool_calls")
    if "tool_calls" in message:
        yield from chat.function_calls(
            calls, f"{at}.tool_calls", pattern=r"(?s:.+)", limit=40
        )
    if role == "tool":
        given = message.get("tool_call_id")
        yield from matches(given, r"(?s:.+)", f"{at}.tool_call_id", 40)
    content = message.get("content")
    if content is None:
        if role != "assistant" or not (calls or message.get("refusal")):
            yield f"{at}.content: invalid value, expected a string, got null."
    elif not isinstance(content, str):
        yield from _parts(content, role, f"{at}.content")


def _parts(content: Any, role: str, at: str) -> Iterator[str]:
    yield from filled(content, at)
    for k, part in enumerate(content if isinstance(content, list) else ()):
        here = f"{at}[{k}]"
        kind = part.get("type") if isinstance(part, dict) else None
        if kind not in PARTS[role]:
            expected = ", ".join(PARTS[role])
            yield (
                f"{here}.type: invalid value {kind!r} in a message with role"
                f" '{role}', supported values are: {expected}."
            )
            continue
        yield from members(part, ("type", kind), here, required=(kind,))
        yield from _part(part.get(kind), kind, f"{here}.{kind}")


def _part(value: Any, kind: str, at: str) -> Iterator[str]:
    if kind in ("text", "refusal"):
        yield from text(value, at)
    elif kind == "image_url":
        yield from members(value, ("url", "detail"), at, required=("url",))
        if isinstance(value, dict):
            yield from address(value.get("url"), f"{at}.url", IMAGES)
            if value.get("detail", "auto") not in ("auto", "low", "high", "original"):
                yield f"{at}.detail: invalid value."
    elif kind == "input_audio":
        yield from members(value, ("data", "format"), at, required=("data", "format"))
        if isinstance(value, dict) and value.get("format") not in ("wav", "mp3"):
            yield f"{at}.format: expected wav or mp3."
    else:
        yield from _file(value, at)


def _file(value: Any, at: str) -> Iterator[str]:
    yield from members(value, ("file_data", "file_id", "filename"), at)
    if not isinstance(value, dict):
        return
    if ("file_data" in value) == ("file_id" in value):
        yield f"{at}: expected either file_data or file_id."
    elif "file_data" in value:
        yield from address(value["file_data"], f"{at}.file_data", None)
        if not value.get("filename"):
            yield f"{at}.filename: field required."
