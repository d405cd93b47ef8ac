"""Which lists are conversations: the one rule for files that no format names.

A record is said by somebody where it has a role and, as the published forms have it, a content or
calls; or where `io.speakers` knows the names that it has for them, or for both sides of a pair. A
list is a conversation where both sides speak in it, a user and an assistant, whatever records of
another kind stand between; or where most of its records are said. A file is known by a list in
which both sides speak: accounts have roles too, and prompts without an answer are none; or by its
rows where most are a question with its answer, which are a conversation each.
Two texts in a list are a pair too, where the list is the file, or has a conversation's name.

Such a list may stand in any member of an object, under any id, up to `DEEPEST` levels down. An
example in the description of an API lies deeper.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Any

from threads.domain.formats.io import fields, speakers
from threads.domain.formats.sample import RECORDS, Sample
from threads.domain.message import Role
from threads.domain.part import JSON

DEEPEST = 4
"""Lists and objects, one in another, in which a conversation may stand."""
UNSURE = 0.2
"""How much less a file is known by what is said in it than by how its messages stand."""
ROLES = {role.value: role for role in Role} | {"function": Role.TOOL}
"""Roles of the published forms."""
SIDES = frozenset({"user", "assistant"})
NAMED = re.compile(r"history|chat|conversation|dialog|messages|turns|internal")
"""Members in which two texts in a list are a question and an answer: elsewhere so are tables."""


def is_said(record: JSON) -> bool:
    """Whether a record is a message of the published forms that says something."""
    if not isinstance(record, dict) or fields.text(record, "role") not in ROLES:
        return False
    if record.get("content"):
        return speakers.is_text(record["content"])
    return bool(fields.items(record, "tool_calls"))


def said_in(record: JSON) -> list[dict[str, Any]]:
    """The messages of a record in the published form, whatever it calls who says them."""
    if is_said(record):
        return [record]
    if not isinstance(record, dict):
        return []
    if fields.text(record, "role") in ROLES and "content" in record:
        return []
    if (message := speakers.message_in(record)) is not None:
        return [message]
    if held := held_in(record):
        return [held]
    pair = speakers.pair_in(record)
    return [] if pair is None or pair.is_row else speakers.pair_messages(record)


def held_in(record: dict[str, Any]) -> dict[str, Any]:
    """The one message of the published forms that a record holds, with its time; else empty."""
    if "role" in record:
        return {}
    found = [one for one in record.values() if is_said(one)]
    return {**speakers.moment_in(record), **found[0]} if len(found) == 1 else {}


def row_in(record: JSON) -> speakers.SpokenPair | None:
    """The question and the answer that a record is by itself; None where it is none."""
    pair = speakers.pair_in(record) if isinstance(record, dict) else None
    return pair if pair and pair.is_row else None


def pair_of(record: JSON) -> speakers.SpokenPair | None:
    """The same in a file that is known to hold them, where less tells."""
    return speakers.pair_in(record, surely=False) if isinstance(record, dict) else None


def both_speak(records: Iterable[JSON]) -> bool:
    """Whether a user and an assistant are among those who speak."""
    sides = {one["role"] for record in records for one in said_in(record)}
    return sides >= SIDES


def is_conversation(records: Iterable[JSON]) -> bool:
    """Whether a list is one; no more of it is read than tells."""
    sides: set[str] = set()
    said = count = 0
    for record in records:
        count += 1
        said += is_said(record)
        sides.update(one["role"] for one in said_in(record))
        if sides >= SIDES:
            return True
    return 2 * said > count


def are_pairs(called: str | int, records: Iterable[JSON]) -> bool:
    """Whether what is called so is a list of two texts each: a question and its answer.

    An index is no name: the list is one of several, or the file.
    """
    if isinstance(called, str) and not NAMED.search(called.lower()):
        return False
    return speakers.are_bare_pairs([*islice(records, RECORDS)])


@lru_cache(maxsize=1)  # two formats ask it of each file in turn
def scattered(sample: Sample) -> list[dict[str, Any]]:
    """The first messages of a file that holds a conversation among other things, or several."""
    whole = sample.records or sample.document
    for called, found in _lists(whole, DEEPEST):
        records = found[:RECORDS]
        if both_speak(records):
            return [one for record in records for one in said_in(record)]
        if are_pairs(called, records[:-1] or records):  # the last may be cut
            return [one for record in records for one in speakers.bare_pair(record)]
    return _rows(sample)


def _rows(sample: Sample) -> list[dict[str, Any]]:
    """The messages of a file most of whose rows are questions with their answers."""
    rows = [row for row in sample.rows if row_in(row)]
    if 2 * len(rows) <= len(sample.rows):
        return []
    return [one for row in rows for one in speakers.pair_messages(row)]


def is_held(value: JSON, levels: int, called: str | int = 0) -> bool:
    """Whether a conversation may stand in a value, by what is said or by its name."""
    if isinstance(value, dict) and "messages" in value:
        return True
    if isinstance(value, list) and (is_conversation(value) or are_pairs(called, value)):
        return True
    if not levels:
        return False
    return any(is_held(one, levels - 1, key) for key, one in _members(value, called))


def _lists(
    value: JSON, levels: int, called: str | int = 0
) -> Iterator[tuple[str | int, list[Any]]]:
    """The lists in a value and what each is called, itself first."""
    if isinstance(value, list):
        yield called, value
    if levels:
        for key, one in _members(value, called):
            yield from _lists(one, levels - 1, key)


def _members(value: JSON, called: str | int) -> Iterator[tuple[str | int, JSON]]:
    """What an object or a list holds; elements are called what their list is."""
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list):
        yield from ((called, one) for one in value)
