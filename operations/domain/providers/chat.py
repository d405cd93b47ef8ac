"""Requests in the form of OpenAI Chat, used by several providers under different rules.

Sources: platform.openai.com/docs/api-reference/chat/create; docs.mistral.ai/api and the checks of
the package mistral-common; api-docs.deepseek.com (create-chat-completion, thinking_mode).
"""

import re
from collections.abc import Sequence
from typing import Any

from threads.domain.formats.openai.forms import write_spoken, write_tool_message
from threads.domain.message import Role
from threads.domain.part import File, Image, Text, Thinking, ToolResult

from .passes import findings
from .passes.work import Work
from .request import Written
from .rules import PDF, PICTURES, Alphabet, Reasoning, Rules
from .tools import definitions
from .turns import Turn, TurnPart, with_one_text

Form = dict[str, Any]
PLACEHOLDER = "(not recorded)"
"""Stands for missing reasoning in an answer."""
OPENAI = Rules(
    strategies=frozenset({"openai"}),
    system_anywhere=True,
    alternates=False,
    images=PICTURES,
    image_urls=True,
    files=PDF,
    opaque={
        Role.USER: frozenset({"input_audio", "file"}),
        Role.ASSISTANT: frozenset({"refusal"}),
    },
    written_arguments=True,
    speakers=re.compile(r"[a-zA-Z0-9_-]{1,64}"),
)
MISTRAL = Rules(
    strategies=frozenset({"mistral"}),
    ids=Alphabet(legal=re.compile(r"[a-zA-Z0-9]+"), longest=9, shortest=9),
    bridges=True,
    images=PICTURES,
    image_urls=True,
    content_is_text=True,
    written_arguments=True,
)
"""Speakers alternate strictly; ids have nine letters or digits (R2, R3)."""
DEEPSEEK = Rules(
    strategies=frozenset({"deepseek"}),
    reasoning=Reasoning.WORDS,
    content_is_text=True,
    written_arguments=True,
)
"""Text only, and reasoning on every answer (R13).

In thinking mode an answer without `reasoning_content` is refused, on some hosts also one in which
it is empty; outside thinking mode the member is ignored."""
GENERIC_STRICT = Rules(bridges=True, content_is_text=True, written_arguments=True)
"""A strict host of OpenAI's form: the chat templates of vLLM, llama.cpp and the like (R16).

Only one system message, which comes first; alternating speakers; content as a string; and no
member that the oldest form of the API did not have."""


def write_chat(turns: list[Turn], work: Work, prompt: str) -> Written:
    """The body of `POST /v1/chat/completions` (DeepSeek's path has no `/v1`)."""
    messages: list[Form] = []
    sources: list[Sequence[TurnPart]] = []
    if prompt:
        messages.append({"role": "system", "content": prompt})
        sources.append(())
    for turn in turns:
        if turn.role is Role.TOOL:
            turn.pieces = list(map(with_one_text, turn.pieces))
            messages += map(_result, turn.pieces)
            sources += [(piece,) for piece in turn.pieces]
            continue
        if turn.role is Role.ASSISTANT and work.rules.reasoning is Reasoning.WORDS:
            _give_reasoning(turn, work)
        form = _spoken(turn, work)
        if work.rules.content_is_text and form.get("content") is None:
            form["content"] = ""
        messages.append(form)
        sources.append(turn.pieces)
    request: Form = {"model": work.draft.model, "messages": messages}
    if tools := definitions(work):
        request["tools"] = [
            # The description comes before the parameters here.
            {"type": "function", "function": tool.form() | {"parameters": tool.schema}}
            for tool in tools
        ]
    return Written(request, messages, None, sources)


def _spoken(turn: Turn, work: Work) -> Form:
    """The message of a turn; its texts are joined if the content can be a string."""
    first = turn.pieces[0].part
    if len(turn.pieces) == 1 and isinstance(first, Text) and not turn.name:
        return {"role": str(turn.role), "content": first.text}
    if len(turn.texts()) > 1 and not any(
        isinstance(piece.part, Image | File) for piece in turn.pieces
    ):  # some hosts accept only a string
        turn.joined = (*turn.joined, Text)
    address = work.draft.heading.address
    return write_spoken(turn.role, turn.name, turn.written, address)


def _result(piece: TurnPart) -> Form:
    part = piece.part
    assert isinstance(part, ToolResult)  # noqa: S101 - a tool's turn holds nothing else
    return write_tool_message(ToolResult(part.call_id, part.content))


def _give_reasoning(turn: Turn, work: Work) -> None:
    """Gives an answer its reasoning as one text, or a placeholder (R13)."""
    turn.joined = (Thinking,)
    if not any(isinstance(piece.part, Thinking) for piece in turn.pieces):
        work.report(findings.NO_REASONING, turn.pieces[0])
        turn.pieces.insert(0, TurnPart(Thinking(PLACEHOLDER)))
