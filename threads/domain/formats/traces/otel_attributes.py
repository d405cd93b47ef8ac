"""Attributes of OpenTelemetry as a tree of their dotted names."""

from collections.abc import Iterable
from typing import Any

from threads.domain.formats.io import fields
from threads.domain.part import JSON

Tree = dict[str, Any]
STEPS = 16
"""Names in one key; what lies deeper is one name with dots in it."""


def attributes(value: JSON) -> Tree:
    """Attributes as a tree of their dotted names, be they OTLP's list or an object."""
    tree: Tree = {}
    if isinstance(value, list):
        pairs: Iterable[tuple[str, JSON]] = (
            (fields.text(one, "key"), plain(fields.mapping(one).get("value")))
            for one in value
        )
    else:
        pairs = fields.mapping(value).items()
    for name, inner in pairs:
        put(tree, name.split(".", STEPS), inner)
    return tree


def plain(value: JSON) -> JSON:
    """A value of OTLP (`{"stringValue": …}`) as it is in JSON."""
    for name, inner in fields.mapping(value).items():
        if name in ("stringValue", "boolValue", "doubleValue", "bytesValue"):
            return inner
        if name == "intValue":
            return int(inner) if str(inner).lstrip("-").isdecimal() else inner
        if name == "arrayValue":
            return [plain(one) for one in fields.items(inner, "values")]
        if name == "kvlistValue":
            return {
                fields.text(one, "key"): plain(fields.mapping(one).get("value"))
                for one in fields.items(inner, "values")
            }
    return None


def get(tree: Tree, *names: str) -> JSON:
    """The value of the first of these attributes that there is; None of none."""
    for name in names:
        value: JSON = tree
        for step in name.split("."):
            value = value.get(step) if isinstance(value, dict) else None
        if value is not None and value != "":
            return value
    return None


def word(tree: Tree, *names: str, limit: int = 128) -> str:
    """The first of these attributes that is a name."""
    for name in names:
        if found := fields.word({"value": get(tree, name)}, "value", limit=limit):
            return found
    return ""


def put(tree: Tree, path: list[str], value: JSON) -> None:
    """Set a value at a path; objects grow together, of two other values the last counts."""
    for name in path[:-1]:
        inner = tree.get(name)
        if not isinstance(inner, dict):
            inner = tree[name] = {} if inner is None else {"": inner}
        tree = inner
    last = path[-1]
    if isinstance(value, dict) and isinstance(tree.get(last), dict | None):
        held = tree.setdefault(last, {})
        for name, inner in value.items():
            put(held, name.split(".", STEPS), inner)
    elif isinstance(tree.get(last), dict):
        tree[last][""] = value
    else:
        tree[last] = value
