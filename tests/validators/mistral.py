"""Requests of Mistral's chat completions.

Members and types: https://docs.mistral.ai/api and the models of the `mistralai` package,
which forbid extra members ("extra_forbidden"). The order of messages, the ids and names of
calls: https://github.com/mistralai/mistral-common, `protocol/instruct/validator.py`, and
"Unexpected role 'user' after role 'tool'" (3230)
https://github.com/datapizza-labs/datapizza-ai/issues/98.
"""

from collections.abc import Iterator
from typing import Any

from . import chat
from .checks import IMAGES, address, filled, matches, members, named, text, validator

ROLES = ("system", "user", "assistant", "tool")
MEMBERS = {
    "system": ("role", "content"),
    "user": ("role", "content"),
    "assistant": ("role", "content", "tool_calls", "prefix"),
    "tool": ("role", "content", "tool_call_id", "name"),
}
TOP = named(
    "model messages temperature top_p max_tokens stream stop random_seed metadata"
    " response_format tools tool_choice presence_penalty frequency_penalty n prediction"
    " parallel_tool_calls reasoning_effort prompt_mode guardrails safe_prompt"
)
AFTER = {
    "system": ("user", "assistant", "system"),
    "user": ("assistant", "system", "user"),
    "assistant": ("assistant", "user", "tool"),
    "tool": ("assistant", "tool"),
}
PARTS = {
    "system": ("text", "thinking"),
    "user": ("text", "image_url", "document_url", "input_audio", "file"),
    "assistant": ("text", "thinking", "reference"),
    "tool": ("text", "image_url", "document_url", "reference"),
}
FOUND_BY_ADDRESS = ("image_url", "document_url")
ID = "[a-zA-Z0-9]{9}"


@validator
def validate(request: dict[str, Any]) -> Iterator[str]:
    """What the provider would refuse in a request; nothing if it is accepted."""
    yield from chat.head(request, TOP, "max_tokens")
    messages = request.get("messages")
    if not isinstance(messages, list) or not messages:
        yield "messages: conversation must have at least one message."
    else:
        yield from chat.spoken(messages, ROLES, _conversation)
    if request.get("tools") is not None:
        yield from chat.definitions(request["tools"])
        for k, tool in enumerate(request["tools"] or ()):
            function = tool.get("function") if isinstance(tool, dict) else None
            if isinstance(function, dict) and "parameters" not in function:
                yield f"tools[{k}].function.parameters: field required."


def _conversation(messages: list[dict[str, Any]]) -> Iterator[str]:
    yield from _order(messages)
    yield from chat.rounds(messages)
    for place, message in enumerate(messages):
        yield from _message(message, f"messages[{place}]")
    last = messages[-1]
    if last["role"] == "assistant" and not last.get("prefix"):
        yield (
            "messages: expected last role User or Tool (or Assistant with prefix True) for"
            " serving but got assistant."
        )
    for place, message in enumerate(messages[:-1]):
        if message.get("prefix"):
            yield f"messages[{place}]: prefix must be last message."


def _order(messages: list[dict[str, Any]]) -> Iterator[str]:
    if messages[0]["role"] not in ("user", "system"):
        yield "messages: conversation must start with a user message or system message."
    for place in range(1, len(messages)):
        before, role = messages[place - 1]["role"], messages[place]["role"]
        if role not in AFTER[before]:
            yield f"messages[{place}]: Unexpected role '{role}' after role '{before}'."


def _message(message: dict[str, Any], at: str) -> Iterator[str]:
    role = message["role"]
    yield from members(message, MEMBERS[role], at)
    calls = message.get("tool_calls")
    if calls:
        yield from chat.function_calls(calls, f"{at}.tool_calls", pattern=ID, limit=9)
    if role == "tool":
        given = message.get("tool_call_id")
        yield from matches(given, ID, f"{at}.tool_call_id", 9)
        if message.get("name") is not None:
            yield from matches(message["name"], chat.NAME, f"{at}.name", 64)
    content = message.get("content")
    if role == "assistant" and not content and not calls:
        yield (
            f"{at}: Assistant message must have either content or tool_calls, but not none."
        )
    elif content is None:
        if role != "assistant":
            yield f"{at}.content: field required."
    elif not isinstance(content, str):
        yield from _parts(content, role, f"{at}.content")


def _parts(content: Any, role: str, at: str) -> Iterator[str]:
    if not isinstance(content, list):
        yield f"{at}: expected a string or an array."
        return
    for k, part in enumerate(content):
        here = f"{at}[{k}]"
        kind = part.get("type") if isinstance(part, dict) else None
        if kind not in PARTS[role]:
            yield f"{here}: input tag {kind!r} does not match any of the expected tags."
        elif kind == "text":
            yield from members(part, ("type", "text"), here)
            yield from text(part.get("text"), f"{here}.text")
        elif kind in FOUND_BY_ADDRESS:
            url = part.get(kind)
            url = url.get("url") if isinstance(url, dict) else url
            images = IMAGES if kind == "image_url" else None
            yield from address(url, f"{here}.{kind}", images)
        elif kind == "thinking":
            yield from filled(part.get("thinking"), f"{here}.thinking")
