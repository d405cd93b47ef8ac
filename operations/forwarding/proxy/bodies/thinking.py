"""Turns thinking off where a changed conversation no longer allows it.

With Anthropic's `thinking: {"type": "enabled"}`, a response that is continued with results of tools
must begin with its thinking, or the request is refused. An operation on an earlier message makes
that thinking invalid, so it is left out (R7). The rest of this response is then made without
thinking; from the next question on, the model thinks again. With `adaptive` there is no such rule.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from contextstudio.accounts.responses import dump, read_json
from threads.domain.formats.requests import Form

from .body import ForwardedBody

_list = msgspec.json.Decoder(list[msgspec.Raw]).decode
THINKING = "thinking"
_BLOCKS = (THINKING, "redacted_thinking")
_EDITING = "context_management"
_EDIT = "clear_thinking_"
"""How the edits of the provider's context editing begin that require thinking."""


def thinking_off(body: ForwardedBody, sent: bytes) -> dict[str, bytes | None]:
    """The changes to a body's other members if `sent` are the messages that go out instead."""
    mode = body.value.get(THINKING)
    if body.form != "anthropic" or not isinstance(mode, dict):
        return {}
    if mode.get("type") != "enabled" or not _lost_thinking(body, _list(sent)):
        return {}
    changes: dict[str, bytes | None] = {THINKING: None}
    editing = body.value.get(_EDITING)
    edits = editing.get("edits") if isinstance(editing, dict) else None
    if isinstance(editing, dict) and isinstance(edits, list):
        kept = [one for one in edits if not _needs_thinking(one)]
        if len(kept) < len(edits):
            changes[_EDITING] = dump(editing | {"edits": kept}) if kept else None
    return changes


def _needs_thinking(edit: Any) -> bool:
    return isinstance(edit, dict) and str(edit.get("type")).startswith(_EDIT)


def _lost_thinking(body: ForwardedBody, sent: Sequence[msgspec.Raw]) -> bool:
    """Whether the response that is continued lacks the thinking that it must begin with.

    It begins after the last question. Its later steps, each after results, have thinking only if
    the model thought there.
    """
    steps = list(_steps(read_json(bytes(memoryview(one))) for one in reversed(sent)))
    if not steps:
        return False
    given = body.value[body.names.messages]
    own = next(_steps(given[place] for place in reversed(range(len(given)))), None)
    is_lost = own is not None and _begins(own) and not _begins(steps[0])
    return is_lost or not _begins(steps[-1])


def _steps(latest_first: Iterator[Form]) -> Iterator[list[Form]]:
    """The steps of the response in progress, the latest first; none if none is in progress.

    Each is its messages in order, because several in a row are read as one; so are the messages
    that a step answers, among which there must be a result.
    """
    step: list[Form] = []
    has_result = False
    for message in latest_first:
        if message.get("role") != "assistant":
            if step:
                yield step
                step, has_result = [], False
            has_result = has_result or _has_result(message)
        elif has_result:
            step.insert(0, message)
        else:
            return
    if step:
        yield step


def _has_result(message: Form) -> bool:
    return any(block.get("type") == "tool_result" for block in _blocks(message))


def _begins(step: Sequence[Form]) -> bool:
    """Whether a step begins with thinking."""
    first = next((block for message in step for block in _blocks(message)), {})
    return first.get("type") in _BLOCKS


def _blocks(message: Form) -> list[Form]:
    content = message.get("content")
    if not isinstance(content, list):
        return [{"type": "text", "text": content}] if content else []
    return [block for block in content if isinstance(block, dict)]
