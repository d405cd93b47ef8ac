"""ShareGPT's data sets: rows with `conversations`, whose turns have `from` and `value`.

Rows come in a list or one per line. Tool calls are turns of their own (`function_call`, then
`observation`), or are inside a turn as Hermes writes them (`<tool_call>`, `<tool_response>`).
Neither has ids, so ids are given by order. `role` and `content` instead of `from` and `value` are
read too.

Sources: LLaMA-Factory `data/README.md`, Hermes-Function-Calling.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import BinaryIO

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats import blocks
from threads.domain.formats.arguments import parsed, read_call
from threads.domain.formats.emptiness import NOT_UNDERSTOOD
from threads.domain.formats.format import Format
from threads.domain.formats.io import fields, json_file, json_text, speakers
from threads.domain.formats.io.source import ByteSpan
from threads.domain.formats.kit.calls import CallIds
from threads.domain.formats.kit.items import (
    Item,
    Opener,
    already_open,
    items_in,
    member_events,
)
from threads.domain.formats.kit.transcripts import (
    require_transcripts,
    with_skipped_warnings,
)
from threads.domain.formats.openai import messages as openai
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role
from threads.domain.part import JSON, Part, Text, ToolCall, ToolResult
from threads.domain.transcript import Event, Transcript, Warning

NAME = "sharegpt"
LABEL = "a ShareGPT data set"
LISTS = ("conversations", "conversation")
ROLES = {
    **speakers.NAMES,
    "function_call": Role.ASSISTANT,
    **dict.fromkeys(("tool", "observation", "function_response"), Role.TOOL),
    **dict.fromkeys(("function", "tool_response", "ipython"), Role.TOOL),
}

_MARKS = {
    "tool_call": (
        re.compile(r"<tool_call>\s*+(?=\{)"),
        re.compile(r"(?<=\})\s*+</tool_call>"),
    ),
    "tool_response": (re.compile("<tool_response>"), re.compile("</tool_response>")),
}
"""Start and end tags of Hermes' elements; a call may contain either in its arguments."""


def read(file: BinaryIO, _name: str) -> list[Transcript]:
    """The conversation of each row that holds a message. Raises Invalid if none does."""
    skipped: list[Warning] = []
    opener = already_open(file)
    found = (
        transcript
        for span in json_file.held_objects(file, "", skipped)
        if (transcript := _row(file, span, opener, skipped))
    )
    return with_skipped_warnings(require_transcripts(found, skipped, LABEL), skipped)


def read_turn(turn: JSON) -> Message | None:
    """The message of a turn, its calls and results still without ids; None if it isn't a turn."""
    if "from" not in (turn := fields.mapping(turn)):
        for given in (turn, speakers.message_in(turn)):
            try:
                return openai.read_message(given)
            except Invalid:
                continue
        return None
    role = ROLES.get(fields.text(turn, "from").lower())
    if role is None:
        return None
    value = turn.get("value")
    parts: tuple[Part, ...]
    if role is Role.TOOL:
        parts = tuple(_results(value, fields.text(turn, "name")))
    elif fields.text(turn, "from") == "function_call":
        parts = tuple(_function_calls(value))
    elif role is Role.ASSISTANT and isinstance(value, str):
        parts = tuple(_hermes(value))
    else:
        parts = _content(value)
    return Message(role=role, parts=parts)


def elements(text: str, name: str) -> tuple[list[str], list[str]]:
    """The contents of the elements of this name, and the texts around them, one more.

    A single pattern for both tags would search for the end of every start tag that has none.
    """
    begin, end = _MARKS[name]
    inside, around, at = list[str](), list[str](), 0
    while (opened := begin.search(text, at)) and (
        closed := end.search(text, opened.end())
    ):
        around.append(text[at : opened.start()])
        inside.append(text[opened.end() : closed.start()].strip())
        at = closed.end()
    return inside, [*around, text[at:]]


def answers(text: str) -> list[str]:
    """The results marked by Hermes, if a text consists only of them; else none."""
    inside, around = elements(text, "tool_response")
    return [] if any(map(str.strip, around)) else inside


