"""What Claude Code took out of its context with nothing, or another answer, in its place."""

from typing import Any

import pytest

from tests.threads.support.readings import compactions, events, texts
from tests.threads.support.transcripts import answer, call, record, result, text, user
from threads.domain.formats.claude_code import shortening

from .sessions import read, shape

SAID = [
    user("u1", None, "Look."),
    answer("a1", "u1", text("I look."), turn="m1"),
    answer("a2", "a1", call("c1"), turn="m1"),
    user("r1", "a2", result("c1")),
    answer("a3", "r1", text("It is there.")),
]
AFTER = [user("u2", "s1", "And now?"), answer("a4", "u2", text("Still."))]


def snip(*removed: str, id_: str = "s1", parent: str = "a3") -> dict[str, Any]:
    about = {"removedUuids": list(removed)}
    return record("system", id_, parent, subtype="snip_boundary", snipMetadata=about)


def test_nothing_stands_in_the_place_of_what_was_snipped() -> None:
    found = read(*SAID, snip("a1", "a2", "r1", "gone"), *AFTER)

    assert len(shape(found)) == 6
    [taken] = compactions(found)
    assert (taken.replaces, taken.messages) == ((1, 2), ())
    assert events(found) == []


def test_of_a_message_that_was_taken_in_part_the_rest_stays() -> None:
    found = read(*SAID, snip("a2", "r1"), *AFTER)

    whole, part = compactions(found)
    assert (whole.replaces, whole.messages) == ((2,), ())
    assert (part.replaces, texts(part.messages)) == ((1,), ["I look."])


def test_what_was_snipped_before_is_not_snipped_again() -> None:
    again = snip("u1", "r1", id_="s2", parent="a4")
    found = read(*SAID, snip("r1"), *AFTER, again)

    assert [one.replaces for one in compactions(found)] == [(2,), (0,)]


def test_a_snip_of_nothing_that_is_here_is_an_event() -> None:
    found = read(*SAID, snip("gone"), *AFTER)

    assert compactions(found) == []
    assert events(found) == ["system/snip_boundary"]


def test_a_compaction_hides_what_was_snipped_too() -> None:
    boundary = record(
        "system", "b1", None, subtype="compact_boundary", logicalParentUuid="a4"
    )
    summary = user("x1", "b1", "So far.", isCompactSummary=True)
    found = read(*SAID, snip("r1"), *AFTER, boundary, summary)

    assert [one.replaces for one in compactions(found)] == [(2,), tuple(range(6))]


def test_snips_beyond_the_bound_are_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shortening, "MAX_COMPACTIONS", 0)
    found = read(*SAID, snip("r1"), *AFTER)

    assert compactions(found) == []
    assert [warning.code for warning in found.warnings] == ["compactions_left"]


def test_what_cannot_be_read_of_the_rest_is_left_out() -> None:
    broken = answer("a2", "a1", {"type": "tool_use", "name": 7}, turn="m1")
    found = read(*SAID[:2], broken, *SAID[3:], snip("a1"), *AFTER)

    assert compactions(found) == []


REFUSED = [
    user("u1", None, "Look."),
    answer("a1", "u1", text("I loo")),
    record(
        "system",
        "f1",
        "a1",
        subtype="model_refusal_fallback",
        retractedMessageUuids=["a1"],
    ),
]


def test_what_a_model_said_before_it_refused_was_taken_back() -> None:
    again = answer("a2", "f1", text("I looked."), supersedesUuids=["a1"])
    found = read(*REFUSED, again)

    assert len(shape(found)) == 3
    assert [(one.replaces, one.messages) for one in compactions(found)] == [((1,), ())]
    assert events(found) == []


def test_an_answer_in_the_place_of_another_says_it_too() -> None:
    again = answer("a2", "a1", text("I looked."), supersedesUuids=["a1"])
    found = read(*REFUSED[:2], again)

    assert shape(found)[1:] == ["assistant: I loo", "assistant: I looked."]
    assert [one.replaces for one in compactions(found)] == [(1,)]


def test_what_was_taken_back_beside_the_way_is_no_part_of_it() -> None:
    again = answer("a2", "u1", text("I looked."), supersedesUuids=["a1"])
    found = read(*REFUSED, again)

    assert shape(found) == ["user: Look.", "assistant: I looked."]
    assert compactions(found) == []
    assert events(found) == ["branch/assistant", "system/model_refusal_fallback"]
