"""Where operations do not overlap, replay equals a plain substitution of slices."""

from hypothesis import given
from hypothesis import strategies as st

from operations.domain.log.operation import (
    Digest,
    Edit,
    Insert,
    Resequence,
    Revise,
    Snip,
)
from tests.operations.support.builders import keys, new, thread


@st.composite
def separate_operations(draw: st.DrawFn) -> tuple[int, list[Edit]]:
    """Operations on ranges of their own, inserts behind messages that do not move."""
    count = draw(st.integers(1, 16))
    operations: list[Edit] = []
    anchors = [-1]
    start = 0
    while start < count:
        end = draw(st.integers(start, count - 1))
        targets = keys(start, end)
        kind = draw(st.sampled_from(("", "digest", "revise", "snip", "resequence")))
        match kind:
            case "digest":
                operations.append(Digest(targets=targets, messages=(new(f"d{start}"),)))
            case "revise":
                texts = [f"r{start}.{k}" for k in range(draw(st.integers(1, 3)))]
                operations.append(
                    Revise(targets=targets, messages=tuple(map(new, texts)))
                )
            case "snip":
                operations.append(Snip(targets=targets))
            case "resequence":
                operations.append(
                    Resequence(order=tuple(draw(st.permutations(targets))))
                )
            case _:
                anchors += range(start, end)
        anchors += [] if kind == "resequence" else [end]
        start = end + 1
    for anchor in draw(st.lists(st.sampled_from(anchors), unique=True)):
        messages = (new(f"i{anchor}.0"), new(f"i{anchor}.1"))
        after = None if anchor < 0 else f"m{anchor}"
        operations.append(Insert(after=after, messages=messages))
    return count, draw(st.permutations(operations))


def by_slices(count: int, operations: list[Edit]) -> list[str]:
    """From the highest place down, each operation replaces an inclusive slice.

    An insert before a range comes after it, so that it stands in front of the range.
    """
    messages = [f"m{index}" for index in range(count)]
    inserts_last = sorted(
        operations, key=lambda operation: isinstance(operation, Insert)
    )
    for operation in sorted(inserts_last, key=first_place, reverse=True):
        start = first_place(operation)
        match operation:
            case Insert():
                messages[start:start] = texts(operation)
            case Resequence():
                messages[start : start + len(operation.order)] = operation.order
            case _:
                end = int(operation.targets[-1][1:])
                messages[start : end + 1] = texts(operation)
    return messages


def first_place(operation: Edit) -> int:
    match operation:
        case Insert(after=after):
            return 0 if after is None else int(after[1:]) + 1
        case Resequence(order=order):
            return min(int(key[1:]) for key in order)
        case _:
            return int(operation.targets[0][1:])


def texts(operation: Edit) -> list[str]:
    return [message.parts[0].text for message in operation.messages]


@given(separate_operations())
def test_replay_equals_descending_inclusive_slices(given_operations):
    count, operations = given_operations
    made = thread(count, *operations)
    shown = [m.message.parts[0].text if m.message else m.key for m in made.effective()]
    assert shown == by_slices(count, operations)
