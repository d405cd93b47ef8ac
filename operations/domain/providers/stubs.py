"""Results that stand for results that were left out.

Where such a stub is a message of its own, the message with the call needn't change: it goes out as
its client sent it, with everything that only its provider understands (reasoning beside the calls,
their signatures), and the stub follows.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

from operations.domain.tree.key import Key
from threads.domain.part import Part, ToolResult

from .passes.findings import UNANSWERED
from .request import Compiled, Outgoing

Form = dict[str, Any]


class Stubs(NamedTuple):
    """The stubs of a compiled request that are messages of their own."""

    places: Mapping[int, Key]
    """Their places, with the messages whose calls they answer."""
    parts: Mapping[Key, Sequence[Part]]
    """What they say, by these messages, of which nothing else was repaired."""


def stubs_of(
    compiled: Compiled, origins: Sequence[Sequence[Key]], messages: Sequence[Outgoing]
) -> Stubs:
    """The stubs of a request with at least one call without a result."""
    keys = _unanswered(compiled)
    if not keys:
        return Stubs({}, {})
    calls = {one.key: one.call_ids for one in messages if one.key in keys}
    parts: dict[Key, list[Part]] = defaultdict(list)
    found: dict[str, Key] = {}
    for turn in compiled.turns:
        for piece in turn.pieces:
            if piece.key in calls and isinstance(piece.part, ToolResult):
                parts[piece.key].append(piece.part)
                if piece.part.call_id in calls[piece.key]:
                    found[piece.part.call_id] = piece.key
    places = {
        place: key
        for place, (form, of) in enumerate(zip(compiled.messages, origins, strict=True))
        if (key := found.get(_answered_id(form))) and tuple(of) == (key,)
    }
    alone = keys - {key for of in origins if len(of) > 1 for key in of}
    own = [key for key in alone if _has_each(key, parts[key], places)]
    return Stubs(
        {place: key for place, key in places.items() if key in own},
        {key: parts[key] for key in own},
    )


def _unanswered(compiled: Compiled) -> AbstractSet[Key]:
    """The messages with calls without a result, if their neighbours require nothing else."""
    found: set[Key] = set()
    others: set[Key] = set()
    for issue in compiled.issues:
        if not issue.is_own:
            is_one = issue.repair == UNANSWERED.repair
            (found if is_one else others).update(issue.keys)
    return found - others


def _answered_id(form: Form) -> str:
    """The id of the call that a message is the result of; empty for any other message."""
    is_item = str(form.get("type")).endswith("_output")
    return str(form.get("call_id" if is_item else "tool_call_id") or "")


def _has_each(key: Key, parts: Sequence[Part], places: Mapping[int, Key]) -> bool:
    """Whether each stub of a message is a message of its own."""
    return bool(parts) and len(parts) == sum(one == key for one in places.values())
