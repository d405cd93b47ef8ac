"""Decides which lists are conversations: the one rule for files in no specific format.

A record is a message if it has a role and, as in the published forms, content or calls; or if
`io.speakers` knows its names for these, or for both sides of a pair. A list is a conversation if
both sides, a user and an assistant, speak in it, whatever other records are between; or if most of
its records are messages. A file is recognised by a list in which both sides speak (accounts have
roles too, and prompts without an answer are not a conversation), or by its rows, if most are a
question with its answer, each a conversation of its own. A list of two texts is a pair too, if the
list of pairs is the file, or has a conversation's name.

Such a list may be in any member of an object, under any id, up to `DEEPEST` levels down. An example
in the description of an API is deeper.
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
"""How many levels of nested lists and objects are searched for a conversation."""
UNSURE = 0.2
"""A score for a file that is recognised only by who speaks in it, not by its form."""
ROLES = {role.value: role for role in Role} | {"function": Role.TOOL}
"""The roles of the published forms."""
SIDES = frozenset({"user", "assistant"})
NAMED = re.compile(r"history|chat|conversation|dialog|messages|turns|internal")
"""Names of members whose lists of two texts are pairs; under other names they may be tables."""


def is_said(record: JSON) -> bool:
    """Whether a record is a message of the published forms that says something."""
    if not isinstance(record, dict) or fields.text(record, "role") not in ROLES:
        return False
    if record.get("content"):
        return speakers.is_text(record["content"])
    return bool(fields.items(record, "tool_calls"))


def said_in(record: JSON) -> list[dict[str, Any]]:
    """The messages of a record in the published form, whatever names it uses for the speaker."""
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
    """The only message in the published form that a record holds, with its time; else empty."""
    if "role" in record:
        return {}
    found = [one for one in record.values() if is_said(one)]
    return {**speakers.moment_in(record), **found[0]} if len(found) == 1 else {}


def row_in(record: JSON) -> speakers.SpokenPair | None:
    """The pair in a record that is a conversation of its own; None if it isn't one."""
    pair = speakers.pair_in(record) if isinstance(record, dict) else None
    return pair if pair and pair.is_row else None


def pair_of(record: JSON) -> speakers.SpokenPair | None:
    """The pair in a record of a file that is known to hold pairs, so weaker evidence suffices."""
    return speakers.pair_in(record, surely=False) if isinstance(record, dict) else None


def both_speak(records: Iterable[JSON]) -> bool:
    """Whether both a user and an assistant speak in the records."""
    sides = {one["role"] for record in records for one in said_in(record)}
    return sides >= SIDES


def is_conversation(records: Iterable[JSON]) -> bool:
    """Whether a list is a conversation; reads no more of it than needed."""
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
    """Whether a list under this name consists of pairs of texts: a question and its answer.

    `called` is an index if the list has no name: it is the file, or one of several lists.
    """
    if isinstance(called, str) and not NAMED.search(called.lower()):
        return False
    return speakers.are_bare_pairs([*islice(records, RECORDS)])


@lru_cache(maxsize=1)  # two formats in turn call it for each file
def scattered(sample: Sample) -> list[dict[str, Any]]:
    """The first messages of a file that holds conversations, possibly among other things."""
    whole = sample.records or sample.document
    for called, found in _lists(whole, DEEPEST):
        records = found[:RECORDS]
        if both_speak(records):
            return [one for record in records for one in said_in(record)]
        if are_pairs(called, records[:-1] or records):  # the last may be cut off
            return [one for record in records for one in speakers.bare_pair(record)]
    return _rows(sample)


def _rows(sample: Sample) -> list[dict[str, Any]]:
    """The messages of a file if most of its rows are questions with their answers; else none."""
    rows = [row for row in sample.rows if row_in(row)]
    if 2 * len(rows) <= len(sample.rows):
        return []
    return [one for row in rows for one in speakers.pair_messages(row)]


def is_held(value: JSON, levels: int, called: str | int = 0) -> bool:
    """Whether a value may hold a conversation, judged by its contents or its name."""
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
    """The lists in a value, each with its name; the value itself comes first."""
    if isinstance(value, list):
        yield called, value
    if levels:
        for key, one in _members(value, called):
            yield from _lists(one, levels - 1, key)


def _members(value: JSON, called: str | int) -> Iterator[tuple[str | int, JSON]]:
    """The members of an object or elements of a list; elements have the name of their list."""
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list):
        yield from ((called, one) for one in value)
