"""Alpaca's rows: an instruction with its input, and the output, one conversation each.

`system` and `history` (pairs of a question and its answer) come before them.

Sources: tatsu-lab/stanford_alpaca, `alpaca_data.json`; hiyouga/LLaMA-Factory, `data/README.md`.
"""

from collections.abc import Iterator
from functools import partial
from typing import BinaryIO

from threads.domain.formats.format import Format
from threads.domain.formats.io import fields, json_file
from threads.domain.formats.io.source import ByteSpan
from threads.domain.formats.kit.items import Item, already_open, items_in, member_events
from threads.domain.formats.kit.transcripts import (
    require_transcripts,
    transcript_of,
    with_skipped_warnings,
)
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role
from threads.domain.part import Text
from threads.domain.transcript import Transcript, Warning

NAME = "alpaca"
LABEL = "a data set in Alpaca's form"
ASKED = ("instruction", "input")
ANSWER = "output"
KNOWN = frozenset({"system", "history", *ASKED, ANSWER})


def read(file: BinaryIO, _name: str) -> list[Transcript]:
    """One conversation per row. Raises Invalid if none holds a message."""
    skipped: list[Warning] = []
    found = [
        transcript_of(items_in(already_open(file), partial(_items, span)), format=NAME)
        for span in json_file.held_objects(file, "", skipped)
    ]
    return with_skipped_warnings(require_transcripts(found, skipped, LABEL), skipped)


def _items(row: ByteSpan, file: BinaryIO, warnings: list[Warning]) -> Iterator[Item]:
    file = json_file.in_memory(file, row)
    members = json_file.members(file, row.start, warnings)
    yield from read_question(file, members, warnings)
    yield from _spoken(file, members, (ANSWER,), Role.ASSISTANT, warnings)
    yield from member_events(members, KNOWN)


def read_question(
    file: BinaryIO, members: dict[str, ByteSpan], warnings: list[Warning]
) -> Iterator[Message]:
    """The messages before an answer: the system prompt, earlier turns, the instruction."""
    yield from _spoken(file, members, ("system",), Role.SYSTEM, warnings)
    if (held := members.get("history")) and json_file.is_list(file, held):
        for turn in json_file.elements(file, held.start, warnings):
            pair = turn.value if isinstance(turn.value, list) else []
            for words, role in zip(pair, (Role.USER, Role.ASSISTANT), strict=False):
                if isinstance(words, str) and words:
                    said = (Text(words),)
                    yield Message(role=role, parts=said, records=(turn.record,))
    yield from _spoken(file, members, ASKED, Role.USER, warnings)


def _spoken(
    file: BinaryIO,
    members: dict[str, ByteSpan],
    names: tuple[str, ...],
    role: Role,
    warnings: list[Warning],
) -> Iterator[Message]:
    """The texts of these members as one message; nothing if all are empty."""
    there = [
        json_file.element(file, members[name], warnings)
        for name in names
        if name in members
    ]
    said = [row for row in there if isinstance(row.value, str) and row.value]
    if said:
        parts = tuple(Text(row.value) for row in said)
        records = tuple(row.record for row in said)
        yield Message(role=role, parts=parts, records=records)


def _score(sample: Sample) -> float:
    """0.92 for an instruction and an output that are texts: OpenHands has an instruction too."""
    rows = (row for row in sample.rows if fields.text(row, "instruction"))
    return 0.92 if any(isinstance(row.get(ANSWER), str) for row in rows) else 0


FORMAT = Format(NAME, LABEL, _score, read)
