"""Both maps whose versions share what they have in common answer as a plain dict does."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operations.domain.tree import map as maps
from operations.domain.tree import trie

NAMES = st.integers(0, 9)
CHANGES = st.lists(
    st.lists(
        st.tuples(st.sampled_from(["set", "pop", "update"]), NAMES, st.integers())
    ),
    max_size=4,
)
MAPS = pytest.mark.parametrize("made", [maps.Map, trie.Map])


@MAPS
@given(started=st.dictionaries(NAMES, st.integers() | st.none()), versions=CHANGES)
def test_every_version_has_what_was_set_in_it_and_the_one_before_stays(
    made: Any,
    started: dict[int, int | None],
    versions: list[list[tuple[str, int, int]]],
) -> None:
    closed, expected = made(started.items()), dict(started)
    for changes in versions:
        before, known = dict(expected), closed
        opened = closed.mutate()
        for what, name, value in changes:
            if what == "pop":
                assert opened.pop(name, "none") == expected.pop(name, "none")
            elif what == "update":
                opened.update({name: value, name + 1: None})
                expected.update({name: value, name + 1: None})
            else:
                opened[name] = value
                expected[name] = value
            assert opened.get(name) == expected.get(name)
            assert opened.get(name, "none") == expected.get(name, "none")
            assert (name in opened) == (name in expected)
            assert name not in opened or opened[name] == expected[name]
            assert len(opened) == len(expected)
        closed = opened.finish()
        _agree(closed, expected)
        _agree(known, before)


def _agree(found: Any, expected: dict[int, int | None]) -> None:
    assert dict(found.items()) == expected
    assert sorted(found) == sorted(expected) and len(found) == len(expected)
    assert dict(zip(found, found.values(), strict=True)) == expected
    assert all(found[name] == value for name, value in expected.items())
    assert [name in found for name in range(11)] == [
        name in expected for name in range(11)
    ]
    assert (found.get(99), found.get(99, 1)) == (None, 1)


@MAPS
def test_a_name_that_is_not_there_is_a_key_error(made: Any) -> None:
    opened = made({1: 1}).mutate()
    opened.pop(1)
    for ask in (opened.pop, opened.__getitem__):
        with pytest.raises(KeyError):
            ask(1)
    with pytest.raises(KeyError):
        opened.finish()[1]
