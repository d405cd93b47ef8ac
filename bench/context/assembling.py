"""What a context and the hook cost: `python -m bench.context.assembling`.

M1: 120 digests over 10,000 messages, bytes in and bytes out, against reading and writing the
same bytes with orjson alone. The messages are aligned, and the answer is kept under the log: so
it is with every request that `apply` has answered before. Timed is its messages found in the
bytes, and the answer put together; in the second line also the SHA-256 of the request, by which
`apply` knows it again; in the third all that is done once after a change of the log, beside
alignment: the JSON read, the log replayed, the request compiled and counted, the answer made.
M3: how the cost of each kind of operation, and of a window with tiers and exact counts, grows
from 2,000 messages to 10,000.
Each figure is the ratio of the least CPU times of interleaved rounds.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import orjson

from bench.transcript import messages
from operations.domain.context.assembly import Plan, assemble, outgoings
from operations.domain.context.compiling import compiling
from operations.domain.context.policy import Policy
from operations.domain.context.truncation import Tiers
from operations.domain.forwarding.alignment import Unit
from operations.domain.forwarding.passthrough import with_own
from operations.domain.forwarding.splice import Splice, splice
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
from operations.domain.providers import compile_request
from operations.domain.providers.request import Draft
from operations.domain.thread.replay import replay
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, original_key
from operations.domain.tree.leaf import Leaf, New
from operations.forwarding.answers import Answer
from operations.forwarding.raw import Beginning, RawRequest, read_further, read_raw
from threads import tokens
from threads.domain.formats.format import Heading
from threads.domain.formats.openai import messages as openai
from threads.domain.message import Message, group_ids, starts_group
from threads.domain.part import Part, Text

from .replay import Row, _least

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
    hook = _Hook(given)
    kept = hook.made(orjson.loads(body)["messages"])
    answers = {_request(body).digest: kept}
    beginning = _request(body).beginning
    assert beginning is not None

    def spliced() -> bytes:
        return kept.written(_known(beginning, body).run)

    def found() -> bytes:
        raw = _request(body)
        return answers[raw.digest].written(raw.run)

    def anew() -> bytes:
        made = hook.made(orjson.loads(body)["messages"])
        return made.written(_request(body).run)

    def alone() -> bytes:
        return orjson.dumps(orjson.loads(body))

    assert spliced() == found() == anew()
    times = _least(spliced, found, anew, alone, rounds=ROUNDS)
    ours, known, first = (one / times[-1] for one in times[:-1])
    name = f"M1 hook, {DIGESTS} operations / orjson"
    yield Row(name, f"{ours:.2f} ×", "≤ 0.5 ×", ours <= 0.5)
    yield Row("… found by the digest of the request", f"{known:.2f} ×", "", None)
    yield Row("… the first time after a change", f"{first:.2f} ×", "", None)


def _request(body: bytes) -> RawRequest:
    raw = read_raw(body)
    assert raw is not None
    return raw


def _known(beginning: Beginning, body: bytes) -> RawRequest:
    """A request that is known by its beginning."""
    further = read_further(beginning, body)
    assert further is not None
    return further.request


class _Hook:
    """Makes the answer to a request whose messages are the originals, one by one."""

    def __init__(self, given: list[dict[str, Any]]) -> None:
        self._found = openai.read_messages(given)
        self._leaves = _leaves(self._found)
        self._units = [Unit(at, at + 1, at, at + 1) for at in range(len(given))]
        self._log = _digests()
        self._said = _said(self._found)

    def made(self, forms: list[dict[str, Any]]) -> Answer:
        """The answer: the log replayed over the originals, and what goes out of it."""
        thread = replay(self._leaves, self._log)
        made = {
            one.key: _Read(one.message.parts)
            for one in thread.effective()
            if one.message is not None
        }
        plan = Plan(count=_count, strategy="openai")
        assembly = assemble(thread, outgoings(thread, self._said | made, _count), plan)
        draft = Draft(
            layers=assembly.layers,
            messages=assembly.messages,
            model="",
            heading=Heading(),
            intact=assembly.intact,
        )
        compiled = compile_request("openai", draft)
        assert compiling(assembly, compiled, _count).step.after
        sent = with_own(
            compiled,
            assembly.layers,
            assembly.messages,
            thread,
            self._units,
            range(len(forms)),
            None,
        )
        found = Splice(splice(sent.messages, orjson.dumps))
        return Answer(splice=found, report=b'{"issues":[]}')


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
        self.said = _said(self.found)

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
        return assemble(thread, outgoings(thread, self.said, _count), plan).sent


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


class _Read(NamedTuple):
    """What a message reads in the thread."""

    parts: tuple[Part, ...]
    strategy: str = "openai"
    name: str | None = None


def _said(found: Sequence[Message]) -> dict[Key, _Read]:
    return {
        original_key(index): _Read(message.parts) for index, message in enumerate(found)
    }


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
