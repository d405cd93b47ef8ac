"""Checks shared by requests in the form of Chat Completions: rounds of tools, and calls.

https://platform.openai.com/docs/api-reference/chat/create
"""

import json
from collections.abc import Callable, Collection, Iterator
from typing import Any

from .checks import filled, matches, members, positive, text

NAME = "[a-zA-Z0-9_-]+"


def head(
    request: dict[str, Any], allowed: Collection[str], *limits: str
) -> Iterator[str]:
    """Check that a request has a model, messages, valid token limits, and nothing unknown."""
    yield from members(request, allowed, "request", required=("model", "messages"))
    yield from text(request.get("model"), "model", blank=False)
    for name in limits:
        if name in request:
            yield from positive(request[name], name)


def spoken(
    messages: list[Any],
    allowed: tuple[str, ...],
    conversation: Callable[[list[dict[str, Any]]], Iterator[str]],
) -> Iterator[str]:
    """Check the roles of messages and, if they are valid, the conversation."""
    wrong = list(roles(messages, allowed))
    yield from wrong or conversation(messages)


def roles(messages: list[Any], allowed: tuple[str, ...]) -> Iterator[str]:
    """Check that each message is an object with a known role."""
    for place, message in enumerate(messages):
        role = message.get("role") if isinstance(message, dict) else None
        if role not in allowed:
            expected = ", ".join(allowed)
            yield f"messages[{place}].role: invalid value, expected one of {expected}."


def rounds(messages: list[dict[str, Any]]) -> Iterator[str]:
    """Check that each message with calls is followed by their results: all, once, no others.

    "An assistant message with 'tool_calls' must be followed by tool messages responding to each
    'tool_call_id'": https://github.com/evalstate/fast-agent/issues/314
    """
    asked: set[str] = set()
    waiting: set[str] = set()
    for place, message in enumerate([*messages, {}]):
        at = f"messages[{place}]"
        if message.get("role") == "tool":
            given = message.get("tool_call_id")
            if not asked:
                yield (
                    f"{at}: messages with role 'tool' must be a response to a preceding"
                    " message with 'tool_calls'."
                )
            elif given not in asked:
                yield f"{at}: tool_call_id {given} not found in 'tool_calls' before it."
            elif given not in waiting:
                yield f"{at}: duplicate value for 'tool_call_id' of {given}."
            waiting.discard(str(given))
            continue
        if waiting:
            missing = ", ".join(sorted(waiting))
            yield (
                f"{at}: an assistant message with 'tool_calls' must be followed by tool"
                f" messages responding to each 'tool_call_id'; not for {missing}."
            )
        ids = [call.get("id") for call in calls_of(message)]
        asked = {str(given) for given in ids}
        waiting = set(asked)
        if len(asked) != len(ids):
            yield f"{at}.tool_calls: duplicate ids of tool calls."


def calls_of(message: dict[str, Any]) -> list[dict[str, Any]]:
    """The calls of a message that are objects."""
    calls = message.get("tool_calls")
    if not isinstance(calls, list):
        return []
    return [call for call in calls if isinstance(call, dict)]


def function_calls(
    calls: Any, at: str, *, pattern: str, limit: int, name_limit: int = 64
) -> Iterator[str]:
    """Check that `tool_calls` are functions with ids that match a pattern."""
    yield from filled(calls, at)
    for k, call in enumerate(calls if isinstance(calls, list) else ()):
        here = f"{at}[{k}]"
        yield from members(
            call,
            ("id", "type", "function", "index"),
            here,
            required=("id", "type", "function"),
        )
        if not isinstance(call, dict):
            continue
        yield from matches(call.get("id"), pattern, f"{here}.id", limit)
        if call.get("type") != "function":
            yield f"{here}.type: expected 'function'."
        function = call.get("function")
        yield from members(
            function,
            ("name", "arguments"),
            f"{here}.function",
            required=("name", "arguments"),
        )
        if isinstance(function, dict):
            name = function.get("name")
            yield from matches(name, NAME, f"{here}.function.name", name_limit)
            arguments = function.get("arguments")
            yield from text(arguments, f"{here}.function.arguments")


def parsed_arguments(messages: list[dict[str, Any]]) -> Iterator[str]:
    """Check that the arguments of every call are a JSON object.

    Chat templates read them: https://github.com/vllm-project/vllm/pull/48922
    """
    for place, message in enumerate(messages):
        for k, call in enumerate(calls_of(message)):
            function = call.get("function")
            arguments = function.get("arguments") if isinstance(function, dict) else ""
            try:
                fine = isinstance(json.loads(arguments), dict)
            except (TypeError, ValueError):
                fine = False
            if not fine:
                yield f"messages[{place}].tool_calls[{k}]: arguments are no JSON object."


def definitions(tools: Any, at: str = "tools") -> Iterator[str]:
    """Check that tool definitions are functions with names."""
    yield from filled(tools, at)
    for k, tool in enumerate(tools if isinstance(tools, list) else ()):
        here = f"{at}[{k}]"
        yield from members(
            tool, ("type", "function"), here, required=("type", "function")
        )
        function = tool.get("function") if isinstance(tool, dict) else None
        yield from members(
            function,
            ("name", "description", "parameters", "strict"),
            f"{here}.function",
            required=("name",),
        )
        if isinstance(function, dict):
            yield from matches(function.get("name"), NAME, f"{here}.function.name", 64)
            if not isinstance(function.get("parameters", {}), dict):
                yield f"{here}.function.parameters: expected a JSON Schema object."


def choice(request: dict[str, Any]) -> Iterator[str]:
    """Check that a request with a tool choice has tools."""
    for name in ("tool_choice", "parallel_tool_calls"):
        if name in request and not request.get("tools"):
            yield f"'{name}' is only allowed when 'tools' are specified."
