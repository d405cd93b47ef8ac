"""OpenAI's form for fine-tuning: one line of JSON a conversation, `{"messages", "tools"}`.

Written only; such lines are read as `openai`. Reasoning has no place in it. A tool that was called
and that nothing defines is declared by its name, with any arguments. Source:
platform.openai.com/docs/guides/supervised-fine-tuning.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from threads.domain.formats.format import Heading, Writer
from threads.domain.formats.io import fields, json_text
from threads.domain.message import Message, Role
from threads.domain.part import JSON, ToolCall

from . import writing as openai_writing

_LEFT_OUT = frozenset({"reasoning_content", "thinking_blocks"})


def write(messages: Iterable[Message], heading: Heading) -> Iterator[bytes]:
    """The line, a message at a time; tools come last, for they are known by then."""
    called: dict[str, None] = {}
    yield b'{"messages": ['
    separator = b""
    for message in messages:
        names = (part.name for part in message.parts if isinstance(part, ToolCall))
        called.update(dict.fromkeys(names))
        for form in openai_writing.write_request_messages(
            message, address=heading.address
        ):
            yield separator + json_text.dump(_trained(form))
            separator = b", "
    tools = [*_defined(heading.tools)]
    known = {fields.text(fields.mapping(tool, "function"), "name") for tool in tools}
    tools += [_declared(name) for name in called if name not in known]
    yield b"]" + (b', "tools": ' + json_text.dump(tools) if tools else b"") + b"}\n"


def _trained(form: dict[str, Any]) -> dict[str, Any]:
    """A request's message without what isn't trained on; a developer's word is a system's."""
    kept = {name: value for name, value in form.items() if name not in _LEFT_OUT}
    if kept["role"] == Role.DEVELOPER:
        kept["role"] = str(Role.SYSTEM)
    return kept


def _defined(tools: JSON) -> Iterator[dict[str, Any]]:
    """Definitions in the form of OpenAI's tools, given so, as functions, or as Anthropic's."""
    for tool in tools if isinstance(tools, list) else []:
        if fields.mapping(tool, "function"):
            yield tool
        elif name := fields.text(tool, "name"):
            function = {"name": name}
            if described := fields.text(tool, "description"):
                function["description"] = described
            parameters = fields.mapping(tool, "parameters")
            parameters = parameters or fields.mapping(tool, "input_schema")
            yield {
                "type": "function",
                "function": {**function, "parameters": parameters},
            }


def _declared(name: str) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {}, "additionalProperties": True}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


WRITER = Writer("Fine-tuning (JSONL)", "jsonl", "application/jsonl", write)
