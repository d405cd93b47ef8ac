"""Which lists are conversations: the one rule for files that no format names.

A record is said by somebody where it has a role and, as the published forms have it, a content or
calls; or where `io.speakers` knows the names that it has for them, or for both sides of a pair. A
list is a conversation where both sides speak in it, a user and an assistant, whatever records of
another kind stand between; or where most of its records are said. A file is known by a list in
which both sides speak: accounts have roles too, and prompts without an answer are none; or by its
rows where most are a question with its answer, which are a conversation each.

Such a list may stand in any member of an object, under any id, up to `DEEPEST` levels down. An
example in the description of an API lies deeper.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from threads.domain.formats.io import fields, speakers
from threads.domain.formats.sample import RECORDS, Sample
from threads.domain.message import Role
from threads.domain.part import JSON

DEEPEST = 4
"""Lists and objects, one in another, in which a conversation may stand."""
UNSURE = 0.2
"""How much less a file is known by what is said in it than by how its messages stand."""
ROLES = frozenset({"function", *(role.value for role in Role)})
SIDES = frozenset({"user", "assistant"})


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
    if not isinstance(record, dict) or fields.text(record, "role") in ROLES:
        return []
    if (message := speakers.message_in(record)) is not None:
        return [message]
    pair = speakers.pair_in(record)
    return [] if pair is None or pair.is_row else speakers.pair_messages(record)


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


def scattered(sample: Sample) -> list[dict[str, Any]]:
    """The first messages of a file that holds a conversation among other things, or several."""
    whole = sample.records or sample.document
    found = filter(both_speak, (one[:RECORDS] for one in _lists(whole, DEEPEST)))
    said = [one for record in next(found, []) for one in said_in(record)]
    return said or _rows(sample)


def _rows(sample: Sample) -> list[dict[str, Any]]:
    """The messages of a file most of whose rows are questions with their answers."""
    rows = [row for row in sample.rows if row_in(row)]
    if 2 * len(rows) <= len(sample.rows):
        return []
    return [one for row in rows for one in speakers.pair_messages(row)]


def is_held(value: JSON, levels: int) -> bool:
    """Whether a conversation may stand in a value, by what is said or by its name."""
    if isinstance(value, dict) and "messages" in value:
        return True
    if isinstance(value, list) and is_conversation(value):
        return True
    if not levels or not isinstance(value, dict | list):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return any(is_held(one, levels - 1) for one in inner)


def _lists(value: JSON, levels: int) -> Iterator[list[Any]]:
    """The lists in a value, itself first."""
    if isinstance(value, list):
        yield value
    if levels and isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        yield from chain.from_iterable(_lists(one, levels - 1) for one in inner)
