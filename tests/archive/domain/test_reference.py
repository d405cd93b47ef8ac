"""What references name: the five forms of a reference, and what is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archive.domain.reference import (
    Location,
    RecallReference,
    read_lines,
    read_location,
    read_reference,
    write_reference,
)

MESSAGE, SESSION = "msg-def67890", "abc12345"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "nexora://nexora-cli/abc12345/msg-def67890",
            RecallReference(MESSAGE, SESSION, "nexora-cli"),
        ),
        (
            "nexora://nexora-cli/abc12345/msg-def67890:L50-100",
            RecallReference(MESSAGE, SESSION, "nexora-cli", Location("lines", 50, 100)),
        ),
        (
            "nexora://nexora-cli/abc12345/msg-def67890:match-3",
            RecallReference(MESSAGE, SESSION, "nexora-cli", Location("match", 3, 3)),
        ),
        ("nexora://_/current/msg-def67890", RecallReference(MESSAGE)),
        ("msg-def67890", RecallReference(MESSAGE)),
    ],
)
def test_the_five_forms_of_document_1_are_read(
    text: str, expected: RecallReference
) -> None:
    assert read_reference(text) == expected
    assert read_reference(f" [recall:{text}] ") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("m12", RecallReference("m12")),
        ("o7.0:tool-2", RecallReference("o7.0", location=Location("tool", 2, 2))),
        (
            "nexora://demo/01234567-89ab-4cde-8f01-23456789abcd/m0",
            RecallReference("m0", "0123456789ab4cde8f0123456789abcd", "demo"),
        ),
        ("nexora://_/abc12345/msg-def6", RecallReference("msg-def6", SESSION)),
    ],
)
def test_keys_whole_ids_and_beginnings_are_read(
    text: str, expected: RecallReference
) -> None:
    assert read_reference(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("", "msg-", "msg-xyz", "hello", "nexora://", "nexora:///abc12345/m1"),
        *("nexora://demo/abc12345", "nexora://demo/abc/m1", "nexora://a/b/c/d"),
        *("msg-def67890:L0-5", "msg-def67890:L5-2", "msg-def67890:match-0"),
        *("msg-def67890:10-50", "msg-def67890:", "[recall:]"),
    ],
)
def test_what_is_no_reference_names_nothing(text: str) -> None:
    assert read_reference(text) is None


def test_lines_are_counted_from_1_and_both_ends_are_in() -> None:
    assert read_lines("10-50") == Location("lines", 10, 50)
    assert read_lines(" 7 ") == Location("lines", 7, 7)
    assert read_lines("five") is None
    assert str(read_location("L3")) == "L3-3"


@given(
    st.from_regex(r"[a-z][a-z0-9-]{0,20}", fullmatch=True),
    st.uuids(version=4).map(str),
    st.one_of(
        st.from_regex(r"msg-[0-9a-f]{8}", fullmatch=True),
        st.just("m3"),
        st.just("o7.1"),
    ),
    st.one_of(
        st.none(),
        st.builds(
            lambda kind, first: Location(kind, first, first),
            st.sampled_from(["match", "tool"]),
            st.integers(1, 999),
        ),
        st.integers(1, 99).map(lambda first: Location("lines", first, first + 7)),
    ),
)
def test_what_is_written_is_read_again(
    project: str, session: str, message: str, location: Location | None
) -> None:
    text = write_reference(project, session, message, location)
    assert read_reference(text) == RecallReference(
        message, session[:8], project, location
    )


@given(st.text(max_size=60))
def test_any_text_is_a_reference_or_none(text: str) -> None:
    read_reference(text)
    read_reference(f"nexora://{text}")
