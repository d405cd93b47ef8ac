"""Every rule of recording an edit, through every door at which one is recorded."""

from typing import Any

import pytest

from contextstudio.accounts.models import Project, User
from operations.log.selectors import load_thread
from tests.operations.support.builders import shape
from tests.operations.support.doors import DOORS, FOR_ANYONE, WITH_KEYS, Door
from tests.operations.support.sessions import session_of
from threads.domain.part import Text
from threads.models import Session

COUNT = 12
ON_FIVE_TO_SEVEN = {
    "indexes": {"start_idx": 5, "end_idx": 7},
    "range": {"range": [5, 7]},
    "keys": {"targets": ["m5", "m6", "m7"]},
}
"""The three ways to say which messages are meant."""
SAID = [{"role": "user", "content": "said"}]
WORDS: dict[str, dict[str, Any]] = {
    "tag": {"tags": ["design"]},
    "digest": {"summary": "Sum"},
    "revise": {"replacements": SAID},
    "snip": {},
}
"""What each kind that takes a range needs beside it."""
MALFORMED: dict[str, tuple[str, dict[str, Any], list[Any]]] = {
    "an empty digest": (
        "digest",
        {"start_idx": 1, "end_idx": 2, "summary": " \n"},
        ["summary"],
    ),
    "no summary at all": ("digest", {"start_idx": 1, "end_idx": 2}, ["summary"]),
    "no tag": ("tag", {"start_idx": 1, "end_idx": 2, "tags": []}, ["tags"]),
    "an empty tag": ("tag", {"range": [1, 2], "tags": ["a", ""]}, ["tags", 1]),
    "a NUL in a tag": ("tag", {"range": [1, 2], "tags": ["\x00"]}, ["tags", 0]),
    "no replacement": (
        "revise",
        {"range": [1, 2], "replacements": []},
        ["replacements"],
    ),
    "a replacement of no role": (
        "revise",
        {"range": [1, 2], "replacements": [*SAID, {"role": "x", "content": ""}]},
        ["replacements", 1, "role"],
    ),
    "a replacement that says nothing": (
        "revise",
        {"range": [1, 2], "replacements": [*SAID, {"role": "user", "parts": ["x"]}]},
        ["replacements", 1, "parts"],
    ),
    "a range that ends before it starts": ("snip", {"range": [3, 2]}, ["start_idx"]),
    "a range beyond the end": ("snip", {"range": [3, COUNT]}, ["end_idx"]),
    "a negative index": ("snip", {"start_idx": -1, "end_idx": 2}, ["start_idx"]),
    "true for an index": ("snip", {"start_idx": True, "end_idx": 2}, ["start_idx"]),
    "true in a range": ("snip", {"range": [0, True]}, ["range", 1]),
    "true for a place": (
        "insert",
        {"after_idx": True, "messages": SAID},
        ["after_idx"],
    ),
    "true in an order": ("resequence", {"new_order": [0, True]}, ["new_order", 1]),
    "a range of one number": ("snip", {"range": [3]}, ["range", 1]),
    "a range and keys": ("snip", {"range": [3, 4], "targets": ["m3"]}, []),
    "a range without its end": ("snip", {"start_idx": 3}, ["end_idx"]),
    "a range without its start": ("snip", {"end_idx": 3}, ["start_idx"]),
    "half a range and keys": ("snip", {"end_idx": 3, "targets": ["m3"]}, []),
    "no messages named": ("snip", {}, []),
    "an unknown key": ("snip", {"targets": ["m1", "m12"]}, ["targets", 1]),
    "no key": ("snip", {"targets": ["later"]}, ["targets", 0]),
    "a number twice in an order": (
        "resequence",
        {"new_order": [4, 2, 4]},
        ["new_order", 2],
    ),
    "an unknown number in an order": (
        "resequence",
        {"new_order": [4, COUNT]},
        ["new_order", 1],
    ),
    "a key twice in an order": ("resequence", {"order": ["m4", "m4"]}, ["order", 1]),
    "two orders": ("resequence", {"order": ["m4"], "new_order": [1, 2]}, []),
    "an anchor beyond the end": (
        "insert",
        {"after_idx": COUNT, "messages": SAID},
        ["after_idx"],
    ),
    "an anchor below the top": (
        "insert",
        {"after_idx": -2, "messages": SAID},
        ["after_idx"],
    ),
    "an unknown anchor": (
        "insert",
        {"after": "o9", "messages": SAID},
        ["after"],
    ),
    "no anchor": ("insert", {"messages": SAID}, []),
    "nothing to insert": ("insert", {"after_idx": 1, "messages": []}, ["messages"]),
    "a message that says nothing": (
        "insert",
        {"after_idx": 1, "messages": [*SAID, {"role": "user", "content": " "}]},
        ["messages", 1],
    ),
    "words that are none": (
        "revise",
        {"range": [1, 2], "replacements": [{"role": "user", "content": ""}]},
        ["replacements", 0],
    ),
    "an unknown field": ("snip", {"range": [1, 2], "colour": "red"}, ["colour"]),
    "a condition of no kind": (
        "snip",
        {"range": [1, 2], "condition": {"tags": ["a"], "match": "some"}},
        ["condition", "match"],
    ),
    "a condition said twice": (
        "snip",
        {"range": [1, 2], "tags": ["a"], "condition": {"tags": ["b"]}},
        ["tags"],
    ),
    "a negative head": (
        "snip",
        {"range": [1, 2], "expected_head": -1},
        ["expected_head"],
    ),
}