def unread_turn(record: str) -> Warning:
    """The warning for a turn with an unknown speaker or without content."""
    return Warning(
        NOT_UNDERSTOOD, f"At {record}: This is not a turn of a conversation."
    )


def _content(value: JSON) -> tuple[Part, ...]:
    try:
        return blocks.read_content(value, ())
    except Invalid:
        return (Text(_spelled(value)),)


def _hermes(value: str) -> Iterator[Part]:
    """Text and the calls in it as parts; all as text if any of them is malformed."""
    inside, words = elements(value, "tool_call")
    calls = [_call(parsed(found)) for found in inside]
    if not calls or None in calls:
        yield from (Text(value),) if value else ()
        return
    for text, call in zip(words, [*calls, None], strict=True):
        if text.strip():
            yield Text(text.strip())
        if call:
            yield call


def _function_calls(value: JSON) -> Iterator[Part]:
    """The calls of a turn, one or a list of them; its text if they are malformed."""
    said = parsed(value)
    calls = [_call(one) for one in (said if isinstance(said, list) else [said])]
    if None in calls:
        yield Text(_spelled(value))
    yield from (call for call in calls if call and None not in calls)


def _call(said: JSON) -> ToolCall | None:
    name, said = fields.text(said, "name"), fields.mapping(said)
    if not name:
        return None
    given = said.get("arguments", said.get("parameters"))
    return read_call("", name, {} if given is None else given)


def _results(value: JSON, name: str) -> Iterator[Part]:
    """The results in a turn: each one marked by Hermes, else the whole text."""
    text = _spelled(value)
    for words in answers(text) or [text]:
        content = (Text(words),) if words else ()
        yield ToolResult("", content, name or None)


def _spelled(value: JSON) -> str:
    return value if isinstance(value, str) else json_text.dump(value).decode()


def _row(
    file: BinaryIO, span: ByteSpan, opener: Opener, skipped: list[Warning]
) -> Transcript | None:
    """The conversation of a row; None if it holds no message."""
    row = fields.mapping(json_file.known_value(file, span, skipped))
    turns = (turn for name in LISTS for turn in fields.items(row, name))
    messages = [message for turn in turns if (message := read_turn(turn))]
    if not messages:
        return None
    items = items_in(opener, partial(_items, span))
    words = (m.text.strip() for m in messages if m.role is Role.USER)
    title = fields.one_line(fields.text(row, "title") or fields.first(words))
    id_ = fields.text(row, "id")
    return Transcript(
        format=NAME,
        title=title or "ShareGPT conversation",
        items=items,
        # A number is only the row's index, which other data sets have too.
        external_id=None if id_.isdecimal() else id_[:255] or None,
        model=fields.word(row, "model"),
        warnings=items.warnings,
    )


def _items(row: ByteSpan, file: BinaryIO, warnings: list[Warning]) -> Iterator[Item]:
    file, ids = json_file.in_memory(file, row), CallIds()
    members = json_file.places(file, row, warnings)
    if system := members.pop("system", None):
        words, records = json_file.known_value(file, system, warnings), (system.record,)
        if isinstance(words, str) and words:
            yield Message(role=Role.SYSTEM, parts=(Text(words),), records=records)
    for name in LISTS:
        held = members.pop(name, None)
        if held is None or not json_file.is_list(file, held):
            continue
        for child in json_file.children(file, held.start, warnings):
            turn = json_file.known_value(file, child.span, warnings)
            message = read_turn(turn)
            record = child.span.record
            if message is None:
                warnings.append(unread_turn(record))
                yield Event(fields.text(turn, "from", "role") or "turn", record)
            else:
                yield replace(ids.given(message), records=(record,))
    yield from member_events(members, {"id", "title", "model"})


def _score(sample: Sample) -> float:
    lists = (fields.items(row, name) for row in sample.rows for name in LISTS)
    turns = [fields.mapping(turn).keys() for turns in lists for turn in turns]
    if any({"from", "value"} <= members for members in turns):
        return 0.95
    return 0.9 if any({"role", "content"} <= members for members in turns) else 0


FORMAT = Format(NAME, LABEL, _score, read)
