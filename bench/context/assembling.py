"""How the cost of a context grows: `python -m bench.context.assembling`.

M3: growth of the cost of each kind of operation, and of a window with tiers and exact counts, from
2,000 messages to 10,000. Each figure is the ratio of the least CPU times of interleaved rounds.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from bench.transcript import messages
from operations.domain.context.assembly import Plan, assemble, outgoing_messages
from operations.domain.context.policy import Policy
from operations.domain.context.truncation import Tiers
from operations.domain.log.entry import Entry
from operations.domain.log.log import Log, fold
from operations.domain.log.operation import (
    Condense,
    Digest,
    Edit,
    Insert,
    Resequence,
    Revise,
    Snip,
    Tag,
)
from operations.domain.thread.replay import replay
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, original_key
from operations.domain.tree.leaf import Leaf, MadeMessage
from threads import tokens
from threads.domain.formats.openai import messages as openai
from threads.domain.message import Message, group_ids, starts_group
from threads.domain.part import Part, Text

from .replay import Row, _least

COUNT, SMALL = 10_000, 2_000
ROUNDS = 7
SUMMARY = MadeMessage("system", (Text("What happened before."),), 5)


def rows() -> Iterator[Row]:
    """The rows of the table: M3 of the performance plan."""
    sizes = [_Sized(count) for count in (SMALL, COUNT)]
    for kind, make in _EDITS.items():
        small, large = _least(
            *(partial(one.edited, make) for one in sizes), rounds=ROUNDS
        )
        ratio = large / small
        yield Row(f"M3 {kind}, 10,000 / 2,000", f"{ratio:.1f} ×", "≤ 6 ×", ratio <= 6)
    small, large = _least(*(one.assembled for one in sizes), rounds=3)
    ratio = large / small
    name = "M3 window and tiers, counted, 10,000 / 2,000"
    yield Row(name, f"{ratio:.1f} ×", "≤ 6 ×", ratio <= 6)
    yield Row("… at 10,000", f"{large * 1e3:.0f} ms", "", None)


class _Sized:
    """A thread of a given length, and its content."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.found = openai.read_messages(list(messages(count)))
        self.leaves = leaves_of(self.found)
        self.said = said_of(self.found)

    def edited(self, make: "Make") -> Thread:
        """The thread with one operation in its middle, after reading its window and counts."""
        thread = replay(self.leaves, fold([Entry(1, make(self.count // 2), "bench")]))
        thread.window(0, 100)
        assert thread.tokens.effective
        return thread

    def assembled(self) -> int:
        """The tokens of a window of half the groups, with its results truncated and counted."""
        thread = replay(self.leaves, Log())
        policy = Policy(window=self.leaves[-1].group // 2, truncation=Tiers())
        plan = Plan(count=count_of, strategy="openai", policy=policy)
        return assemble(
            thread, outgoing_messages(thread, self.said, count_of), plan
        ).sent


Make = Callable[[int], Edit]


def targets_at(place: int) -> tuple[Key, ...]:
    return tuple(original_key(place + step) for step in range(8))


_EDITS: Mapping[str, Make] = {
    "tag": lambda place: Tag(targets=targets_at(place), tags=("seen",)),
    "digest": lambda place: Digest(targets=targets_at(place), messages=(SUMMARY,)),
    "revise": lambda place: Revise(
        targets=targets_at(place), messages=(SUMMARY, SUMMARY)
    ),
    "snip": lambda place: Snip(targets=targets_at(place)),
    "condense": lambda place: Condense(
        targets=targets_at(place)[:1], messages=(SUMMARY,)
    ),
    "insert": lambda place: Insert(after=original_key(place), messages=(SUMMARY,)),
    "resequence": lambda place: Resequence(order=targets_at(place)[::-1]),
}


class ReadOriginal(NamedTuple):
    """The content of a message in the thread."""

    parts: tuple[Part, ...]
    strategy: str = "openai"
    name: str | None = None


def said_of(found: Sequence[Message]) -> dict[Key, ReadOriginal]:
    return {
        original_key(index): ReadOriginal(message.parts)
        for index, message in enumerate(found)
    }


def leaves_of(found: Sequence[Message]) -> list[Leaf]:
    starts = (starts_group(message.role, message.parts) for message in found)
    counts = tokens.count_messages(message.parts for message in found)
    return [
        Leaf(str(message.role), sum(count), group)
        for message, count, group in zip(found, counts, group_ids(starts), strict=True)
    ]


def count_of(parts: Sequence[Part]) -> int:
    return sum(tokens.count_parts(parts))


def main() -> None:
    """Print the table."""
    shown: Any
    for shown in rows():
        verdict = {None: "", True: "ok", False: "MISSED"}[shown.ok]
        print(f"{shown.name:48} {shown.value:>10} {shown.bar:>8} {verdict}", flush=True)


if __name__ == "__main__":
    main()