@pytest.fixture
def session(owner: User, project: Project) -> Session:
    return session_of(owner, project, COUNT)


@pytest.fixture(params=DOORS)
def door(
    request: pytest.FixtureRequest, owner: User, project: Project, session: Session
) -> Door:
    return DOORS[request.param](owner, project, str(session.pk))


def shape_of(session: Session) -> str:
    session.refresh_from_db()
    return shape(load_thread(session))


def originals(first: int, last: int) -> str:
    return " ".join(f"m{index}" for index in range(first, last + 1))


@pytest.mark.parametrize("way", ON_FIVE_TO_SEVEN)
@pytest.mark.parametrize("kind", WORDS)
def test_a_range_is_named_by_indexes_as_a_range_or_by_keys(
    door: Door, session: Session, kind: str, way: str
) -> None:
    answer = door(kind, **WORDS[kind], **ON_FIVE_TO_SEVEN[way])
    assert answer.ok, answer.body
    assert answer.body["resolved"] == {
        "first": 5,
        "last": 7,
        "count": 3,
        "keys": ["m5", "m6", "m7"],
    }
    assert (answer.body["key"], answer.body["head"]) == ("o1", 1)
    assert (answer.body["type"], answer.body["status"]) == (kind, "applied")
    folded = originals(5, 7) if kind == "tag" else f"o1({originals(5, 7)})"
    assert shape_of(session) == f"{originals(0, 4)} {folded} {originals(8, 11)}"


@pytest.mark.parametrize("anchor", [{"after_idx": 5}, {"after": 5}, {"after": "m5"}])
def test_an_insert_stands_behind_its_anchor(
    door: Door, session: Session, anchor: dict[str, Any]
) -> None:
    answer = door("insert", messages=SAID * 2, **anchor)
    assert answer.ok, answer.body
    assert shape_of(session) == f"{originals(0, 5)} o1.0 o1.1 {originals(6, 11)}"


def test_an_insert_after_minus_one_stands_at_the_top(
    door: Door, session: Session
) -> None:
    assert door("insert", after_idx=-1, messages=SAID).ok
    assert shape_of(session) == f"o1.0 {originals(0, 11)}"


@pytest.mark.parametrize(
    "order", [{"new_order": [9, 4, 6]}, {"order": ["m9", "m4", "m6"]}]
)
def test_a_partial_permutation_fills_the_places_that_its_messages_held(
    door: Door, session: Session, order: dict[str, Any]
) -> None:
    answer = door("resequence", **order)
    assert answer.ok, answer.body
    assert shape_of(session) == f"{originals(0, 3)} m9 m5 m4 m7 m8 m6 m10 m11"


@pytest.mark.parametrize("fault", MALFORMED)
def test_what_is_malformed_is_refused_at_its_place(
    door: Door, session: Session, fault: str
) -> None:
    kind, fields, at = MALFORMED[fault]
    answer = door(kind, **fields)
    assert answer.status == 422, answer.body
    assert answer.body["at"] == at
    assert answer.body["errors"][0]["at"] == at
    assert answer.body["detail"].endswith(".")
    session.refresh_from_db()
    assert session.head == 0


def test_what_would_cut_through_a_fold_is_refused_with_what_would_do(
    door: Door, session: Session
) -> None:
    assert door("digest", range=[3, 6], summary="Sum").ok
    answer = door("snip", range=[5, 8])
    assert (answer.status, answer.body["code"]) == (409, "conflict")
    assert answer.body["operations"] == ["o1"]
    assert answer.body["needs"] == {
        "keys": [f"m{index}" for index in range(3, 9)],
        "first": 3,
        "last": 8,
    }
    session.refresh_from_db()
    assert session.head == 1


def test_a_proposal_may_be_recorded_in_conflict(door: Door, session: Session) -> None:
    assert door("digest", range=[3, 6], summary="Sum").ok
    answer = door("snip", range=[5, 8], propose=True)
    assert answer.ok
    assert answer.body["status"] == "proposed"
    assert [warning["code"] for warning in answer.body["warnings"]] == ["conflict"]


def test_a_stale_head_is_refused_with_the_head(door: Door, session: Session) -> None:
    assert door("snip", range=[5, 8], expected_head=0).ok
    answer = door("snip", range=[1, 2], expected_head=0)
    assert (answer.status, answer.body["code"]) == (409, "stale_head")
    assert (answer.body["head"], answer.body["at"]) == (1, ["expected_head"])


