"""Turns thinking off where a changed conversation no longer allows it.

The rest of the response is then made without thinking; from the next question on, the model thinks
again. With `thinking: {"type": "adaptive"}` there is no such rule.
"""

from typing import Any

import msgspec

from contextstudio.accounts.responses import dump, read_json
from operations.domain.providers.progress import lacks_thinking
from threads.domain.formats.requests import Form

from .body import ForwardedBody

_list = msgspec.json.Decoder(list[msgspec.Raw]).decode
THINKING = "thinking"
_EDITING = "context_management"
_EDIT = "clear_thinking_"
"""How the edits of the provider's context editing begin that require thinking."""


def thinking_off(body: ForwardedBody, sent: bytes) -> dict[str, bytes | None]:
    """The changes to a body's other members if `sent` are the messages that go out instead."""
    mode = body.value.get(THINKING)
    if body.form != "anthropic" or not isinstance(mode, dict):
        return {}
    out = map(_read, reversed(_list(sent)))
    if mode.get("type") != "enabled" or not lacks_thinking(out):
        return {}
    changes: dict[str, bytes | None] = {THINKING: None}
    editing = body.value.get(_EDITING)
    edits = editing.get("edits") if isinstance(editing, dict) else None
    if isinstance(editing, dict) and isinstance(edits, list):
        kept = [one for one in edits if not _needs_thinking(one)]
        if len(kept) < len(edits):
            changes[_EDITING] = dump(editing | {"edits": kept}) if kept else None
    return changes


def _read(message: msgspec.Raw) -> Form:
    read: Form = read_json(bytes(memoryview(message)))
    return read


def _needs_thinking(edit: Any) -> bool:
    return isinstance(edit, dict) and str(edit.get("type")).startswith(_EDIT)
