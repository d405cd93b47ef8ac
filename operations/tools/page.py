"""docs/tools.md: the table of tools for people, written from the table itself."""

from collections.abc import Iterable
from typing import Any

from .schemas import description, parameters
from .tool import Tool

_HEAD = """\
# The agent's tools

This page is written from the table of tools: `manage.py tools_page > docs/tools.md`. What it
says of a tool is what a model is told of it.

Every tool is called in the same way over MCP (`/mcp`), REST (`POST /api/tools/<name>`) and from
a shell (`manage.py tool <name> '<json>'`); `GET /api/tools?format=openai|anthropic|mcp` gives
the schemas for a request's `tools`. [connect.md](connect.md) shows how.

Message indexes are 0-based over the original messages, the system message included. The ranges
of `tag_messages`, `digest_messages`, `revise_messages` and `snip_messages` are inclusive; those
of `get_message_range`, `request_context_slice` and `summarize_message_range` half-open. Where a
tool takes indexes it also takes keys (`targets`, `order`, `after`). Besides its own fields every
tool takes `project`, `expected_head` (refuse if the log has grown beyond this entry) and
`idempotency_key` (a repeat answers the same again). Unknown fields are refused.
"""


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
        "Permanent. "
        if tool.is_permanent
        else "Only reads. "
        if tool.reads_only
        else ""
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
    """A description whose own headings stand below the tool's."""
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
