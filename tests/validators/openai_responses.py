"""Requests of OpenAI's Responses.

Items and members: https://platform.openai.com/docs/api-reference/responses/create and the
types of the `openai` package (`response_*_param`). Beyond them: "No tool output found for
function call"; `reasoning` and what follows it https://github.com/vercel/ai/issues/7099,
https://github.com/TanStack/ai/issues/1212; outputs by the type of their call
https://github.com/diegosouzapw/OmniRoute/issues/8946; ids by their beginning
https://github.com/nodetool-ai/nodetool/pull/4252 and
https://github.com/UKGovernmentBEIS/inspect_ai/pull/1545.
"""

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

from .checks import filled, matches, members, named, positive, text, validator
from .responses_items import NAME, item_problems

Form = dict[str, Any]

TOP = named(
    "background context_management conversation include input instructions"
    " max_output_tokens max_tool_calls metadata model moderation parallel_tool_calls"
    " previous_response_id prompt prompt_cache_key prompt_cache_options"
    " prompt_cache_retention reasoning safety_identifier service_tier store stream"
    " stream_options temperature text tool_choice tools top_logprobs top_p truncation"
    " user"
)
REASONS = re.compile(r".*(?:^|/)(?:o\d|gpt-[5-9]|codex).*")
"""Models whose calls belong to their reasoning."""
OUTPUTS = {
    "function_call": ("function_call_output",),
    "custom_tool_call": ("custom_tool_call_output",),
    "local_shell_call": ("local_shell_call_output", "function_call_output"),
    "shell_call": ("shell_call_output",),
    "apply_patch_call": ("apply_patch_call_output",),
    "computer_call": ("computer_call_output",),
    "tool_search_call": ("tool_search_output",),
}
"""Calls, and the outputs that the API finds them by. Codex answers its shell as a function."""
ALONE = ("tool_choice", "parallel_tool_calls")


@validator
def validate(request: dict[str, Any]) -> Iterator[str]:
    """What the provider would refuse in a request; nothing if it is accepted."""
    yield from members(request, TOP, "request", required=("model", "input"))
    yield from text(request.get("model"), "model", blank=False)
    if "instructions" in request and request["instructions"] is not None:
        yield from text(request["instructions"], "instructions")
    if "max_output_tokens" in request:
        yield from positive(request["max_output_tokens"], "max_output_tokens")
    yield from _tools(request)
    items = request.get("input")
    if isinstance(items, str):
        return
    yield from filled(items, "input")
    if not isinstance(items, list):
        return
    wrong = [
        problem
        for place, item in enumerate(items)
        for problem in item_problems(item, f"input[{place}]")
    ]
    yield from wrong or chain(_outputs(items), _reasoning(request, items))


def _tools(request: Form) -> Iterator[str]:
    tools = request.get("tools", [])
    if not isinstance(tools, list):
        yield "tools: expected an array."
        return
    for k, tool in enumerate(tools):
        at = f"tools[{k}]"
        if not isinstance(tool, dict) or not isinstance(tool.get("type"), str):
            yield f"{at}.type: missing required parameter."
        elif tool["type"] == "function":
            known = ("type", "name", "parameters", "strict", "description")
            needed = ("name", "parameters")
            yield from members(tool, (*known, "defer_loading"), at, required=needed)
            yield from matches(tool.get("name"), NAME, f"{at}.name", 128)
            if not isinstance(tool.get("parameters", {}), dict | None):
                yield f"{at}.parameters: expected an object."
    for name in ALONE:
        if name == "tool_choice" and name in request and not tools:
            yield f"'{name}' is only allowed when 'tools' are specified."


def _outputs(items: list[Form]) -> Iterator[str]:
    """Check that each call has one output of its type after it, and each output its call before."""
    open_calls: dict[str, str] = {}
    done: set[str] = set()
    for place, item in enumerate(items):
        kind, given = str(item.get("type")), str(item.get("call_id"))
        if item.get("execution") == "server":
            continue
        if kind in OUTPUTS:
            if given in open_calls:
                yield f"input[{place}]: duplicate item found with call_id {given}."
            open_calls[given] = kind
            done.discard(given)
        elif wanted := [call for call, outputs in OUTPUTS.items() if kind in outputs]:
            if given in done:
                yield f"input[{place}]: duplicate output for call_id {given}."
            elif open_calls.get(given) in wanted:
                del open_calls[given]
            else:
                yield (
                    f"input[{place}]: No tool call found for {kind.replace('_', ' ')} with"
                    f" call_id {given}."
                )
            done.add(given)
    for given, kind in open_calls.items():
        yield f"No tool output found for {kind.replace('_', ' ')} {given}."


def _reasoning(request: Form, items: list[Form]) -> Iterator[str]:
    stored = request.get("store", True)
    for place, item in enumerate(items):
        after = items[place + 1] if place + 1 < len(items) else {}
        if item.get("type") == "reasoning":
            given = item.get("id")
            if not _follows(after):
                yield (
                    f"Item '{given}' of type 'reasoning' was provided without its required"
                    " following item."
                )
            if not stored and not item.get("encrypted_content"):
                yield (
                    f"Item with id '{given}' not found. Items are not persisted when `store`"
                    " is set to false."
                )
        elif _belongs(request, item) and not _reasoned(items[:place]):
            yield (
                f"Item '{item['id']}' of type 'function_call' was provided without its"
                " required 'reasoning' item."
            )


def _belongs(request: Form, item: Form) -> bool:
    """Whether an item is a call that follows reasoning, as its id shows."""
    is_call = item.get("type") == "function_call" and bool(item.get("id"))
    return is_call and bool(REASONS.fullmatch(str(request.get("model"))))


def _follows(item: Form) -> bool:
    kind = item.get("type", "message" if "role" in item else None)
    if kind == "message":
        return item.get("role") == "assistant"
    return kind in ("reasoning", "function_call", "custom_tool_call", "item_reference")


def _reasoned(before: list[Form]) -> bool:
    """Whether the model's uninterrupted output before an item includes its reasoning."""
    for item in reversed(before):
        kind = item.get("type", "message" if "role" in item else None)
        if kind == "reasoning":
            return True
        if kind == "message" and item.get("role") != "assistant":
            return False
        if kind == "function_call_output":
            return False
    return False
