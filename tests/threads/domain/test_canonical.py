"""Canonical JSON is the standard library's, whoever writes it."""

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.threads.support.strategies import STRANGE, messages, texts
from threads.domain import canonical
from threads.domain.body import canonical_parts, digest, encode_part, encode_parts
from threads.domain.message import Message, Role
from threads.domain.part import Image, Opaque, Part, Text, ToolCall, ToolResult

numbers = (
    st.integers(-(1 << 70), 1 << 70)
    | st.floats()
    | st.sampled_from(
        [1e-7, 1e22, 5e-324, 1e-7, -0.0, 1.0, 1 << 63, 1 << 64, -(1 << 63)]
    )
)
characters = st.characters() | st.sampled_from([c for c in STRANGE if len(c) == 1])
"""Every code point, lone surrogates included."""
anything = st.text(characters) | texts
values = st.recursive(
    st.none() | st.booleans() | numbers | anything,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(anything, inner, max_size=4)
    ),
    max_leaves=12,
)


def by_the_standard_library(value: Any) -> bytes:
    written = json.dumps(
        value, ensure_ascii=False, sort_keys=True, separators=(",", ":")
    )
    return written.encode("utf-8", "surrogatepass")


@settings(deadline=None, max_examples=500)
@given(values)
@example({"b": 1e-7, "a": [float("nan"), float("inf"), 1e-7]})
@example({"\uffff": 1, "\U00010000": 2, "\ud800": 3})
@example("\x7f\x1f\x00\u2028/")
def test_every_value_is_written_as_the_standard_library_writes_it(value: Any) -> None:
    assert canonical.canonical(value) == by_the_standard_library(value)


@settings(deadline=None)
@given(anything)
def test_every_text_is_written_as_the_standard_library_writes_it(value: str) -> None:
    assert canonical.canonical(value) == by_the_standard_library(value)


@settings(deadline=None)
@given(messages)
def test_the_parts_of_a_message_are_the_canonical_json_of_their_forms(
    message: Message,
) -> None:
    forms = [encode_part(part) for part in message.parts]
    assert canonical_parts(message.parts) == by_the_standard_library(forms)


def test_a_deep_value_and_keys_that_are_no_text_are_written_too() -> None:
    deep: Any = "end"
    for _ in range(300):
        deep = [deep]
    assert canonical.canonical(deep) == by_the_standard_library(deep)
    assert canonical.canonical({1: "a", 2: (1, 2)}) == b'{"1":"a","2":[1,2]}'


@pytest.mark.parametrize("is_error", [False, True])
@pytest.mark.parametrize("name", [None, "", "tool \ud800"])
def test_a_result_is_the_canonical_json_of_its_form(
    name: str | None, is_error: bool
) -> None:
    content = (Text("a"), Image("image/png", url="https://example.org/1.png"))
    result = ToolResult("call", content, name, is_error)
    assert canonical_parts([result]) == by_the_standard_library([encode_part(result)])


@pytest.mark.parametrize(
    "part",
    [
        ToolCall("1", "f", {"a": 1e-7}),
        ToolCall("1", "f", [{"a": [1e-7]}]),
        Opaque("x", {"a": 1e-7}),
        ToolResult("1", (Opaque("x", {"a": 1e-7}),)),
    ],
)
def test_a_number_that_others_write_otherwise_is_written_as_the_standard_says(
    part: Part,
) -> None:
    assert canonical_parts([part]) == by_the_standard_library([encode_part(part)])
    assert b"1e-07" in encode_parts([part])


def test_a_digest_stays_what_it_was() -> None:
    """What is stored is found by it: the form may never change."""
    parts = (Text("Hé \ud800"), ToolCall("1", "f", {"b": 1.5, "a": [None, 1 << 70]}))
    assert digest(Role.TOOL, parts).hex().startswith("ac040e663451c29b842c3e02")
