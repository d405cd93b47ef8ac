"""Names of messages, for agents and for people.

An agent names a message by its key, its short id, or a prefix of its digest. For people an
original is `#150`, its index. What an operation made is named after it: `insert o7`, its further
messages `insert o7.1`, a fold `digest o7`. Keys are used only in APIs and tools.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import groupby, islice
from typing import NamedTuple

from contextstudio.accounts.domain.errors import Invalid
from operations.domain.log.entry import IMPORTER, RecordedEdit
from operations.domain.log.operation import Fold
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, original_index, original_key, parse_made_key
from threads.models import Message, Session
from threads.store.originals import DIGEST

MAX_RUNS = 3
"""Most runs of originals by which a set of messages is named."""


class Named(NamedTuple):
    """A key, to link to, and its name for people."""

    key: Key
    name: str


def named(thread: Thread, keys: Iterable[Key]) -> list[Named]:
    """Each key with its name."""
    return [Named(key, name_of(thread, key)) for key in keys]


def word_of(kind: str) -> str:
    """The label of a kind of operation; a resequence is called move."""
    return {"resequence": "move", "activate_tags": "active tags"}.get(kind, kind)


def word_for(recorded: RecordedEdit) -> str:
    """The label of an operation; a fold recorded by an import is called compaction."""
    edit = recorded.edit
    if recorded.entry.actor == IMPORTER and isinstance(edit, Fold):
        return "compaction"
    return word_of(edit.kind)


def name_of(thread: Thread, key: Key) -> str:
    """The name of a message or a fold; a key that is not in this log is returned as it is."""
    index = original_index(key)
    if index is not None:
        return f"#{index}"
    number, place = parse_made_key(key) or (0, None)
    if number not in thread.log.edits:
        return key
    word = word_for(thread.log.edits[number])
    return f"{word} o{number}.{place}" if place else f"{word} o{number}"


MAX_NAMED = 5


def names_of(thread: Thread, keys: Collection[Key], most: int = MAX_NAMED) -> str:
    """The names of at most `most` keys, and how many more there are."""
    names = ", ".join(name_of(thread, key) for key in islice(keys, most))
    more = len(keys) - most
    return f"{names} and {more:,} more" if more > 0 else names


def range_of(thread: Thread, first: Key, last: Key) -> str:
    """`#2–#57`; for a single message just its name, for none an empty string."""
    if not first:
        return ""
    names = dict.fromkeys(name_of(thread, key) for key in (first, last))
    joint = "–" if first[0] == last[0] == "m" else " to "
    return joint.join(names)


def ranges_of(thread: Thread, keys: Iterable[Key]) -> str:
    """The runs of originals among messages, and the names of inserted ones.

    Empty if these are more than `MAX_RUNS`.
    """
    found = list(keys)
    known = ((original_index(key), key) for key in found)
    indexes = sorted(index for index, _ in known if index is not None)
    runs = [
        [index for _, index in run]
        for _, run in groupby(enumerate(indexes), key=lambda item: item[1] - item[0])
    ]
    names = [range_of(thread, f"m{run[0]}", f"m{run[-1]}") for run in runs]
    names += [name_of(thread, key) for key in found if original_index(key) is None]
    return ", ".join(names) if len(names) <= MAX_RUNS else ""


def extent_of(thread: Thread, keys: Sequence[Key]) -> str:
    """`#3–#4, #7–#10`: the runs of messages, or for more than `MAX_RUNS` the ends: `#3 … #90`."""
    if len(keys) == 1:
        return name_of(thread, keys[0])
    if words := ranges_of(thread, keys):
        return words
    known = [index for key in keys if (index := original_index(key)) is not None]
    if known:
        return f"#{min(known)} … #{max(known)}"
    return range_of(thread, keys[0], keys[-1]) if keys else ""


MIN_PREFIX_LENGTH = 8
"""Fewest hex digits that count as a prefix of a digest."""
_PREFIX = re.compile(f"[0-9a-fA-F]{{{MIN_PREFIX_LENGTH},64}}")


def keys_of_hashes(
    session: Session, thread: Thread, hashes: Sequence[str]
) -> list[Key]:
    """The key for each hash. Raises Invalid with one error for each hash without exactly one.

    A key is taken as it is if the thread holds it. A prefix of a digest means the only message
    that has it.
    """
    by_id = {short_id: [key] for short_id, key in _by_short_id(session, hashes).items()}
    prefixes = [name for name in hashes if _PREFIX.fullmatch(name)]
    masked = frozenset(thread.log.masks.keys)
    by_prefix = _by_prefix(session, prefixes, masked) if prefixes else {}
    found: list[Key] = []
    errors: list[Invalid] = []
    for place, name in enumerate(hashes):
        is_key = original_index(name) is not None or parse_made_key(name) is not None
        keys = [name] if is_key and thread.holds(name) else by_id.get(name, [])
        keys = keys or by_prefix.get(name.lower(), [])
        if len(keys) == 1 and keys[0] not in found:
            found += keys
            continue
        errors.append(_refused(name, keys, ("targets", place)))
    if errors:
        first = errors[0]
        raise Invalid(first.message, at=first.at, code=first.code, errors=errors)
    return found


def keys_named(session: Session, names: Sequence[str]) -> tuple[Key, ...]:
    """The keys of messages named by key or short id; other names are returned as they are."""
    known = _by_short_id(session, names)
    return tuple(known.get(name, name) for name in names)


def message_ids(session: Session, keys: Iterable[Key]) -> dict[Key, str]:
    """Map of key to short id; a message that an operation made has only its key."""
    found = {key: key for key in keys}
    indexes = [index for key in found if (index := original_index(key)) is not None]
    rows = Message.objects.filter(session=session, index__in=indexes)
    for index, short_id in rows.values_list("index", "short_id") if indexes else ():
        found[original_key(index)] = short_id
    return found


def _by_short_id(session: Session, names: Iterable[str]) -> dict[str, Key]:
    """Map of short id to key, for the short ids of originals among these names."""
    wanted = [name for name in names if name.startswith("msg-")]
    rows = Message.objects.filter(session=session, short_id__in=wanted)
    indexes = rows.values_list("short_id", "index") if wanted else ()
    return {short_id: original_key(index) for short_id, index in indexes}


def _refused(name: str, keys: Sequence[Key], at: tuple[str, int]) -> Invalid:
    if len(keys) > 1:
        named = ", ".join(keys[:20])
        sentence = f"{name} is a prefix of several digests: {named}."
        return Invalid(sentence, at=at, code="ambiguous")
    if keys:
        return Invalid(f"{name} is named twice.", at=at, code="duplicate")
    sentence = f"There is no message {name[:64]} in the thread."
    return Invalid(sentence, at=at, code="unknown_key")


def _by_prefix(
    session: Session, prefixes: Sequence[str], masked: Collection[Key]
) -> dict[str, list[Key]]:
    """Map of digest prefix to the originals that have it, in one pass over all originals.

    Originals with masked text are left out, as their digest would confirm a guess of the text.
    """
    lengths = {len(prefix) for prefix in prefixes}
    wanted = {prefix.lower() for prefix in prefixes}
    found: dict[str, list[Key]] = defaultdict(list)
    rows = Message.objects.filter(session=session).order_by("index")
    for index, digest in rows.values_list("index", DIGEST).iterator(2000):
        text = bytes(digest).hex()
        for prefix in wanted.intersection(text[:length] for length in lengths):
            if original_key(index) not in masked:
                found[prefix].append(original_key(index))
    return found
