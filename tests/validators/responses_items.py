"""Items of the input of OpenAI's Responses, each by itself.

The types of the `openai` package (`response_input_item_param` and those it names); "Invalid
value: 'input_text'. Supported values are: 'output_text' and 'refusal'" of an assistant's
message: https://platform.openai.com/docs/api-reference/responses/create#responses_create-input
"""

from collections.abc import Iterator
from typing import Any

from .checks import IMAGES, address, filled, matches, members, text

NAME = "[a-zA-Z0-9_-]+"
KNOWN_BY_ID = "[a-zA-Z0-9_-]+"
ID_LIMIT = 64
CALL_ID_LIMIT = 64
SPOKEN = {
    "user": ("input_text", "input_image", "input_file"),
    "system": ("input_text", "input_image", "input_file"),
    "developer": ("input_text", "input_image", "input_file"),
    "assistant": ("output_text", "refusal"),
}
OTHER = (
    *("web_search_call", "file_search_call", "computer_call", "computer_call_output"),
    *("code_interpreter_call", "image_generation_call", "local_shell_call"),
    *("local_shell_call_output", "shell_call", "shell_call_output", "mcp_call"),
    *("mcp_list_tools", "mcp_approval_request", "mcp_approval_response"),
    *("custom_tool_call", "custom_tool_call_output", "apply_patch_call"),
    *("apply_patch_call_output", "compaction", "item_reference", "tool_search_call"),
    "tool_search_output",
)


def item_problems(item: Any, at: str) -> Iterator[str]:
    """What is wrong with an item."""
    if not isinstance(item, dict):
        yield f"{at}: expected an object."
        return
    kind = item.get("type", "message" if "role" in item else None)
    if kind == "message":
        yield from _message(item, at)
    elif kind == "function_call":
        yield from _call(item, at)
    elif kind == "function_call_output":
        yield from _output(item, at)
    elif kind == "reasoning":
        yield from _reasoning(item, at)
    elif kind not in OTHER:
        yield f"{at}.type: invalid value: {kind!r}."


def _id(item: dict[str, Any], prefix: str, at: str) -> Iterator[str]:
    if item.get("id") is None:
        return
    yield from matches(item["id"], KNOWN_BY_ID, f"{at}.id", ID_LIMIT)
    if not str(item["id"]).startswith(prefix):
        yield (
            f"Invalid '{at}.id': '{item['id']}'. Expected an ID that begins with"
            f" '{prefix}'."
        )


def _status(item: dict[str, Any], at: str) -> Iterator[str]:
    known = ("in_progress", "completed", "incomplete", None)
    if item.get("status") not in known:
        yield f"{at}.status: invalid value."


def _message(item: dict[str, Any], at: str) -> Iterator[str]:
    known = ("type", "role", "content", "status", "id", "phase")
    yield from members(item, known, at, required=("role", "content"))
    yield from _id(item, "msg", at)
    yield from _status(item, at)
    role, content = item.get("role"), item.get("content")
    if role not in SPOKEN:
        yield f"{at}.role: invalid value {role!r}, expected one of {', '.join(SPOKEN)}."
    elif not isinstance(content, str):
        yield from _parts(content, SPOKEN[role], f"{at}.content")


def _call(item: dict[str, Any], at: str) -> Iterator[str]:
    known = ("type", "call_id", "name", "arguments", "id", "status", "namespace")
    needed = ("call_id", "name", "arguments")
    yield from members(item, known, at, required=needed)
    yield from matches(item.get("call_id"), r"(?s:.+)", f"{at}.call_id", CALL_ID_LIMIT)
    yield from matches(item.get("name"), NAME, f"{at}.name", 128)
    yield from text(item.get("arguments"), f"{at}.arguments")
    yield from _id(item, "fc", at)
    yield from _status(item, at)


def _output(item: dict[str, Any], at: str) -> Iterator[str]:
    known = ("type", "call_id", "output", "id", "status")
    yield from members(item, known, at, required=("call_id", "output"))
    yield from matches(item.get("call_id"), r"(?s:.+)", f"{at}.call_id", CALL_ID_LIMIT)
    yield from _id(item, "fc", at)
    yield from _status(item, at)
    if not isinstance(item.get("output"), str):
        yield from _parts(item.get("output"), SPOKEN["user"], f"{at}.output")


def _reasoning(item: dict[str, Any], at: str) -> Iterator[str]:
    known = ("type", "id", "summary", "content", "encrypted_content", "status")
    yield from members(item, known, at, required=("summary",))
    yield from _id(item, "rs", at)
    yield from _status(item, at)
    if not isinstance(item.get("summary"), list):
        yield f"{at}.summary: expected an array."
    for k, part in enumerate(item.get("summary") or ()):
        here = f"{at}.summary[{k}]"
        yield from members(part, ("type", "text"), here, required=("type", "text"))
        if isinstance(part, dict) and part.get("type") != "summary_text":
            yield f"{here}.type: expected 'summary_text'."
    sealed = item.get("encrypted_content")
    if sealed is not None:
        yield from text(sealed, f"{at}.encrypted_content", blank=False)
    elif not item.get("id"):
        yield f"{at}.id: missing required parameter."


def _parts(content: Any, kinds: tuple[str, ...], at: str) -> Iterator[str]:
    yield from filled(content, at)
    for k, part in enumerate(content if isinstance(content, list) else ()):
        here = f"{at}[{k}]"
        kind = part.get("type") if isinstance(part, dict) else None
        if kind not in kinds:
            expected = ", ".join(repr(name) for name in kinds)
            yield f"{here}: Invalid value: {kind!r}. Supported values are: {expected}."
        elif kind == "input_image":
            known = ("type", "image_url", "file_id", "detail")
            yield from members(part, known, here)
            if part.get("file_id") is None:
                yield from address(part.get("image_url"), f"{here}.image_url", IMAGES)
        elif kind == "input_file":
            known = ("type", "file_data", "file_id", "file_url", "filename", "detail")
            yield from members(part, known, here)
            if not any(part.get(name) for name in known[1:4]):
                yield f"{here}: expected file_data, file_id or file_url."
            if part.get("file_data"):
                yield from address(part["file_data"], f"{here}.file_data", None)
                if not part.get("filename"):
                    yield f"{here}.filename: field required."
        else:
            name = "refusal" if kind == "refusal" else "text"
            known = ("type", name, "annotations", "logprobs")
            yield from members(part, known, here)
            yield from text(part.get(name), f"{here}.{name}")
