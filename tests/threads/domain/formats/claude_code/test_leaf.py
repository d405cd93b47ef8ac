"""Which branch of a session is its thread, where its lines say on which one it goes on."""

from typing import Any

import pytest

from tests.threads.support.readings import events
from tests.threads.support.transcripts import (
    SESSION,
    answer,
    call,
    record,
    result,
    text,
    user,
)
from threads.domain.transcript import Parent, Relation

from .sessions import read_all, shape

FIRST = [user("u1", None, "Start."), answer("a1", "u1", text("Started."))]
SECOND = [user("u2", "a1", "Go on."), answer("a2", "u2", text("Went on."))]
OTHER = [user("u3", "a1", "Or so."), answer("a3", "u3", text("As well."))]
AGAIN = [user("u4", None, "Anew."), answer("a4", "u4", text("Begun."))]


def note(leaf: str | None, **members: Any) -> dict[str, Any]:
    return {
        "type": "last-prompt",
        "leafUuid": leaf,
        "sessionId": SESSION,
        **members,
    }


def chosen(leaf: str | None) -> dict[str, Any]:
    return note(leaf, explicit=True)


def words(*records: Any) -> list[list[str]]:
    """What is said in each conversation."""
    return [
        [line.split(": ")[1] for line in shape(told)] for told in read_all(*records)
    ]


BEGUN = ["Start.", "Started."]
WENT = [*BEGUN, "Go on.", "Went on."]
DIFFERED = [*BEGUN, "Or so.", "As well."]


def test_a_rewind_that_nothing_follows_ends_the_thread_where_it_went_to() -> None:
    thread, left = read_all(*FIRST, *SECOND, chosen("a1"))

    assert [line.split(": ")[1] for line in shape(thread)] == BEGUN
    assert [line.split(": ")[1] for line in shape(left)] == WENT
    assert left.parent == Parent(external_id=SESSION, relation=Relation.BRANCH, at=2)
    assert (events(thread), events(left)) == ([], ["last-prompt"])


@pytest.mark.parametrize("kind", ["last-prompt", "active-leaf"])
def test_a_branch_that_was_chosen_is_the_thread(kind: str) -> None:
    pin = {**chosen("a2"), "type": kind}
    assert words(*FIRST, *SECOND, *OTHER, pin) == [WENT, DIFFERED]


@pytest.mark.parametrize(
    "rest",
    [
        [note("a1")],
        [{"type": "mode", "mode": "normal", "sessionId": SESSION}],
        [record("attachment", "t1", "a2", attachment={"type": "fork_briefing"})],
        [user("x1", None, "Look.", isSidechain=True)],
        [note(None), {"type": "last-prompt", "lastPrompt": "Go on."}],
    ],
)
def test_it_stays_chosen_until_something_follows_in_the_thread(rest: list[Any]) -> None:
    assert words(*FIRST, *SECOND, chosen("a1"), *rest)[0] == BEGUN


def test_what_follows_a_rewind_goes_on_from_there() -> None:
    told = words(*FIRST, *SECOND, chosen("a1"), *OTHER)
    assert told == [DIFFERED, WENT]


def test_another_note_without_a_choice_ends_it() -> None:
    told = words(*FIRST, *SECOND, chosen("a1"), note("a2"))
    assert told == [WENT]


def test_a_noted_line_is_gone_on_from_where_the_file_went_on_elsewhere() -> None:
    assert words(*FIRST, *SECOND, *OTHER, note("a2")) == [WENT, DIFFERED]
    assert words(*FIRST, *SECOND, note("a1"), *OTHER) == [DIFFERED, WENT]


def test_a_noted_line_that_was_gone_on_from_is_no_end() -> None:
    assert words(*FIRST, note("a1"), *SECOND) == [WENT]


def test_calls_side_by_side_went_on_from_the_line_that_was_noted() -> None:
    [thread] = read_all(
        FIRST[0],
        answer("a1", "u1", call("c1"), turn="m1"),
        user("r1", "a1", result("c1")),
        note("r1"),
        answer("a2", "a1", call("c2"), turn="m1"),
        user("r2", "a2", result("c2")),
        answer("a3", "r2", text("Both done.")),
        user("u4", "a3", "Thanks."),
    )
    assert shape(thread)[-2:] == ["assistant: Both done.", "user: Thanks."]


def test_a_note_before_a_compaction_is_forgotten() -> None:
    thread, *_ = read_all(
        *FIRST,
        *SECOND,
        chosen("a1"),
        record(
            "system", "b1", None, subtype="compact_boundary", logicalParentUuid="a2"
        ),
        user("s1", "b1", "So far.", isCompactSummary=True),
        user("u5", "s1", "And now?"),
    )
    assert shape(thread)[-1] == "user: And now?"


@pytest.mark.parametrize("leaf", ["gone", "x1", ""])
def test_a_note_of_a_line_that_isnt_in_the_thread_says_nothing(leaf: str) -> None:
    side = user("x1", None, "Look.", isSidechain=True)
    assert words(*FIRST, *SECOND, side, *OTHER, chosen(leaf))[0] == DIFFERED


def test_a_line_that_is_no_message_is_noted_for_the_message_before_it() -> None:
    hook = record("attachment", "t1", "a1", attachment={"type": "hook_success"})
    assert words(*FIRST, hook, *SECOND, chosen("t1")) == [BEGUN, WENT]
    assert words(record("system", "t0", None), *FIRST, chosen("t0")) == [BEGUN]


def test_a_rewind_to_the_beginning_leaves_all_before_it() -> None:
    thread, left = read_all(*FIRST, *SECOND, chosen(None), *AGAIN)

    assert shape(thread) == ["user: Anew.", "assistant: Begun."]
    assert len(shape(left)) == 4
    assert left.external_id == f"{SESSION}/branch-u1"
    assert left.parent == Parent(external_id=SESSION, relation=Relation.BRANCH, at=0)


def test_one_that_nothing_follows_is_shown_whole() -> None:
    assert words(*FIRST, *SECOND, chosen(None)) == [WENT]


def test_a_noted_line_tells_of_a_beginning_too() -> None:
    assert words(*FIRST, *AGAIN, note("a4")) == [["Anew.", "Begun."], BEGUN]
    assert words(*FIRST, *AGAIN) == [[*BEGUN, "Anew.", "Begun."]]


def test_a_lost_parent_is_no_beginning() -> None:
    lost = user("u4", "gone", "Anew.")
    assert words(*FIRST, lost, AGAIN[1], note("a4")) == [[*BEGUN, "Anew.", "Begun."]]


def test_lines_that_come_from_one_another_in_a_circle_have_no_beginning() -> None:
    circle = [user("u4", "a4", "Anew."), AGAIN[1]]
    assert words(*FIRST, *circle, note("a4")) == [["Anew.", "Begun."], BEGUN]
