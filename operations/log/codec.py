"""Encodes operations as the log stores them: a kind and the bytes of a JSON object.

What was written once must stay readable for ever: a kind never changes its meaning, and a new
meaning is a new kind. `tests/operations/payloads` keeps one payload of each.
"""

import json
from dataclasses import fields, is_dataclass
from typing import Any

from operations.domain.log.operation import (
    ALWAYS,
    CONTROLS,
    EDITS,
    Amend,
    Condition,
    Edit,
    Operation,
)
from operations.domain.tree.leaf import MadeMessage
from operations.domain.tree.span import Span
from threads.domain.body import decode_part, encode_part

_SILENT = (("moved", ()), ("actor", ""))
"""Fields with default values that are not written."""


def encode(operation: Operation) -> tuple[str, bytes]:
    """Encode an operation as kind and payload. Any text passes, even lone surrogates."""
    text = json.dumps(_plain(operation), ensure_ascii=False, separators=(",", ":"))
    return operation.kind, text.encode("utf-8", "surrogatepass")


def decode(kind: str, payload: bytes) -> Operation:
    """Decode what `encode` wrote. Raises KeyError for an unknown kind."""
    data = json.loads(payload.decode("utf-8", "surrogatepass"))
    if kind == Amend.kind:
        return Amend(
            operation=data["operation"], edit=_edit(data["edit"]["kind"], data["edit"])
        )
    if kind in EDITS:
        return _edit(kind, data)
    members: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in data.items()
    }
    return CONTROLS[kind](**members)


def _plain(value: Any) -> Any:
    """Dataclasses as dicts, without conditions that always hold and without `_SILENT` fields;
    tuples as lists."""
    if isinstance(value, MadeMessage):
        return {
            "role": value.role,
            "parts": [encode_part(part) for part in value.parts],
            "tokens": value.tokens,
        }
    if isinstance(value, Amend):
        return {
            "operation": value.operation,
            "edit": {"kind": value.edit.kind, **_plain(value.edit)},
        }
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if is_dataclass(value):
        return {
            field.name: _plain(member)
            for field in fields(value)
            if (member := getattr(value, field.name)) != ALWAYS
            and (field.name, member) not in _SILENT
        }
    return value


def _edit(kind: str, data: dict[str, Any]) -> Edit:
    members: dict[str, Any] = {}
    for name, value in data.items():
        match name:
            case "kind":
                continue
            case "condition":
                members[name] = Condition(
                    tags=tuple(value["tags"]),
                    objectives=tuple(value["objectives"]),
                    match=value["match"],
                )
            case "messages":
                members[name] = tuple(_new(message) for message in value)
            case "spans":
                members[name] = tuple(Span(**span) for span in value)
            case _:
                members[name] = tuple(value) if isinstance(value, list) else value
    return EDITS[kind](**members)


def _new(data: dict[str, Any]) -> MadeMessage:
    return MadeMessage(
        data["role"], tuple(decode_part(part) for part in data["parts"]), data["tokens"]
    )
