"""The tools' schemas in the forms of providers, and docs/tools.md for people."""

import inspect
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Literal

from pydantic import BaseModel

from .tool import Tool

Format = Literal["openai", "anthropic", "mcp"]
_ACTED_ON = ("session_id", "operation_id")
_LATER = ("condition", "propose", "title")
"""Arguments that every edit takes besides its own."""
_HEAD = """\
# The agent's tools

This page is generated from the table of tools: `manage.py tools_page > docs/tools.md`. Models
read the same descriptions, except that OpenAI's, which may have at most 1,024 characters, read a
shorter one of `context`.

Every tool is called in the same way over MCP (`/mcp`), REST (`POST /api/tools/<name>`) and from
a shell (`manage.py tool <name> '<json>'`); `GET /api/tools?format=openai|anthropic|mcp` gives
the schemas for a request's `tools`. [connect.md](connect.md) shows how.

Message indexes are 0-based over the original messages, the system message included. The ranges
of `tag_messages`, `digest_messages`, `revise_messages` and `snip_messages` are inclusive; those
of `get_message_range`, `request_context_slice` and `summarize_message_range` exclude the end. The
tools that record an edit take keys and short ids (`targets`, `order`, `after`) as well as indexes.
Besides its own fields, every tool takes `project`, `expected_head` (refuse if the log has grown
beyond this entry), `idempotency_key` (a repeated call gets the same answer), `max_tokens` (4,000:
where an answer is cut) and `cursor` (continue where the last answer was cut). Unknown fields are
refused.
"""


class ToolList(BaseModel):
    """Tools as a provider's request lists them."""

    tools: list[dict[str, Any]]


def function_schemas(tools: Iterable[type[Tool]], form: Format) -> list[dict[str, Any]]:
    """Tools in the form of a request to OpenAI or Anthropic, or of an MCP server."""
    return [_listed(tool, form) for tool in tools]


def description(tool: type[Tool]) -> str:
    """What a model is told about a tool: when and how to use it, and an example."""
    return inspect.cleandoc(tool.__doc__ or "")


def brief(tool: type[Tool]) -> str:
    """The description in at most 1,024 characters: OpenAI refuses a request with a longer one."""
    return inspect.cleandoc(tool.brief) or description(tool)


@cache
def parameters(tool: type[Tool]) -> dict[str, Any]:
    """The JSON schema of a tool's arguments, using only what every provider accepts.

    It contains no references. Optional arguments are simply not required (null is no type of its
    own), and arguments common to all tools come last. The kind of an edit is implied by the
    tool's name. Cached, because the schemas of all tools take a tenth of a second, and each agent
    that connects lists them.
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
    """Order: what is acted on, then the tool's own arguments, then those common to all."""
    if name in _ACTED_ON:
        return 0
    return 2 if name in _LATER else 3 if name in Tool.model_fields else 1


def _listed(tool: type[Tool], form: Format) -> dict[str, Any]:
    if form == "openai":
        told = {"name": tool.name, "description": brief(tool)}
        return {
            "type": "function",
            "function": {**told, "parameters": parameters(tool)},
        }
    named = {"name": tool.name, "description": description(tool)}
    if form == "anthropic":
        return {**named, "input_schema": parameters(tool)}
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
    """A schema without references, titles and null alternatives."""
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
    schema = _with_items(_without_null(schema))
    fields = schema.pop("properties", None)
    simple = {name: _simplified(value, defined) for name, value in schema.items()}
    if fields is not None:
        simple["properties"] = {
            name: _simplified(value, defined) for name, value in fields.items()
        }
    return simple if "$ref" not in simple else _simplified(simple, defined)


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Turn fields that may be null by default into optional ones."""
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


def _with_items(schema: dict[str, Any]) -> dict[str, Any]:
    """Turn a list with a type per place into one of a single type, if all places have the same.

    Its length is given separately. OpenAI and Gemini refuse a tool that lists the places.
    """
    places = schema.get("prefixItems")
    if not places or any(one != places[0] for one in places):
        return schema
    left = {name: value for name, value in schema.items() if name != "prefixItems"}
    return {**left, "items": places[0]}


def tools_page(tools: Iterable[type[Tool]]) -> str:
    table = list(tools)
    lines = [_HEAD, "| tool | |", "|---|---|"]
    for tool in table:
        first = description(tool).split("\n\n")[0].replace("\n", " ")
        lines.append(f"| [`{tool.name}`](#{tool.name}) | {first} |")
    for tool in table:
        lines += ["", *_section(tool)]
    return "\n".join(lines) + "\n"


def _section(tool: type[Tool]) -> list[str]:
    schema = parameters(tool)
    own = {
        name: field
        for name, field in schema["properties"].items()
        if name not in Tool.model_fields
    }
    kind = (
        "Permanent. " if tool.is_permanent else "Read-only. " if tool.reads_only else ""
    )
    lines = [f"## {tool.name}", "", kind + _nested(description(tool)), ""]
    if not own:
        return [*lines, "No fields of its own."]
    lines += ["| field | | |", "|---|---|---|"]
    for name, field in own.items():
        need = "" if name in schema["required"] else _default(field)
        words = field.get("description", "").replace("|", "\\|").replace("\n", " ")
        lines.append(f"| `{name}` | {_kind(field)}{need} | {words} |")
    return lines


def _nested(words: str) -> str:
    """A description with its headings moved below that of the tool."""
    return words.replace("\n## ", "\n### ").replace("\n### #", "\n####")


def _default(field: dict[str, Any]) -> str:
    value = field.get("default")
    return ", optional" if value in (None, "", [], False) else f", `{value}` by default"


def _kind(field: dict[str, Any]) -> str:
    if "enum" in field:
        return " or ".join(f"`{word}`" for word in field["enum"])
    if "anyOf" in field:
        return " or ".join(dict.fromkeys(map(_kind, field["anyOf"])))
    if field.get("type") == "array":
        return f"list of {_kind(field['items'])}" if "items" in field else "list"
    return str(field.get("type", "object"))