def test_a_digest_longer_than_what_it_replaces_is_recorded_with_a_warning(
    door: Door,
) -> None:
    answer = door("digest", range=[1, 1], summary="many words " * 20)
    assert answer.ok
    assert [warning["code"] for warning in answer.body["warnings"]] == ["longer"]


def test_tags_are_short_for_a_condition_on_all_of_them(
    door: Door, session: Session
) -> None:
    answer = door("snip", range=[1, 2], tags=["lean"])
    assert answer.ok
    assert answer.body["status"] == "unmet"
    session.refresh_from_db()
    assert load_thread(session).total == COUNT
    assert load_thread(session, {"lean"}).total == COUNT - 1


def test_what_others_fare_after_it_is_in_the_answer(door: Door) -> None:
    assert door("insert", after_idx=5, messages=SAID).ok
    digest = door("digest", range=[5, 7], summary="Sum")
    assert digest.ok
    assert digest.body["resolved"]["keys"] == ["m5", "m6", "m7", "o1.0"]
    assert digest.body["changed"] == []


def test_text_of_any_kind_is_kept_as_it_was_said(door: Door, session: Session) -> None:
    words = "NUL \x00, half a pair \ud83d, a whole 😀"
    answer = door("digest", range=[1, 2], summary=words)
    assert answer.ok, answer.body
    session.refresh_from_db()
    made = load_thread(session).made_message("o1.0")
    assert made is not None
    assert made.parts == (Text(words),)


@pytest.fixture
def elsewhere(stranger: User) -> Session:
    """A session of a project that nobody here has to do with."""
    return session_of(stranger, Project.objects.get(slug="other"), COUNT)


def test_a_session_of_a_stranger_is_not_there(door: Door, elsewhere: Session) -> None:
    answer = door("snip", session_id=str(elsewhere.pk), range=[1, 2])
    assert (answer.status, answer.body["code"]) == (404, "not_found")
    elsewhere.refresh_from_db()
    assert elsewhere.head == 0


@pytest.mark.parametrize("name", FOR_ANYONE)
def test_one_who_may_only_read_records_nothing(
    name: str, viewer: User, project: Project, session: Session
) -> None:
    answer = DOORS[name](viewer, project, str(session.pk))("snip", range=[1, 2])
    assert (answer.status, answer.body["code"]) == (403, "forbidden")


@pytest.mark.parametrize("name", FOR_ANYONE)
def test_every_edit_of_one_who_may_only_propose_is_a_proposal(
    name: str, reviewer: User, project: Project, session: Session
) -> None:
    answer = DOORS[name](reviewer, project, str(session.pk))("snip", range=[1, 2])
    assert answer.ok
    assert answer.body["status"] == "proposed"
    session.refresh_from_db()
    assert load_thread(session).total == COUNT


@pytest.mark.parametrize("name", WITH_KEYS)
def test_the_same_request_under_one_key_is_recorded_once(
    name: str, owner: User, project: Project, session: Session
) -> None:
    door = DOORS[name](owner, project, str(session.pk))
    words = "half a pair \ud83d"
    first = door("digest", range=[1, 2], summary=words, idempotency_key="once")
    again = door("digest", range=[1, 2], summary=words, idempotency_key="once")
    assert first.ok, first.body
    assert (again.status, again.body) == (first.status, first.body)
    assert again.replayed is (name != "command")
    session.refresh_from_db()
    assert session.head == 1
    other = door("digest", range=[3, 4], summary=words, idempotency_key="once")
    assert (other.status, other.body["code"]) == (422, "idempotency_key_reused")


@pytest.mark.parametrize("name", WITH_KEYS)
def test_a_refusal_under_a_key_is_the_same_refusal_again(
    name: str, owner: User, project: Project, session: Session
) -> None:
    door = DOORS[name](owner, project, str(session.pk))
    first = door("snip", range=[1, 2], expected_head=7, idempotency_key="once")
    assert first.status == 409 or name == "command"
    assert not first.ok
    assert door("digest", range=[1, 2], summary="Sum").ok
    again = door("snip", range=[1, 2], expected_head=7, idempotency_key="once")
    assert (again.status, again.body) == (first.status, first.body)


@pytest.mark.parametrize("name", ["rest", "service"])
def test_a_message_is_condensed_and_keeps_its_role(
    name: str, owner: User, project: Project, session: Session
) -> None:
    door = DOORS[name](owner, project, str(session.pk))
    assert door("condense", target="m3", text="short").ok
    session.refresh_from_db()
    made = load_thread(session).made_message("o1.0")
    assert made is not None
    assert (made.role, made.parts) == ("assistant", (Text("short"),))
    refused = door("condense", target="m99", text="short")
    assert (refused.status, refused.body["at"]) == (422, ["target"])
