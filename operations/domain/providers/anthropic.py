"""Anthropic Messages.

Source: platform.claude.com/docs/en/api/messages.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from threads.domain.formats.anthropic.messages import write_pieces
from threads.domain.message import Message, Role

from .passes.work import Work
from .request import Written
from .rules import IDS as SHORT_IDS
from .rules import PDF, PICTURES, Alphabet, Reasoning, Rules
from .tools import definitions
from .turns import Turn, TurnPart, without_blank_texts

_SERVER = frozenset(
    {"web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result"}
    | {"bash_code_execution_tool_result", "text_editor_code_execution_tool_result"}
    | {"tool_search_tool_result", "server_tool_use"}
)
"""Blocks that need no beta of the API; other blocks are described in words."""
_GIVEN = frozenset({"image", "document", "search_result"})
RULES = Rules(
    strategies=frozenset({"anthropic"}),
    ids=Alphabet(legal=SHORT_IDS.legal, longest=64),
    merges=True,
    results_by_user=True,
    reasoning=Reasoning.SIGNED,
    images=PICTURES,
    files=PDF | {"text/plain"},
    image_urls=True,
    file_urls=PDF,
    result_media=True,
    error_media=False,
    opaque={
        Role.ASSISTANT: _SERVER,
        Role.USER: _GIVEN | {"container_upload"},
        Role.TOOL: _GIVEN | {"tool_reference"},
    },
)


def write_anthropic(turns: list[Turn], work: Work, prompt: str) -> Written:
    """The body of `POST /v1/messages`."""
    draft = work.draft
    heading = replace(
        draft.heading, strategy="anthropic"
    )  # other providers' reasoning is gone by now
    messages: list[dict[str, Any]] = []
    sources: list[Sequence[TurnPart]] = []
    for turn in turns:
        if turn.role is not Role.ASSISTANT:
            turn.pieces = list(map(without_blank_texts, turn.pieces))
        message = Message(role=turn.role, parts=turn.parts)
        for piece in write_pieces(message, heading):
            messages.append(piece.form)
            sources.append(turn.pieces)
    request: dict[str, Any] = {"model": draft.model, "max_tokens": draft.answer_tokens}
    if prompt:
        request["system"] = prompt
    request["messages"] = messages
    if tools := definitions(work):
        request["tools"] = [tool.form(input_schema=tool.schema) for tool in tools]
    return Written(request, messages, prompt or None, sources)
