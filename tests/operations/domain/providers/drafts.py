"""Short notation for drafts, and helpers to examine requests."""

from collections.abc import Iterable
from typing import Any

from operations.domain.providers.request import Compiled, Draft, Issue, Layer, Outgoing
from operations.domain.providers.signed_places import SignedPlaces
from threads.domain.formats.format import Heading
from threads.domain.message import Role
from threads.domain.part import Part, Text, ToolCall, ToolResult

PNG = b"\x89PNG\r\n\x1a\nrest"
PDF = b"%PDF-1.7 rest"


def message(
    place: int, role: str, *parts: Part | str, strategy: str = "openai", **members: Any
) -> Outgoing:
    """The original at an index; a string is a text part."""
    given: dict[str, Any] = {"key": f"m{place}", "index": place} | members
    return Outgoing(
        node=given["key"],
        role=Role(role),
        parts=tuple(Text(part) if isinstance(part, str) else part for part in parts),
        tokens=1,
        group=0,
        groups=frozenset({0}),
        strategy=strategy,
        **given,
    )


def draft(
    *rows: tuple[Any, ...],
    strategy: str = "openai",
    system: str = "",
    intact: int = 0,
    **members: Any,
) -> Draft:
    """A draft of rows `(role, *parts)`; a row may also be a message.

    Signatures hold in the first `intact`.
    """
    messages = [
        row if isinstance(row, Outgoing) else message(place, *row, strategy=strategy)
        for place, row in enumerate(rows)
    ]
    layers = [Layer(name="system", text=system, tokens=1)] if system else []
    signed = SignedPlaces.first(intact)
    given = {"heading": Heading(), "model": "a-model", "signed": signed} | members
    return Draft(layers=layers, messages=messages, **given)


def call(id_: str, name: str = "look", **arguments: Any) -> ToolCall:
    return ToolCall(id_, name, arguments)


def result(id_: str, *content: Any, **members: Any) -> ToolResult:
    texts = (Text(item) if isinstance(item, str) else item for item in content)
    return ToolResult(id_, tuple(texts), **members)


def rules(compiled: Compiled) -> set[str]:
    return {issue.rule for issue in compiled.issues}


def issue(compiled: Compiled, rule: str) -> Issue:
    """The one issue of a rule."""
    [found] = [issue for issue in compiled.issues if issue.rule == rule]
    return found


def spoken(compiled: Compiled) -> list[tuple[str, Any]]:
    """Role and content of each message."""
    return [(form["role"], form.get("content")) for form in compiled.messages]


def blocks(compiled: Compiled) -> Iterable[dict[str, Any]]:
    """All blocks of a request whose messages have lists of blocks."""
    for form in compiled.messages:
        content = form.get("content", form.get("parts"))
        if isinstance(content, list):
            yield from content
