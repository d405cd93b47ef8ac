"""Requests in the form of OpenAI Chat, which several providers take, each in its dialect."""

from collections.abc import Callable
from typing import Any

from operations.domain.tree.key import Key
from threads.domain.formats.openai.writing import write_spoken, write_tool_message
from threads.domain.message import Message, Role
from threads.domain.part import File, Image, Part, Text, ToolResult

from .passes.draft_turns import Piece, Turn, Work, keys_of
from .passes.preparing import prepared, system_of
from .request import Compiled, Draft
from .rules import Rules
from .tools import chat_tools

Form = dict[str, Any]
Finish = Callable[[Form, Turn, Work], None]
"""Gives a written message what its provider wants beside OpenAI's form."""


def compile_chat(draft: Draft, rules: Rules, finish: Finish | None = None) -> Compiled:
    """The request of a draft under a provider's rules."""
    turns, work = prepared(draft, rules)
    messages: list[Form] = []
    origins: list[tuple[Key, ...]] = []
    if words := system_of(draft):
        messages.append({"role": "system", "content": words})
        origins.append(())
    for turn in turns:
        for form, keys in _written(turn, draft):
            if finish is not None:
                finish(form, turn, work)
            messages.append(form)
            origins.append(keys)
    request: Form = {"model": draft.model, "messages": messages}
    if tools := list(chat_tools(work)):
        request["tools"] = tools
    issues = work.findings.issues()
    return Compiled(request, messages, None, tuple(origins), issues)


def _written(turn: Turn, draft: Draft) -> list[tuple[Form, tuple[Key, ...]]]:
    """The messages of a turn, each with the keys of what it is made of."""
    if turn.role is Role.TOOL:
        return [(_form(piece), keys_of([piece])) for piece in turn.pieces]
    first = turn.pieces[0].part
    if len(turn.pieces) == 1 and isinstance(first, Text) and not turn.name:
        return [({"role": str(turn.role), "content": first.text}, turn.keys)]
    message = Message(role=turn.role, parts=_one_text(turn.parts), name=turn.name)
    form = write_spoken(message, message.parts, draft.heading.address)
    return [(form, turn.keys)]


def _form(piece: Piece) -> Form:
    part = piece.part
    assert isinstance(part, ToolResult)  # noqa: S101 - a tool's turn holds nothing else
    return write_tool_message(ToolResult(part.call_id, part.content))


def _one_text(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """The parts with their texts as one where no image or block stands among them.

    Some hosts take a string alone as content.
    """
    texts = [part.text for part in parts if isinstance(part, Text)]
    others = [part for part in parts if not isinstance(part, Text)]
    if len(texts) < 2 or any(isinstance(part, Image | File) for part in others):
        return parts
    return (Text("\n\n".join(texts)), *others)


def with_text(form: Form, _turn: Turn, _work: Work) -> None:
    """Gives an answer that is calls alone an empty text: some hosts fail on null."""
    if form.get("content") is None:
        form["content"] = ""
