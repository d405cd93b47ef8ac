"""OpenAI's Responses API, without state on its side: every item is sent (R10, R11).

No item has an id of its own: reasoning goes out with its signature or not at all, so that nothing
names an item that isn't there.

Source: platform.openai.com/docs/api-reference/responses/create.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from operations.domain.tree.key import Key
from threads.domain.formats.openai.items_writing import API, ItemWriter
from threads.domain.message import Message, Role
from threads.domain.part import Opaque, Part, Thinking

from .passes.preparing import prepared, system_of
from .passes.work import Work
from .request import Compiled, Draft
from .rules import IDS, PDF, PICTURES, Alphabet, Reasoning, Rules
from .tools import definitions
from .turns import Turn, keys_of

Item = dict[str, Any]
RULES = Rules(
    strategies=frozenset({"openai"}),
    ids=Alphabet(legal=IDS.legal, longest=64),
    system_anywhere=True,
    alternates=False,
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
        Role.TOOL: frozenset({"input_file", "input_image"}),
    },
    text_arguments=True,
)


def compile_openai_responses(draft: Draft) -> Compiled:
    """The body of `POST /v1/responses`."""
    turns, work = prepared(draft, RULES)
    for turn in turns:
        turn.pieces = [
            piece._replace(part=_without_id(piece.part))
            for piece in turn.pieces
            if not (isinstance(piece.part, Thinking) and piece.part.data is None)
        ]
    items: list[Item] = []
    origins: list[tuple[Key, ...]] = []
    for item, keys in _items(turns, draft):
        items.append(item)
        origins.append(keys)
    request: dict[str, Any] = {"model": draft.model}
    prompt = system_of(draft)
    if prompt:
        request["instructions"] = prompt
    request |= {"input": items, "store": False}
    request["include"] = ["reasoning.encrypted_content"]
    if tools := list(_tools(work)):
        request["tools"] = tools
    issues = work.findings.issues()
    return Compiled(
        request, items, prompt or None, tuple(origins), issues, tuple(turns), prompt
    )


def _items(
    turns: Sequence[Turn], draft: Draft
) -> Iterator[tuple[Item, tuple[Key, ...]]]:
    """The items of all turns, each with the keys of what it is made of."""
    heading = replace(draft.heading, strategy="openai", first_changed=None)
    writer = ItemWriter(heading, API)
    for turn in turns:
        if turn.role is Role.TOOL:
            for piece in turn.pieces:
                yield from _written(writer, turn.role, (piece.part,), keys_of([piece]))
        else:
            yield from _written(writer, turn.role, turn.parts, turn.keys)


def _written(
    writer: ItemWriter, role: Role, parts: tuple[Part, ...], keys: tuple[Key, ...]
) -> Iterator[tuple[Item, tuple[Key, ...]]]:
    for _, items in writer.write([(0, Message(role=role, parts=parts))]):
        for item in items:
            yield item, keys


def _without_id(part: Part) -> Part:
    """An item that the provider made, without the id by which it would look it up."""
    if not isinstance(part, Opaque):
        return part
    data = {name: value for name, value in part.data.items() if name != "id"}
    if part.type == "compaction_summary":  # what it was called at first
        return Opaque("compaction", data | {"type": "compaction"})
    return Opaque(part.type, data)


def _tools(work: Work) -> Iterator[Item]:
    for name, description, schema in definitions(work):
        form: Item = {"type": "function", "name": name, "parameters": schema}
        form["strict"] = False
        yield form | ({"description": description} if description else {})
