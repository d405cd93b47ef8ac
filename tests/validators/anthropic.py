"""Validates requests of Anthropic's Messages API.

Members and types: https://platform.claude.com/docs/en/api/messages and the types of the `anthropic`
package. Rounds of tools:
https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls ("tool_result blocks
must come first"). System messages within the conversation:
https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages. Thinking:
https://platform.claude.com/docs/en/build-with-claude/extended-thinking, "The final block in an
assistant message cannot be `thinking`" https://github.com/tailcallhq/forgecode/issues/2107. Ids
https://github.com/maximhq/bifrost/issues/5097. A final assistant message
https://github.com/anomalyco/opencode/issues/13768, which is all of a response that is in progress
https://github.com/BerriAI/litellm/issues/18926.
"""

import re
from collections.abc import Iterator
from typing import Any

from .anthropic_blocks import NAME, block, is_blank
from .checks import filled, matches, members, named, positive, text, validator

Form = dict[str, Any]

TOP = named(
    "max_tokens messages model cache_control container context_management diagnostics"
    " inference_geo mcp_servers metadata output_config service_tier speed stop_sequences"
    " stream system temperature thinking tool_choice tools top_k top_p"
)
MAX_BREAKPOINTS = 4
MAY_PREFILL = re.compile(
    r".*claude-(?:2|instant|3|(?:opus|sonnet|haiku)-4(?!-(?:[6-9]|\d\d(?!\d)))).*"
)
"""Models before 4.6, which continue a final assistant message."""
MID_SYSTEM = re.compile(
    r".*claude-(?:(?:opus|sonnet|haiku)-(?:4-[89]|[5-9])|fable|mythos).*"
)
"""Models that accept system messages within the conversation."""
THOUGHTS = ("thinking", "redacted_thinking")


@validator
def validate(request: dict[str, Any]) -> Iterator[str]:
    """What the provider would refuse in a request; nothing if it is accepted."""
    needed = ("model", "messages", "max_tokens")
    yield from members(request, TOP, "request", required=needed)
    yield from text(request.get("model"), "model", blank=False)
    yield from positive(request.get("max_tokens"), "max_tokens")
    yield from _system(request.get("system", ""))
    yield from _tools(request)
    yield from _breakpoints(request)
    messages = request.get("messages")
    if not isinstance(messages, list) or not messages:
        yield "messages: at least one message is required."
        return
    wrong = [
        problem
        for place, message in enumerate(messages)
        for problem in _message(message, f"messages.{place}")
    ]
    yield from wrong or _conversation(request, messages)


def _system(system: Any) -> Iterator[str]:
    if isinstance(system, str):
        return
    yield from filled(system, "system")
    for k, part in enumerate(system if isinstance(system, list) else ()):
        at = f"system.{k}"
        if not isinstance(part, dict) or part.get("type") != "text":
            yield f"{at}.type: input should be 'text'."
        else:
            yield from block(part, at)


def _tools(request: Form) -> Iterator[str]:
    tools = request.get("tools", [])
    if not isinstance(tools, list):
        yield "tools: expected an array."
        return
    names = []
    for k, tool in enumerate(tools):
        at = f"tools.{k}"
        if isinstance(tool, dict):
            names.append(str(tool.get("name")))
        if isinstance(tool, dict) and tool.get("type", "custom") != "custom":
            continue
        known = (
            *("name", "description", "input_schema", "type", "cache_control", "strict"),
            *("allowed_callers", "defer_loading", "eager_input_streaming"),
            "input_examples",
        )
        yield from members(tool, known, at, required=("name", "input_schema"))
        if isinstance(tool, dict):
            yield from matches(tool.get("name"), NAME, f"{at}.custom.name", 128)
            schema = tool.get("input_schema")
            if not isinstance(schema, dict) or schema.get("type") != "object":
                yield f"{at}.custom.input_schema.type: field required, 'object'."
    if len(set(names)) != len(names):
        yield "tools: tool names must be unique."
    if "tool_choice" in request and not tools:
        yield "tool_choice: may only be specified while providing tools."


def _breakpoints(request: Form) -> Iterator[str]:
    count, waiting = 0, [request.get(name) for name in ("tools", "system", "messages")]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            count += value.get("cache_control") is not None
            content = value.get("content")
            waiting += [content] if isinstance(content, list) else []
        elif isinstance(value, list):
            waiting += value
    if count > MAX_BREAKPOINTS:
        yield (
            f"A maximum of {MAX_BREAKPOINTS} blocks with cache_control may be provided."
            f" Found {count}."
        )


def _message(message: Any, at: str) -> Iterator[str]:
    yield from members(message, ("role", "content"), at, required=("role", "content"))
    if not isinstance(message, dict):
        return
    role, content = message.get("role"), message.get("content")
    if role not in ("user", "assistant", "system"):
        yield f"{at}.role: unexpected role {role!r}, expected 'user' or 'assistant'."
    elif isinstance(content, str):
        if is_blank(content):
            yield f"{at}: text content blocks must be non-empty."
    elif not isinstance(content, list):
        yield f"{at}.content: input should be a valid list."
    else:
        if not content:
            yield f"{at}: all messages must have non-empty content."
        for k, part in enumerate(content):
            yield from block(part, f"{at}.content.{k}", role)


