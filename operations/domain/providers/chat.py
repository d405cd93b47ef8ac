"""Requests in the form of OpenAI Chat, which several providers take, each in its dialect."""

from collections.abc import Callable
from typing import Any

from operations.domain.tree.key import Key
from threads.domain.formats.openai.forms import write_spoken, write_tool_message
from threads.domain.message import Role
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
            turn.pieces = list(map(with_one_text, turn.pieces))
            messages += map(_result, turn.pieces)
            origins += [keys_of([piece]) for piece in turn.pieces]
            continue
        form = _spoken(turn, draft)
        if gives_text and form.get("content") is None:
            form["content"] = ""
        messages.append(form)
        origins.append(turn.keys)
    request: Form = {"model": draft.model, "messages": messages}
    if tools := list(chat_tools(work)):
        request["tools"] = tools
    issues = work.findings.issues()
    return Compiled(
        request, messages, None, tuple(origins), issues, tuple(turns), prompt
    )


def _spoken(turn: Turn, draft: Draft) -> Form:
    """The message of a turn; its texts are one where its content can be a string."""
    first = turn.pieces[0].part
    if len(turn.pieces) == 1 and isinstance(first, Text) and not turn.name:
        return {"role": str(turn.role), "content": first.text}
    if len(turn.texts()) > 1 and not any(
        isinstance(piece.part, Image | File) for piece in turn.pieces
    ):  # some hosts take nothing but a string
        turn.joined = (*turn.joined, Text)
    return write_spoken(turn.role, turn.name, turn.written, draft.heading.address)


def _result(piece: Piece) -> Form:
    part = piece.part
    assert isinstance(part, ToolResult)  # noqa: S101 - a tool's turn holds nothing else
    return write_tool_message(ToolResult(part.call_id, part.content))
