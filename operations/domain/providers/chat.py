"""Requests in the form of OpenAI Chat, which several providers take, each in its dialect."""

from collections.abc import Callable
from typing import Any

from operations.domain.tree.key import Key
from threads.domain.formats.openai.forms import write_spoken, write_tool_message
from threads.domain.message import Message, Role
from threads.domain.part import File, Image, Text, ToolResult

from .passes.preparing import prepared, system_of
from .passes.work import Work
from .request import Compiled, Draft
from .rules import Rules
from .tools import chat_tools
from .turns import Piece, Turn, keys_of, with_one_text

Form = dict[str, Any]
Finish = Callable[[Turn, Work], None]
"""Gives a turn what its provider wants beside OpenAI's form."""


def compile_chat(
    draft: Draft,
    rules: Rules,
    finish: Finish | None = None,
    *,
    gives_text: bool = False,
) -> Compiled:
    """The request of a draft under a provider's rules.

    `gives_text`: an answer that is calls alone has an empty text, for some hosts fail on null.
    """
    turns, work = prepared(draft, rules)
    messages: list[Form] = []
    origins: list[tuple[Key, ...]] = []
    if prompt := system_of(draft):
        messages.append({"role": "system", "content": prompt})
        origins.append(())
    for turn in turns:
        if finish is not None:
            finish(turn, work)
        if turn.role is Role.TOOL:
            turn.pieces = [with_one_text(piece) for piece in turn.pieces]
        elif len(turn.pieces) > 1 and _takes_a_string(turn):
            turn.joined = (*turn.joined, Text)
        for form, keys in _written(turn, draft):
            if gives_text and form.get("content") is None:
                form["content"] = ""
            messages.append(form)
            origins.append(keys)
    request: Form = {"model": draft.model, "messages": messages}
    if tools := list(chat_tools(work)):
        request["tools"] = tools
    issues = work.findings.issues()
    return Compiled(
        request, messages, None, tuple(origins), issues, tuple(turns), prompt
    )


def _written(turn: Turn, draft: Draft) -> list[tuple[Form, tuple[Key, ...]]]:
    """The messages of a turn, each with the keys of what it is made of."""
    if turn.role is Role.TOOL:
        return [(_form(piece), keys_of([piece])) for piece in turn.pieces]
    first = turn.pieces[0].part
    if len(turn.pieces) == 1 and isinstance(first, Text) and not turn.name:
        return [({"role": str(turn.role), "content": first.text}, turn.keys)]
    message = Message(role=turn.role, parts=turn.written, name=turn.name)
    form = write_spoken(message, message.parts, draft.heading.address)
    return [(form, turn.keys)]


def _form(piece: Piece) -> Form:
    part = piece.part
    assert isinstance(part, ToolResult)  # noqa: S101 - a tool's turn holds nothing else
    return write_tool_message(ToolResult(part.call_id, part.content))


def _takes_a_string(turn: Turn) -> bool:
    """Whether its content can be a string, which some hosts take alone."""
    return not any(isinstance(piece.part, Image | File) for piece in turn.pieces)
