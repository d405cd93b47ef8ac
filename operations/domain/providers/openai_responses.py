"""OpenAI's Responses API, without state on its side: every item is sent (R10, R11).

Items are sent without their ids: reasoning goes out with its signature or not at all, so nothing
refers to an item that isn't there.

Source: platform.openai.com/docs/api-reference/responses/create.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from threads.domain.formats.openai.items import SEARCH
from threads.domain.formats.openai.items_writing import API, ItemWriter, in_turns
from threads.domain.message import Message, Role
from threads.domain.part import Opaque, Part, Thinking

from .passes.work import Work
from .request import Written
from .rules import IDS, PDF, PICTURES, Alphabet, Reasoning, Rules
from .tools import definitions
from .turns import Turn, TurnPart

Item = dict[str, Any]
RULES = Rules(
    strategies=frozenset({"openai"}),
    ids=Alphabet(legal=IDS.legal, longest=64),
    system_anywhere=True,
    alternates=False,
    merges=True,
    reasoning=Reasoning.ITEMS,
    images=PICTURES,
    image_urls=True,
    files=PDF,
    file_urls=PDF | {"application/octet-stream"},
    result_media=True,
    opaque={
        Role.ASSISTANT: frozenset(
            {"refusal", "compaction", "compaction_summary", "web_search_call"}
        ),
        Role.USER: frozenset({"input_file", "input_image"}),
        # A shell's output is written whole, as JSON.
        Role.TOOL: frozenset(
            {"input_file", "input_image", f"{SEARCH}_output", "output"}
        ),
    },
    written_arguments=True,
    text_arguments=True,
)


def write_responses(turns: list[Turn], work: Work, prompt: str) -> Written:
    """The body of `POST /v1/responses`."""
    for turn in turns:
        turn.pieces = [
            piece._replace(part=_without_id(piece.part))
            for piece in turn.pieces
            if not (isinstance(piece.part, Thinking) and piece.part.data is None)
        ]
    heading = replace(work.draft.heading, strategy="openai", first_changed=None)
    writer = ItemWriter(heading, API)
    items: list[Item] = []
    sources: list[Sequence[TurnPart]] = []
    spoken = [*_spoken(turns)]
    pieces_of = iter([pieces for pieces, _ in spoken])
    for run in in_turns(message for _, message in spoken):
        for _, made in writer.write([(0, message) for _, message in run]):
            pieces = next(pieces_of)
            items += made
            sources += [pieces for _ in made]
    request: dict[str, Any] = {"model": work.draft.model}
    if prompt:
        request["instructions"] = prompt
    request |= {"input": items, "store": False}
    request["include"] = ["reasoning.encrypted_content"]
    if tools := definitions(work):
        request["tools"] = [
            {"type": "function"} | tool.form(parameters=tool.schema, strict=False)
            for tool in tools
        ]
    return Written(request, items, prompt or None, sources)


def _spoken(turns: Iterable[Turn]) -> Iterator[tuple[list[TurnPart], Message]]:
    """The turns as messages; each result is one of its own, because it becomes an item."""
    for turn in turns:
        is_result = turn.role is Role.TOOL
        for pieces in (
            [[piece] for piece in turn.pieces] if is_result else [turn.pieces]
        ):
            parts = tuple(piece.part for piece in pieces)
            yield pieces, Message(role=turn.role, parts=parts)


def _without_id(part: Part) -> Part:
    """An item that the provider made, without the id by which it would be looked up."""
    if not isinstance(part, Opaque):
        return part
    data = {name: value for name, value in part.data.items() if name != "id"}
    if part.type == "compaction_summary":  # the former name
        return Opaque("compaction", data | {"type": "compaction"})
    return Opaque(part.type, data)
