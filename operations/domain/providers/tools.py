"""Converts definitions of tools from OpenAI Chat's form to each provider's."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from threads.domain.formats.io.fields import mapping
from threads.domain.part import JSON, ToolCall

from .passes import findings
from .passes.cleaning import clean
from .passes.pairing import legal_name
from .passes.work import Work
from .turns import Turn

_NO_ARGUMENTS: dict[str, Any] = {"type": "object", "properties": {}}


class Definition(NamedTuple):
    """A tool that the model may call; `schema` is the JSON Schema of its arguments."""

    name: str
    description: str
    schema: JSON

    def form(self, **members: Any) -> dict[str, Any]:
        """The name, the given members, and the description if there is one."""
        form = {"name": self.name, **members}
        return form | ({"description": self.description} if self.description else {})


def definitions(work: Work) -> list[Definition]:
    """The draft's tools with legal names, each name once."""
    found: dict[str, Definition] = {}
    for tool in work.draft.tools:
        function = mapping(tool, "function") or tool
        name = legal_name(clean(str(function.get("name", ""))), work.rules.names)
        schema = clean(function.get("parameters") or _NO_ARGUMENTS)
        words = clean(str(function.get("description") or ""))
        found.setdefault(name, Definition(name, words, schema))
    return list(found.values())


def with_called_tools(
    known: Iterable[Definition], turns: Sequence[Turn], work: Work
) -> list[Definition]:
    """The definitions, plus one for each tool that is called without being defined (R14)."""
    found = {tool.name: tool for tool in known}
    for turn in turns:
        for piece in turn.pieces:
            if isinstance(piece.part, ToolCall) and piece.part.name not in found:
                work.report(findings.NO_TOOLS, piece)
                name = piece.part.name
                found[name] = Definition(name, f"The tool {name}.", _NO_ARGUMENTS)
    return list(found.values())
