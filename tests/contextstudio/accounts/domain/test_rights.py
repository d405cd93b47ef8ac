"""What each role may, and the problem document of a refusal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import (
    Conflict,
    DomainError,
    Forbidden,
    Invalid,
    NotFound,
    Unauthenticated,
    problem,
)
from contextstudio.accounts.domain.rights import (
    RIGHTS_OF,
    ProjectRole,
    Right,
    with_implied,
)


@pytest.mark.parametrize(
    ("role", "rights"),
    [
        (ProjectRole.VIEWER, "read"),
        (ProjectRole.REVIEWER, "read propose review"),
        (ProjectRole.EDITOR, "read propose edit review own_session"),
        (ProjectRole.OWNER, "read propose edit review own_session admin"),
    ],
)
def test_each_role_has_its_rights(role: ProjectRole, rights: str) -> None:
    assert RIGHTS_OF[role] == {Right(word) for word in rights.split()}


@given(st.frozensets(st.sampled_from(Right)))
def test_scopes_bring_what_they_need_and_nothing_else(scopes: frozenset[Right]) -> None:
    rights = with_implied(scopes)
    assert rights >= scopes | {Right.READ}
    assert with_implied(rights) == rights
    assert (Right.PROPOSE in rights) == bool(
        scopes & {Right.PROPOSE, Right.OWN_SESSION, Right.EDIT}
    )
    assert (Right.OWN_SESSION in rights) == bool(
        scopes & {Right.OWN_SESSION, Right.EDIT}
    )
    for asked in (Right.EDIT, Right.REVIEW, Right.ADMIN):
        assert (asked in rights) == (asked in scopes)


def test_what_may_be_recalled_is_what_is_seen_and_more() -> None:
    agent = Caller(
        actor="key:1",
        name="agent",
        rights={1: frozenset({Right.READ})},
        recalls=frozenset({2}),
    )
    assert agent.recallable == [1, 2]
    assert agent.projects(Right.READ) == [1]


def test_rights_in_one_project_are_none_in_another() -> None:
    caller = Caller(actor="key:1", name="agent", key_id=1, rights={1: frozenset(Right)})
    assert caller.is_agent
    assert caller.may(Right.ADMIN, 1)
    assert not caller.may(Right.READ, 2)


@pytest.mark.parametrize(
    ("refusal", "status", "title"),
    [
        (NotFound("It is not there."), 404, "Not Found"),
        (Forbidden("You may not."), 403, "Forbidden"),
        (Unauthenticated("Who are you?"), 401, "Unauthorized"),
        (Conflict("It is in the way."), 409, "Conflict"),
    ],
)
def test_a_refusal_is_a_problem_document(
    refusal: DomainError, status: int, title: str
) -> None:
    document = problem(refusal)
    fault = {"code": refusal.default_code, "detail": refusal.message, "at": []}
    assert document == {
        "type": "about:blank",
        "title": title,
        "status": status,
        **fault,
        "errors": [fault],
    }


def test_the_facts_of_a_conflict_stand_beside_its_words() -> None:
    refusal = Conflict("The log has grown.", code="stale_head", facts={"head": 8})
    assert problem(refusal)["head"] == 8
    assert problem(refusal)["code"] == "stale_head"


@given(st.lists(st.tuples(st.text(), st.text()), min_size=1))
def test_every_fault_of_a_refusal_is_listed_with_its_place_and_facts(
    faults: list[tuple[str, str]],
) -> None:
    refusal = Invalid(
        "Some of it is wrong.",
        errors=[
            Invalid(words, at=["messages", place], facts={"keys": [place]})
            for words, place in faults
        ],
    )
    assert problem(refusal)["errors"] == [
        {"code": "invalid", "detail": words, "at": ["messages", place], "keys": [place]}
        for words, place in faults
    ]