def _conversation(request: Form, messages: list[Form]) -> Iterator[str]:
    model = request.get("model", "")
    yield from _system_turns(messages, str(model))
    turns = _turns([m for m in messages if m["role"] != "system"])
    if not turns:
        yield "messages: at least one message is required."
        return
    if turns[0][0] != "user":
        yield "messages: first message must use the user role."
    yield from _rounds(turns)
    yield from _thoughts(request, turns)
    role, last = turns[-1]
    if role == "assistant" and messages[-1]["role"] != "system":
        if not MAY_PREFILL.fullmatch(str(model)):
            yield (
                "This model does not support assistant message prefill. The conversation"
                " must end with a user message."
            )
        elif last[-1].get("text", "") != last[-1].get("text", "").rstrip():
            yield (
                "messages: final assistant content cannot end with trailing whitespace."
            )


def _turns(messages: list[Form]) -> list[tuple[str, list[Form]]]:
    """Turns: consecutive messages of one role joined, as the API treats them."""
    turns: list[tuple[str, list[Form]]] = []
    for message in messages:
        content = message["content"]
        blocks = (
            [{"type": "text", "text": content}] if isinstance(content, str) else content
        )
        if turns and turns[-1][0] == message["role"]:
            turns[-1][1].extend(blocks)
        else:
            turns.append((message["role"], list(blocks)))
    return turns


def _system_turns(messages: list[Form], model: str) -> Iterator[str]:
    for place, message in enumerate(messages):
        if message["role"] != "system":
            continue
        at = f"messages.{place}"
        before = messages[place - 1] if place else {"role": None, "content": []}
        after = (
            messages[place + 1]["role"] if place + 1 < len(messages) else "assistant"
        )
        server = any(
            isinstance(part, dict) and str(part.get("type")).endswith("_tool_result")
            for part in before["content"][-1:]
        )
        if not MID_SYSTEM.fullmatch(model):
            yield f"{at}: unexpected role 'system', use the top-level system parameter."
        elif before["role"] != "user" and not (
            before["role"] == "assistant" and server
        ):
            yield f"{at}: role 'system' must immediately follow a user message."
        elif after != "assistant":
            yield f"{at}: role 'system' must be last or followed by an assistant message."


def _rounds(turns: list[tuple[str, list[Form]]]) -> Iterator[str]:
    """Check that the next turn starts with the results of all calls, each once, and no others."""
    seen: set[str] = set()
    asked: list[str] = []
    for place, (_, blocks) in enumerate([*turns, ("user", [])]):
        at = f"turn {place}"
        results = [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]
        first = [b["type"] == "tool_result" for b in blocks[: len(results)]]
        missing = [given for given in asked if given not in results]
        if asked and not all(first):
            missing = asked
        if missing:
            yield (
                f"{at}: `tool_use` ids were found without `tool_result` blocks immediately"
                f" after: {', '.join(missing)}."
            )
        for given in results:
            if given not in asked:
                yield f"{at}: unexpected `tool_use_id` found in `tool_result` blocks: {given}."
        if len(set(results)) != len(results):
            yield f"{at}: each tool_use must have a single result, found multiple."
        asked = [b["id"] for b in blocks if b["type"] == "tool_use"]
        for k, given in enumerate(asked):
            if given in seen or given in asked[:k]:
                yield f"{at}: `tool_use` ids must be unique, {given} is not."
        seen.update(asked)


def _thoughts(request: Form, turns: list[tuple[str, list[Form]]]) -> Iterator[str]:
    mode = request.get("thinking")
    enabled = isinstance(mode, dict) and mode.get("type") == "enabled"
    if isinstance(mode, dict) and enabled:
        budget = mode.get("budget_tokens", 0)
        if not isinstance(budget, int) or budget >= request.get("max_tokens", 0):
            yield "`max_tokens` must be greater than `thinking.budget_tokens`."
    for place, (role, blocks) in enumerate(turns):
        if role == "assistant" and blocks[-1]["type"] in THOUGHTS:
            yield (
                f"turn {place}: The final block in an assistant message cannot be"
                " `thinking`."
            )
    steps = _in_progress(turns)
    if enabled and steps and steps[0][0]["type"] not in THOUGHTS:
        yield (
            f"Expected `thinking` or `redacted_thinking`, but found `{steps[0][0]['type']}`:"
            " a final assistant message must start with a thinking block."
        )
    is_off = isinstance(mode, dict) and mode.get("type") == "disabled"
    if is_off and any(block["type"] in THOUGHTS for step in steps for block in step):
        yield (
            "When thinking is disabled, an `assistant` message in the final position"
            " cannot contain `thinking`."
        )


def _in_progress(turns: list[tuple[str, list[Form]]]) -> list[list[Form]]:
    """The steps of a response that is continued with results of tools."""
    steps: list[list[Form]] = []
    before = turns
    while any(
        block["type"] == "tool_result" for _, blocks in before[-1:] for block in blocks
    ):
        steps[:0] = [blocks for role, blocks in before[-2:-1] if role == "assistant"]
        before = before[:-2]
    return steps
