"""What a context and the hook cost: `python -m bench.context`.

M1: 120 digests over 10,000 messages, the request parsed, rewritten and written again, against
reading and writing the same bytes with orjson alone. The messages are aligned already: each is
its original, so that what is measured is replay and rewriting. M3: how the cost of each kind of
operation, and of a window with tiers and exact counts, grows from 2,000 messages to 10,000.
Each figure is the ratio of the least CPU times of interleaved rounds.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import orjson

from bench.replay import Row, _least
from bench.transcript import messages
from operations.domain.alignment import Unit
from operations.domain.assembly import Plan, Spoken, assemble, outgoings
from operations.domain.key import Key, original_key
from operations.domain.leaf import Leaf
from operations.domain.log import Entry, Log, fold
from operations.domain.made import New
from operations.domain.operation import (
    Condense,
    Digest,
    Edit,
    Insert,
    Resequence,
    Revise,
    Snip,
    Tag,
)
from operations.domain.policy import Policy
from operations.domain.replay import replay
from operations.domain.rewriting import Request, rewrite
from operations.domain.thread import Thread
from operations.domain.truncation import Tiers
from threads import tokens
from threads.domain.formats import REQUESTS, openai
from threads.domain.formats.format import Heading
from threads.domain.group import group_ids, starts_group
from threads.domain.message import Message
from threads.domain.part import Part, Text

COUNT, SMALL = 10_000, 2_000
DIGESTS = 120
ROUNDS = 7
_SUMMARY = New("system", (Text("What happened before."),), 5)


def rows() -> Iterator[Row]:
    """The lines of the table: M1 and M3 of the plan for performance."""
    yield from _hook()
    yield from _growth()


def _hook() -> Iterator[Row]:
    given = list(messages(COUNT))
    body = orjson.dumps({"messages": given})
    found = openai.read_messages(given)
    leaves = _leaves(found)
    units = [Unit(index, index + 1, index, index + 1) for index in range(COUNT)]
    log = _digests()
    words = _Words(found)

    def hook() -> bytes:
        forms = orjson.loads(body)["messages"]
        request = Request(form=REQUESTS["openai"], heading=Heading(), messages=forms)
        thread = replay(leaves, log)
        sent = rewrite(thread, units, request, partial(words, thread))
        return orjson.dumps({"messages": sent.messages})

    def alone() -> bytes:
        return orjson.dumps(orjson.loads(body))

    ours, theirs = _least(hook, alone, rounds=ROUNDS)
    ratio = ours / theirs
    name = f"M1 hook, {DIGESTS} operations / orjson"
    yield Row(name, f"{ratio:.2f} ×", "≤ 0.5 ×", ratio <= 0.5)


def _growth() -> Iterator[Row]:
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
    """A thread of some size, and its words."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.found = openai.read_messages(list(messages(count)))
        self.leaves = _leaves(self.found)
        self.words = {
            original_key(index): Spoken(message.parts, "openai")
            for index, message in enumerate(self.found)
        }

    def edited(self, make: "Make") -> Thread:
        """The thread with one operation in its middle, its window and its counts read."""
        thread = replay(self.leaves, fold([Entry(1, make(self.count // 2), "bench")]))
        thread.window(0, 100)
        assert thread.tokens.effective
        return thread

    def assembled(self) -> int:
        """The tokens of a window of half the groups, its results cut and counted."""
        thread = replay(self.leaves, Log())
        policy = Policy(window=self.leaves[-1].group // 2, truncation=Tiers())
        plan = Plan(count=_count, strategy="openai", policy=policy)
        return assemble(thread, outgoings(thread, self.words, _count), plan).sent


Make = Callable[[int], Edit]


def _targets(place: int) -> tuple[Key, ...]:
    return tuple(original_key(place + step) for step in range(8))


_EDITS: Mapping[str, Make] = {
    "tag": lambda place: Tag(targets=_targets(place), tags=("seen",)),
    "digest": lambda place: Digest(targets=_targets(place), messages=(_SUMMARY,)),
    "revise": lambda place: Revise(
        targets=_targets(place), messages=(_SUMMARY, _SUMMARY)
    ),
    "snip": lambda place: Snip(targets=_targets(place)),
    "condense": lambda place: Condense(
        targets=_targets(place)[:1], messages=(_SUMMARY,)
    ),
    "insert": lambda place: Insert(after=original_key(place), messages=(_SUMMARY,)),
    "resequence": lambda place: Resequence(order=_targets(place)[::-1]),
}


class _Words:
    """What messages read in a thread."""

    def __init__(self, found: Sequence[Message]) -> None:
        self._found = found

    def __call__(self, thread: Thread, keys: Sequence[Key]) -> dict[Key, Message]:
        return {key: self._word(thread, key) for key in keys}

    def _word(self, thread: Thread, key: Key) -> Message:
        made = thread.made(key)
        if made is None:
            return self._found[int(key[1:])]
        return Message(role=made.role, parts=made.parts)  # type: ignore[arg-type]


def _digests() -> Log:
    apart = COUNT // DIGESTS
    return fold(
        [
            Entry(
                number,
                Digest(
                    targets=_targets(number * apart - apart + 1), messages=(_SUMMARY,)
                ),
                "bench",
            )
            for number in range(1, DIGESTS + 1)
        ]
    )


def _leaves(found: Sequence[Message]) -> list[Leaf]:
    starts = (starts_group(message.role, message.parts) for message in found)
    counts = tokens.count_messages(message.parts for message in found)
    return [
        Leaf(str(message.role), sum(count), group)
        for message, count, group in zip(found, counts, group_ids(starts), strict=True)
    ]


def _count(parts: Sequence[Part]) -> int:
    return sum(tokens.count_parts(parts))


def main() -> None:
    """Print the table."""
    shown: Any
    for shown in rows():
        verdict = {None: "", True: "ok", False: "MISSED"}[shown.ok]
        print(f"{shown.name:48} {shown.value:>10} {shown.bar:>8} {verdict}", flush=True)


if __name__ == "__main__":
    main()
