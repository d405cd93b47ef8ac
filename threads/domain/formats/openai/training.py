"""Training rows, one line of JSON each: for fine-tuning, and with prompts and completions.

OpenAI's fine-tuning form, `{"messages", "tools"}`, is only written; such lines are read as
`openai`. It has no place for reasoning. A tool that was called but is not defined is declared by
its name, with any arguments.

`{"prompt", "completion"}` is only read. Both are texts, or both are lists of OpenAI's messages; all
other members of a row become events.

Sources: platform.openai.com/docs/guides/supervised-fine-tuning and /fine-tuning (before chats),
huggingface.co/docs/trl/dataset_formats.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from threads.domain.formats.format import Heading, Writer
from threads.domain.formats.io import fields, json_text
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.kit.list_format import ListFormat, has_members, per_element
from threads.domain.message import Message, Role
from threads.domain.part import JSON, Text, ToolCall

from .forms import write_request_messages
from .messages import read_element

ROLES = {"prompt": Role.USER, "completion": Role.ASSISTANT}


def _text(name: str, row: Element) -> Iterator[Message]:
    """A text as a message; its white space is kept, because it was trained on."""
    text: JSON = fields.require(row.value, str, "text or a list of messages", ())
    parts = (Text(text),) if text else ()
    yield Message(role=ROLES[name], parts=parts, records=(row.record,))


LIST_FORMAT = ListFormat(
    name="completions",
    label="a data set of prompts and completions",
    score=has_members("prompt", "completion", score=0.7),
    lists=dict.fromkeys(ROLES, per_element(read_element)),
    text=_text,
)
FORMAT = LIST_FORMAT.format
_LEFT_OUT = frozenset({"reasoning_content", "thinking_blocks"})


def write(messages: Iterable[Message], heading: Heading) -> Iterator[bytes]:
    """The line, one message at a time; the tools come last, because only then are all known."""
    called: dict[str, None] = {}
    yield b'{"messages": ['
    separator = b""
    for message in messages:
        names = (part.name for part in message.parts if isinstance(part, ToolCall))
        called.update(dict.fromkeys(names))
        for form in write_request_messages(message, address=heading.address):
            yield separator + json_text.dump(_trained(form))
            separator = b", "
    tools = [*_defined(heading.tools)]
    known = {fields.text(fields.mapping(tool, "function"), "name") for tool in tools}
    tools += [_declared(name) for name in called if name not in known]
    yield b"]" + (b', "tools": ' + json_text.dump(tools) if tools else b"") + b"}\n"


def _trained(form: dict[str, Any]) -> dict[str, Any]:
    """A request's message without members that aren't trained on; `developer` becomes `system`."""
    kept = {name: value for name, value in form.items() if name not in _LEFT_OUT}
    if kept["role"] == Role.DEVELOPER:
        kept["role"] = str(Role.SYSTEM)
    return kept


def _defined(tools: JSON) -> Iterator[dict[str, Any]]:
    """Tool definitions in OpenAI's form, given in that form, as functions, or in Anthropic's."""
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


WRITER = Writer("Fine-tuning line", "jsonl", "application/jsonl", write)
