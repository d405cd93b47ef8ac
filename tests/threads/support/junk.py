"""Unexpected values, put in any place of a good file."""

import copy
import io
import json
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from contextstudio.accounts.domain.errors import Invalid
from threads.domain import formats
from threads.domain.transcript import Compaction

JUNK = st.sampled_from(
    [
        *(None, True, -1, 1.5, 10**30, "", "x", "\ud800", "\0"),
        *([], [None], [[]], {}, {"a": 1}, ["x"], {"type": "text"}),
        *([{"type": "text"}], [{"type": "text", "text": 7}]),
    ]
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a value, outermost first."""
    yield path
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value if isinstance(value, list) else [])
    )
    for step, one in inner:
        yield from places(one, (*path, step))


@st.composite
def spoiled(draw: st.DrawFn, seeds: dict[str, list[Any]]) -> tuple[str, bytes]:
    """A good file with a few values replaced or removed, and its format."""
    name = draw(st.sampled_from(sorted(seeds)))
    rows = copy.deepcopy(seeds[name])
    for _ in range(draw(st.integers(1, 3))):
        *path, last = draw(st.sampled_from(list(places(rows))[1:]))
        holder = rows
        for step in path:
            holder = holder[step]
        if draw(st.booleans()) and isinstance(holder, dict):
            del holder[last]
        else:
            holder[last] = copy.deepcopy(draw(JUNK))
    format_ = name.partition(",")[0].strip()
    return format_, b"\n".join(json.dumps(row).encode() for row in rows)


def assert_is_read_or_refused(format_: str, data: bytes) -> None:
    """Assert that a file gives conversations or a refusal with a sentence, the same each time."""
    try:
        found = formats.read(io.BytesIO(data), format_)
    except Invalid as refusal:
        assert refusal.message.endswith(".")
        return
    for transcript in found:
        items = list(transcript.items)
        warned = len(transcript.warnings)
        assert list(transcript.items) == items
        assert len(transcript.warnings) == warned
        assert all(item.replaces for item in items if isinstance(item, Compaction))
