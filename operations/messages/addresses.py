"""What an agent calls a message by: its key, its short id, or the beginning of its digest."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from contextstudio.accounts.domain.errors import Invalid
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, made_place, original_index, original_key
from threads.models import Message, Session

SHORTEST_PREFIX = 8
"""Hex digits of a digest that are taken for it."""
_PREFIX = re.compile(f"[0-9a-fA-F]{{{SHORTEST_PREFIX},64}}")


def keys_of_hashes(
    session: Session, thread: Thread, hashes: Sequence[str]
) -> list[Key]:
    """The keys that hashes mean, one each. Raises Invalid with one error a hash that means none.

    A key is taken as it is where the thread holds it. A prefix of digests means the message
    that alone has it.
    """
    by_id = _by_short_id(session, hashes)
    prefixes = [name for name in hashes if _PREFIX.fullmatch(name)]
    masked = frozenset(thread.log.masks.keys)
    by_prefix = _by_prefix(session, prefixes, masked) if prefixes else {}
    found: list[Key] = []
    errors: list[Invalid] = []
    for place, name in enumerate(hashes):
        keys = [name] if _is_key(thread, name) else by_id.get(name, [])
        keys = keys or by_prefix.get(name.lower(), [])
        if len(keys) == 1 and keys[0] not in found:
            found += keys
            continue
        errors.append(_refused(name, keys, ("targets", place)))
    if errors:
        first = errors[0]
        raise Invalid(first.message, at=first.at, code=first.code, errors=errors)
    return found


def message_ids(session: Session, keys: Iterable[Key]) -> dict[Key, str]:
    """The short ids of messages by their keys; one that an operation made has but its key."""
    found = {key: key for key in keys}
    indexes = [index for key in found if (index := original_index(key)) is not None]
    rows = Message.objects.filter(session=session, index__in=indexes)
    for index, short_id in rows.values_list("index", "short_id") if indexes else ():
        found[original_key(index)] = short_id
    return found


def _refused(name: str, keys: Sequence[Key], at: tuple[str, int]) -> Invalid:
    if len(keys) > 1:
        named = ", ".join(keys[:20])
        sentence = f"{name} is the beginning of several digests: {named}."
        return Invalid(sentence, at=at, code="ambiguous")
    if keys:
        return Invalid(f"{name} is named twice.", at=at, code="duplicate")
    sentence = f"There is no message {name[:64]} in the thread."
    return Invalid(sentence, at=at, code="unknown_key")


def _is_key(thread: Thread, name: str) -> bool:
    named = original_index(name) is not None or made_place(name) is not None
    return named and thread.holds(name)


def _by_short_id(session: Session, hashes: Sequence[str]) -> dict[str, list[Key]]:
    wanted = [name for name in hashes if name.startswith("msg-")]
    rows = Message.objects.filter(session=session, short_id__in=wanted)
    indexes = rows.values_list("short_id", "index") if wanted else ()
    return {short_id: [original_key(index)] for short_id, index in indexes}


def _by_prefix(
    session: Session, prefixes: Sequence[str], masked: Collection[Key]
) -> dict[str, list[Key]]:
    """Originals by the prefixes of their digests, in one pass over these.

    One with masked text has none: a guess at it could be tried on its digest.
    """
    lengths = {len(prefix) for prefix in prefixes}
    wanted = {prefix.lower() for prefix in prefixes}
    found: dict[str, list[Key]] = defaultdict(list)
    rows = Message.objects.filter(session=session).order_by("index")
    for index, digest in rows.values_list("index", "body__digest").iterator(2000):
        text = bytes(digest).hex()
        for prefix in wanted.intersection(text[:length] for length in lengths):
            if original_key(index) not in masked:
                found[prefix].append(original_key(index))
    return found
