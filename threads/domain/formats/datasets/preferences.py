"""Rows for preference training: a prompt, the chosen answer, and the rejected one.

Each row is a conversation with the chosen answer, and a branch of it with the rejected one. The
prompt is a text or messages (TRL), ShareGPT's turns or Alpaca's instruction (LLaMA-Factory), or is
repeated at the beginning of both answers. Answers are texts, or one or more messages. A text may be
a whole dialogue of `Human:` and `Assistant:` (Anthropic's HH).

Sources: huggingface.co/docs/trl/dataset_formats; hiyouga/LLaMA-Factory, `data/README.md`;
anthropics/hh-rlhf.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import takewhile
from typing import BinaryIO

from threads.domain.formats.format import Format
from threads.domain.formats.io import fields, json_file
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.io.source import ByteSpan
from threads.domain.formats.kit.calls import CallIds
from threads.domain.formats.kit.items import Item, already_open, items_in, member_events
from threads.domain.formats.kit.normalize import normalized
from threads.domain.formats.kit.transcripts import (
    require_transcripts,
    transcript_of,
    with_skipped_warnings,
)
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role
from threads.domain.part import Text
from threads.domain.transcript import Event, Parent, Relation, Transcript, Warning

from .alpaca import ASKED, read_question
from .sharegpt import LISTS, read_turn, unread_turn

NAME = "preferences"
LABEL = "a data set of preferences"
CHOSEN, REJECTED = "chosen", "rejected"
ANSWERS = {name: (name, f"{name}_messages") for name in (CHOSEN, REJECTED)}
"""The members that hold each answer; LLaMA-Factory's newest rows use the `_messages` names."""
PROMPTS = ("prompt", "question", *LISTS, "messages")
KNOWN = frozenset(
    {*ANSWERS[CHOSEN], *ANSWERS[REJECTED], "system", "history", *ASKED, *PROMPTS}
)
_DIALOGUE = re.compile(r"\n\n(Human|Assistant):[ ]?")
_SPEAKERS = {"Human": Role.USER, "Assistant": Role.ASSISTANT}


def read(file: BinaryIO, _name: str) -> list[Transcript]:
    """Two conversations per row: with the chosen answer, and with the rejected one."""
    skipped: list[Warning] = []
    found: list[Transcript | None] = []
    for span in json_file.held_objects(file, "", skipped):
        found += _row(file, span)
    return with_skipped_warnings(require_transcripts(found, skipped, LABEL), skipped)


def _row(file: BinaryIO, span: ByteSpan) -> Iterator[Transcript | None]:
    """The conversations of a row; their id is a hash of its bytes, because rows have none."""
    file.seek(span.start)
    row_id = hashlib.sha256(file.read(span.end - span.start)).hexdigest()[:32]
    said = {
        answer: items_in(already_open(file), partial(_items, span, answer))
        for answer in (CHOSEN, REJECTED)
    }
    chosen, rejected = (
        [one.parts for one in items if isinstance(one, Message)]
        for items in said.values()
    )
    both = zip(chosen, rejected, strict=False)
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], both))
    yield transcript_of(said[CHOSEN], format=NAME, external_id=row_id)
    if len(rejected) > shared:
        came_from = Parent(external_id=row_id, relation=Relation.BRANCH, at=shared)
        yield transcript_of(
            said[REJECTED],
            format=NAME,
            external_id=f"{row_id}/{REJECTED}",
            parent=came_from if chosen else None,
        )


def _items(
    row: ByteSpan, answer: str, file: BinaryIO, warnings: list[Warning]
) -> Iterator[Item]:
    file, ids = json_file.in_memory(file, row), CallIds()
    members = json_file.members(file, row.start, warnings)
    prompt: list[Item] = [*read_question(file, members, warnings)]
    for name in PROMPTS:
        if name in members:
            place = json_file.element(file, members[name], warnings)
            prompt += _said(file, place, Role.USER, warnings)
    answered: list[Item] = []
    for name in ANSWERS[answer]:
        if name in members:
            place = json_file.element(file, members[name], warnings)
            answered += _said(file, place, Role.ASSISTANT, warnings)
    for item in _joined(prompt, answered):
        yield ids.given(item) if isinstance(item, Message) else item
    if answer == CHOSEN:
        yield from member_events(members, KNOWN)


def _said(
    file: BinaryIO, place: Element, role: Role, warnings: list[Warning]
) -> Iterator[Item]:
    """The messages of a member: a text by this role, a dialogue, a turn, or a list of turns."""
    if isinstance(place.value, str):
        words = _DIALOGUE.split(place.value)
        pairs = zip(words[1::2], words[2::2], strict=True)
        turns = [(_SPEAKERS[by], text.strip()) for by, text in pairs]
        for by, text in (
            turns if not words[0].strip() and turns else [(role, place.value)]
        ):
            if text:
                yield Message(role=by, parts=(Text(text),), records=(place.record,))
    elif isinstance(place.value, list):
        for turn in json_file.elements(file, place.span.start, warnings):
            yield _turn(turn, warnings)
    elif place.value is not None:
        yield _turn(place, warnings)


def _turn(turn: Element, warnings: list[Warning]) -> Item:
    given = fields.mapping(turn.value)
    message = read_turn(given) or read_turn(normalized(given))
    if message is None:
        warnings.append(unread_turn(turn.record))
        return Event("turn", turn.record)
    return replace(message, records=(turn.record,))


def _joined(prompt: list[Item], answered: list[Item]) -> list[Item]:
    """The prompt and an answer; only the answer if it repeats the prompt."""
    asked = [(one.role, one.parts) for one in prompt if isinstance(one, Message)]
    given = [(one.role, one.parts) for one in answered if isinstance(one, Message)]
    repeats = asked and len(given) > len(asked) and given[: len(asked)] == asked
    return answered if repeats else prompt + answered


def _score(sample: Sample) -> float:
    """By rows that have both answers."""
    pairs = [set(pair) for pair in zip(*ANSWERS.values(), strict=True)]
    found = any(pair <= row.keys() for row in sample.rows for pair in pairs)
    return 0.95 if found else 0


FORMAT = Format(NAME, LABEL, _score, read)
