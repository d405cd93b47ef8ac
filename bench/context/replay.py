"""What replay costs: `python -m bench.context.replay`.

The log is 1,000 operations of all kinds at places spread over the thread by a fixed seed. "Leaves
alone" is the same replay with an empty log: building the leaves from the columns of the database,
the tree, the first window and the token counts. Each figure is the least CPU time of interleaved
rounds in one process, without garbage collection, as in timeit: on a shared machine the least
disturbed round tells most.
"""

import gc
import random
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from operations.domain.log.entry import Entry
from operations.domain.log.log import Log, fold
from operations.domain.log.operation import (
    Condense,
    Digest,
    Edit,
    Insert,
    Replace,
    Resequence,
    Revise,
    Snip,
    Tag,
)
from operations.domain.thread.check import check
from operations.domain.thread.node import Tokens
from operations.domain.thread.replay import replay
from operations.domain.thread.thread import Thread
from operations.domain.tree.draft import ThreadDraft
from operations.domain.tree.key import original_key
from operations.domain.tree.leaf import Leaf, MadeMessage
from operations.domain.tree.span import Span, fingerprint
from operations.domain.tree.status import Status
from threads.domain.part import Text

ROUNDS = 25
_ROLES = ("user", "assistant", "tool", "assistant")


class Row(NamedTuple):
    """A row of the table; `ok` is None if there is no bar."""

    name: str
    value: str
    bar: str
    ok: bool | None


def columns(count: int) -> list[tuple[str, int, int]]:
    """Role, tokens and group of messages, as a query returns them."""
    return [
        (_ROLES[index % 4], 40 + index % 300, index // 12) for index in range(count)
    ]


def operations(count: int, *, messages: int, seed: int = 7) -> Log:
    """A log of mixed operations, some nested; operations that would conflict are not recorded."""
    leaves = list(map(Leaf._make, columns(messages)))
    chance, draft = random.Random(seed), ThreadDraft(leaves).opened()
    entries: list[Entry] = []
    while len(entries) < count:
        edit, number = _edit(chance, messages), len(entries) + 1
        if edit.apply(draft, number).status is Status.APPLIED:
            entries.append(Entry(number, edit, "bench"))
    return fold(entries)


def _edit(chance: random.Random, messages: int) -> Edit:
    start = chance.randrange(messages - 12)
    keys = tuple(original_key(start + step) for step in range(chance.randint(2, 10)))
    new = MadeMessage("system", (Text("what happened"),), 5)
    kind = chance.choices(
        (
            "digest",
            "revise",
            "snip",
            "condense",
            "insert",
            "resequence",
            "tag",
            "replace",
        ),
        (20, 15, 15, 15, 10, 10, 10, 5),
    )[0]
    match kind:
        case "digest":
            return Digest(targets=keys, messages=(new,))
        case "revise":
            return Revise(targets=keys, messages=(new, new))
        case "snip":
            return Snip(targets=keys)
        case "condense":
            return Condense(targets=keys[:1], messages=(new,))
        case "insert":
            return Insert(after=keys[0], messages=(new,))
        case "resequence":
            return Resequence(order=(keys[-1], *keys[:-1]))
        case "tag":
            return Tag(targets=keys, tags=("seen",))
    sha256 = fingerprint("secret")
    return Replace(spans=(Span(key=keys[0], part=0, start=0, end=6, sha256=sha256),))


def opened(rows: list[tuple[str, int, int]], log: Log) -> Tokens:
    """The domain's share of a page: leaves, replay, the first window, the token counts."""
    thread = replay(list(map(Leaf._make, rows)), log)
    thread.window(0, 100)
    return thread.tokens


def rows() -> Iterator[Row]:
    """The rows of the table."""
    stored = columns(10_000)
    log = operations(1_000, messages=10_000)
    empty = fold([])
    alone, full, folding = _least(
        lambda: opened(stored, empty),
        lambda: opened(stored, log),
        lambda: fold(log.entries),
    )
    yield Row("10,000 leaves alone", f"{alone * 1e3:.1f} ms", "", None)
    yield Row("… with 1,000 operations", f"{full * 1e3:.1f} ms", "", None)
    ratio = full / alone
    yield Row("replay / leaves alone", f"{ratio:.2f} ×", "≤ 6 ×", ratio <= 6)
    yield Row("folding a log of 1,000", f"{folding * 1e3:.1f} ms", "", None)
    yield from _growth()
    yield from _one_more()


def _growth() -> Iterator[Row]:
    """One operation per ten messages, so that the log grows with the thread."""
    costs = []
    for count in (1_000, 10_000, 100_000):
        stored, log = columns(count), operations(count // 10, messages=count)
        (seconds,) = _least(partial(opened, stored, log), rounds=7)
        costs.append(seconds / count)
        name = f"per message at {count:,}"
        yield Row(name, f"{costs[-1] * 1e6:.2f} µs", "", None)
    ratio = costs[-1] / costs[0]
    yield Row("per message, 100,000 / 1,000", f"{ratio:.2f} ×", "≤ 1.5 ×", ratio <= 1.5)


def _one_more() -> Iterator[Row]:
    """One more entry at the end of a log: checked, recorded, and the model's tokens counted."""
    leaves = list(map(Leaf._make, columns(2_000)))
    runs = []
    for count in (0, 100_000):
        entries = [Entry(n, _tag(n), "bench") for n in range(1, count + 1)]
        thread = replay(leaves, fold(entries))
        runs.append(partial(_record, thread, Entry(count + 1, _tag(count), "bench")))
    short, long = _least(*runs)
    yield Row("one more entry on 100,000", f"{long * 1e3:.2f} ms", "", None)
    ratio = long / short
    yield Row("… / on an empty log", f"{ratio:.2f} ×", "≤ 3 ×", ratio <= 3)


def _tag(number: int) -> Tag:
    return Tag(targets=(original_key(number * 7 % 2_000),), tags=("seen",))


def _record(thread: Thread, entry: Entry) -> Tokens:
    tried = check(thread, [_tag(entry.number)]).thread
    log = thread.log.extended([entry])
    return replay(thread.leaves, log, known=tried).tokens


def _least(*runs: Callable[[], object], rounds: int = ROUNDS) -> list[float]:
    """The least CPU seconds of each, in interleaved rounds."""
    seconds: list[list[float]] = [[] for _ in runs]
    gc.collect()
    gc.disable()  # as timeit does
    for _ in range(rounds):
        for run, spent in zip(runs, seconds, strict=True):
            start = time.process_time()
            run()
            spent.append(time.process_time() - start)
    gc.enable()
    return [min(spent) for spent in seconds]


def main() -> None:
    """Print the table."""
    for row in rows():
        verdict = {None: "", True: "ok", False: "MISSED"}[row.ok]
        print(f"{row.name:32} {row.value:>10} {row.bar:>8} {verdict}")


if __name__ == "__main__":
    main()
