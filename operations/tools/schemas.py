"""The table of tools as models' providers take it: names, descriptions and JSON schemas."""

import inspect
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from pydantic import BaseModel

from .tool import Tool

Format = Literal["openai", "anthropic", "mcp"]
_ACTED_ON = ("session_id", "operation_id")
_LATER = ("condition", "propose", "title")
"""What every edit takes beside its own fields."""


def function_schemas(tools: Iterable[type[Tool]], form: Format) -> list[dict[str, Any]]:
    """Tools as a request to OpenAI or Anthropic, or a server of MCP, lists them."""
    return [_listed(tool, form) for tool in tools]


def description(tool: type[Tool]) -> str:
    """What a model is told of a tool: when to use it, how, and an example."""
    return inspect.cleandoc(tool.__doc__ or "")


def parameters(tool: type[Tool]) -> dict[str, Any]:
    """The JSON schema of a tool's arguments, in words that every provider takes.

    Nothing is referred to, what may be left out is just not required (null is no type of
    its own), and what all tools take comes last. The kind of an edit is said by the name.
    """
    schema = tool.model_json_schema()
    simple: dict[str, Any] = _simplified(schema, schema.get("$defs", {}))
    required = simple.get("required", [])
    fields = simple["properties"]
    names = sorted(fields, key=lambda name: (_rank(name), name not in required))
    return {
        "type": "object",
        "properties": {
            name: fields[name] for name in names if "const" not in fields[name]
        },
        "required": required,
        "additionalProperties": False,
    }


def _rank(name: str) -> int:
    """What is acted on first, then what is special to the tool, then what all take."""
    if name in _ACTED_ON:
        return 0
    return 2 if name in _LATER else 3 if name in Tool.model_fields else 1


def _listed(tool: type[Tool], form: Format) -> dict[str, Any]:
    named = {"name": tool.name, "description": description(tool)}
    if form == "anthropic":
        return {**named, "input_schema": parameters(tool)}
    if form == "openai":
        function = {**named, "parameters": parameters(tool)}
        return {"type": "function", "function": function}
    return {
        **named,
        "inputSchema": parameters(tool),
        "annotations": {
            "readOnlyHint": tool.reads_only,
            "destructiveHint": tool.is_permanent,
            "openWorldHint": False,
        },
    }


def _simplified(schema: Any, defined: Mapping[str, Any]) -> Any:
    """A schema without references, titles and alternatives of null."""
    if isinstance(schema, list):
        return [_simplified(item, defined) for item in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {name: value for name, value in schema.items() if name != "$defs"}
    if isinstance(schema.get("title"), str):
        del schema["title"]
    if reference := schema.pop("$ref", None):
        named = defined[reference.rpartition("/")[2]]
        return _simplified(named | schema, defined)
    schema = _without_null(schema)
    fields = schema.pop("properties", None)
    simple = {name: _simplified(value, defined) for name, value in schema.items()}
    if fields is not None:
        simple["properties"] = {
            name: _simplified(value, defined) for name, value in fields.items()
        }
    return simple if "$ref" not in simple else _simplified(simple, defined)


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """What may be null by default, as what may be left out."""
    kinds = schema.get("anyOf", ())
    left = [kind for kind in kinds if kind != {"type": "null"}]
    if len(left) == len(kinds):
        return schema
    schema = {name: value for name, value in schema.items() if name != "anyOf"}
    if schema.get("default", "") is None:
        del schema["default"]
    if len(left) == 1:
        alone: dict[str, Any] = left[0]
        return alone | schema
    return {"anyOf": left, **schema}


class ToolList(BaseModel):
    """Tools as a provider's request lists them."""

    tools: list[dict[str, Any]]
