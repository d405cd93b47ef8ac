"""Threads and operations for tests, with defaults."""

from operations.domain.log.entry import Entry
from operations.domain.log.log import Log, fold
from operations.domain.log.operation import (
    ALWAYS,
    Condition,
    Digest,
    Insert,
    Operation,
    Resequence,
    Revise,
    Snip,
)
from operations.domain.thread.node import FoldNode
from operations.domain.thread.replay import replay
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, original_key
from operations.domain.tree.leaf import Leaf, MadeMessage
from operations.domain.tree.span import Span, fingerprint
from threads.domain.part import Text

AUTHOR, OTHER = "user:1", "user:2"


def originals(count: int, tokens: int = 10) -> list[Leaf]:
    return [
        Leaf("user" if index % 2 == 0 else "assistant", tokens, 1)
        for index in range(count)
    ]


def keys(first: int, last: int) -> tuple[Key, ...]:
    """The keys of originals from one index to another, inclusive."""
    return tuple(original_key(index) for index in range(first, last + 1))


def new(text: str = "new", role: str = "system", tokens: int = 3) -> MadeMessage:
    return MadeMessage(role, (Text(text),), tokens)


def digest(first: int, last: int, *, condition: Condition = ALWAYS) -> Digest:
    return Digest(
        targets=keys(first, last), messages=(new("summary"),), condition=condition
    )


def revise(first: int, last: int, *texts: str) -> Revise:
    return Revise(
        targets=keys(first, last), messages=tuple(map(new, texts or ("other",)))
    )


def snip(first: int, last: int) -> Snip:
    return Snip(targets=keys(first, last))


def insert(after: Key | None, *texts: str) -> Insert:
    return Insert(after=after, messages=tuple(map(new, texts or ("inserted",))))


def resequence(*order: Key) -> Resequence:
    return Resequence(order=order)


def span(
    key: Key,
    start: int,
    end: int,
    covered: str = "?",
    text: str = "",
    *,
    part: int = 0,
    saved: int = 0,
) -> Span:
    sha256 = fingerprint(covered)
    return Span(
        key=key, part=part, start=start, end=end, sha256=sha256, text=text, saved=saved
    )


def entries(*operations: Operation | Entry, actor: str = AUTHOR) -> list[Entry]:
    """Number entries consecutively; a bare operation becomes an entry of `actor`."""
    return [
        operation._replace(number=number)
        if isinstance(operation, Entry)
        else Entry(number, operation, actor)
        for number, operation in enumerate(operations, start=1)
    ]


def by(actor: str, operation: Operation, *, bundle: str | None = None) -> Entry:
    return Entry(0, operation, actor, bundle)


def proposal(operation: Operation, actor: str = AUTHOR) -> Entry:
    return Entry(0, operation, actor, None, proposed=True)


def log(*operations: Operation | Entry) -> Log:
    return fold(entries(*operations))


def thread(count: int, *operations: Operation | Entry, **options: object) -> Thread:
    return replay(originals(count), log(*operations), **options)  # type: ignore[arg-type]


def shape(thread: Thread) -> str:
    """The nodes of a thread in one line: `m0 o2(m1 o1(m2 m3)) m4`."""
    return " ".join(_shape(thread, key) for key in thread.keys)


def _shape(thread: Thread, key: Key) -> str:
    if not isinstance(thread.node(key), FoldNode):
        return key
    return (
        f"{key}({' '.join(_shape(thread, inner) for inner in thread.child_keys(key))})"
    )


def statuses(thread: Thread) -> list[str]:
    return [report.status.value for report in thread.reports]


def picture(thread: Thread) -> dict[str, object]:
    """Everything visible of a thread, except the length of its log."""
    return {
        "shape": shape(thread),
        "nodes": [thread.node(key) for key in [*thread.keys, *thread.folds]],
        "inner": [thread.children(key) for key in thread.folds],
        "effective": list(thread.effective()),
        "operations": thread.reports,
        "tokens": thread.tokens,
        "marks": thread.marks,
        "moved": thread.moves,
        "active_tags": thread.active_tags,
        "spans": {key: thread.spans(key) for key in thread.annotated_keys},
    }
