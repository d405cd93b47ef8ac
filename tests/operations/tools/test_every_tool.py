"""Every tool through every door: what it answers, and how it says no."""

import json
import re
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.db import connection
from django.test import Client

from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.models import IdempotentResponse, Project, User
from contextstudio.accounts.selectors import caller_of_user
from operations.domain.log.operation import Snip
from operations.edits.services import record_edit
from operations.log import transaction
from operations.tools import TOOLS, call_once, read_call, tool
from operations.tools.definitions.log import OperationTool
from operations.tools.tool import SessionTool, Tool
from tests.operations.support.rest import operate
from tests.operations.support.sessions import session_of
from tests.people import client_of, key_of
from threads.domain.message import Message, Role
from threads.domain.part import Text
from threads.models import Session
from threads.sessions.services import NewSession, create_session

from .cases import CASES, COUNT, ON_SESSION, PREPARED, Case
from .doors import MCP_HEADERS, Door, ask, every_door, limited, post_mcp

BELOW = {
    Right.PROPOSE: {Right.READ},
    Right.EDIT: {Right.READ, Right.REVIEW},
    Right.REVIEW: {Right.READ, Right.PROPOSE, Right.EDIT},
    Right.ADMIN: set(Right) - {Right.ADMIN},
}
"""What one may have and still not do what takes this right."""


def prepare(door: Door, case: Case, session_id: str) -> dict[str, Any]:
    """Do what a call needs, through the same door; the arguments of the call."""
    made: dict[str, str] = {}
    for need in case.needs:
        for name, arguments in PREPARED[need]:
            answer = door(name, session_id=session_id, **arguments)
            assert answer.status == 200, answer.body
            known = answer.body.get("operation_id") or answer.body.get("memo_id", "")
            made.setdefault(need, known)
    found = {} if case.on != ON_SESSION else {"session_id": session_id}
    if made and case.on in made:
        named = "memo_id" if case.on == "memo" else "operation_id"
        found = {named: made[case.on]}
    return {**found, **case.arguments}


def test_every_tool_has_a_case_and_every_case_a_tool() -> None:
    assert set(CASES) == set(TOOLS)


@pytest.mark.parametrize("name", CASES)
def test_a_good_call_is_answered_alike_at_every_door(
    name: str, owner: User, project: Project
) -> None:
    case = CASES[name]
    for place, door in every_door(owner, project).items():
        session = session_of(owner, project, COUNT)
        answer = door(name, **prepare(door, case, str(session.pk)))
        assert answer.status == 200, (place, answer.body)
        body = answer.body
        if place == "mcp" and set(body) == {"result"}:
            body = body["result"]
        assert case.answers <= set(body if isinstance(body, dict) else ()), place
        assert case.check(body), (place, body)


@pytest.mark.parametrize("name", CASES)
def test_what_is_refused_is_refused_alike_at_every_door(
    name: str, owner: User, stranger: User, project: Project
) -> None:
    case = CASES[name]
    session = session_of(owner, project, COUNT)
    doors = every_door(owner, project)
    good = prepare(doors["service"], case, str(session.pk))
    for place, door in doors.items():
        refused = door(name, **good, colour="red")
        assert (refused.status, refused.body["at"]) == (422, ["colour"]), place
        told = refused.body["detail"]
        assert told.startswith("There is no field colour; the "), place
        assert set(case.arguments) <= {*re.findall(r"\w+", told), *Tool.model_fields}
        if not good or case.on == "memo":  # no log that could have grown is named
            continue
        stale = door(name, **good, expected_head=99)
        assert (stale.status, stale.body["code"]) == (409, "stale_head"), place
    for place, door in limited(stranger, Project.objects.get(slug="other")).items():
        is_about_ours = good and name != "create_session"
        refused = door(name, **good) if is_about_ours else None
        if refused is not None:
            assert (refused.status, refused.body["code"]) == (404, "not_found"), place
    if case.right in BELOW:
        for place, door in limited(owner, project, *BELOW[case.right]).items():
            refused = door(name, **good)
            assert (refused.status, refused.body["code"]) == (403, "forbidden"), place


@pytest.mark.parametrize(
    "name", [name for name, case in CASES.items() if case.right is not Right.READ]
)
def test_a_call_under_one_key_is_done_once(
    name: str, owner: User, project: Project
) -> None:
    session = session_of(owner, project, COUNT)
    doors = every_door(owner, project)
    good = prepare(doors["mcp"], CASES[name], str(session.pk))
    first = doors["mcp"](name, **good, idempotency_key="once")
    again = doors["rest"](name, **good, idempotency_key="once")
    assert first.status == 200, first.body
    assert (again.status, again.body) == (200, first.body)
    assert again.replayed


def test_what_only_reads_is_read_again_under_one_key(
    owner: User, project: Project
) -> None:
    session = session_of(owner, project, COUNT)
    doors = every_door(owner, project)
    asked: dict[str, Any] = {"session_id": str(session.pk), "start": 2, "end": 3}
    first = doors["mcp"]("get_message_range", **asked, idempotency_key="once")
    assert "message 2" in str(first.body)
    client, pattern = client_of(owner, project), {"start": "message 2", "all": True}
    operate(client, asked["session_id"], "redact", patterns=[pattern])
    again = doors["rest"]("get_message_range", **asked, idempotency_key="once")
    assert (again.status, again.replayed) == (200, True)
    assert "message 2" not in str(again.body)
    (kept,) = IdempotentResponse.objects.all()
    assert not bytes(kept.body)
    other = doors["rest"](
        "get_message_range", **asked | {"end": 4}, idempotency_key="once"
    )
    assert other.body["code"] == "idempotency_key_reused"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("append_messages", {"messages": [{"role": "user", "content": "And back?"}]}),
        ("manage_scratchpad", {"action": "append", "content": "- [ ] tests"}),
        ("set_context_window", {"n": 2}),
        ("request_context_slice", {"max_context_messages": 2}),
    ],
)
def test_nobody_records_between_the_look_at_the_head_and_what_a_tool_does(
    owner: User,
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    arguments: dict[str, Any],
) -> None:
    session = session_of(owner, project, COUNT)
    who = caller_of_user(owner)

    def refuse_stale(seen: Session, expected: int | None) -> None:
        transaction.refuse_stale(seen, expected)
        if not connection.in_atomic_block:
            record_edit(who, session.pk, Snip(targets=("m1",)))

    monkeypatch.setattr(tool, "refuse_stale", refuse_stale)
    call = {"session_id": str(session.pk), "expected_head": session.head, **arguments}
    assert call_once(who, read_call(name, call)).status == 200
    assert Session.objects.get().head == session.head


@pytest.mark.parametrize(
    "name",
    [name for name in CASES if issubclass(TOOLS[name], SessionTool | OperationTool)],
)
def test_a_call_that_names_another_project_than_its_sessions_is_refused(
    name: str, owner: User, stranger: User, project: Project
) -> None:
    session = session_of(owner, project, COUNT)
    doors = every_door(owner, project)
    good = prepare(doors["service"], CASES[name], str(session.pk))
    for wrong in ("other", "nowhere"):
        refused = doors["rest"](name, **good, project=wrong)
        assert (refused.status, refused.body["at"]) == (422, ["project"])
    assert doors["rest"](name, **good, project="demo").status == 200


@pytest.mark.parametrize("key", ["", "cs_wrong"])
def test_without_a_key_that_is_valid_every_door_says_401(key: str, db: None) -> None:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    answer = Client().post(
        "/api/tools/list_sessions", {}, "application/json", headers=headers
    )
    assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Bearer")
    status, body = post_mcp("tools/list", key)
    assert (status, body["status"]) == (401, 401)
    assert body["code"] == ("key_invalid" if key else "unauthenticated")


def test_only_a_post_is_answered_at_mcp(owner: User, project: Project) -> None:
    headers = {"Authorization": f"Bearer {key_of(owner, project)}"}
    status, body = async_to_sync(ask)("GET", headers, b"")
    assert (status, json.loads(body)["code"]) == (405, "method_not_allowed")


def test_a_client_of_mcp_that_leaves_before_its_call_is_here_ends_nothing_else(
    owner: User, project: Project
) -> None:
    headers = {"Authorization": f"Bearer {key_of(owner, project)}"}
    headers |= MCP_HEADERS | {"Content-Type": "application/json"}
    assert async_to_sync(ask)("POST", headers, None) == (0, b"")


def test_an_unknown_tool_is_refused_at_every_door(
    owner: User, project: Project
) -> None:
    for place, door in every_door(owner, project).items():
        assert door("make_coffee").status == 404, place


def test_text_that_is_no_unicode_comes_through_mcp_without_it(
    owner: User, project: Project
) -> None:
    session = create_session(
        caller_of_user(owner),
        project,
        NewSession(messages=[Message(role=Role.USER, parts=(Text("half \ud83d"),))]),
    )
    doors = every_door(owner, project)
    for place, content in (("rest", "half \ud83d"), ("mcp", "half ?")):
        answer = doors[place](
            "get_message_range", session_id=str(session.pk), start=0, end=1
        )
        assert answer.body["messages"][0]["content"] == content


def test_what_a_key_that_may_only_propose_records_is_a_proposal(
    owner: User, project: Project
) -> None:
    session = session_of(owner, project, COUNT)
    doors = limited(owner, project, Right.READ, Right.PROPOSE)
    for start, door in zip((1, 5, 9), doors.values(), strict=True):
        answer = door("snip_messages", session_id=str(session.pk), range=[start, start])
        assert answer.body["status"] == "proposed"


def test_more_sessions_than_are_listed_are_told_of(
    owner: User, project: Project
) -> None:
    ask_for = every_door(owner, project)["rest"]
    for _ in range(2):
        session_of(owner, project, 2)
    for limit, truncated in ((1, True), (2, False)):
        answer = ask_for("list_sessions", limit=limit)
        assert len(answer.body["sessions"]) == limit
        assert answer.body["truncated"] is truncated


def test_an_agent_finds_its_session_again_by_its_own_name_for_it(
    owner: User, project: Project
) -> None:
    session_of(owner, project, 2)
    ask_for = every_door(owner, project)["mcp"]
    made = ask_for("create_session", title="Boats", external_id="run-17").body
    assert ask_for("create_session", external_id="run-17").status == 409
    found = ask_for("list_sessions", external_id="run-17").body["sessions"]
    assert [session["id"] for session in found] == [made["id"]]
    assert ask_for("list_sessions", external_id="run").body["sessions"] == []


@pytest.mark.parametrize("slug", ["\0", "\ud800", "nowhere", "Grüße"])
def test_a_project_that_there_is_none_of_has_no_sessions(
    slug: str, owner: User, project: Project
) -> None:
    session_of(owner, project, 2)
    answer = every_door(owner, project)["rest"]("list_sessions", project=slug)
    assert (answer.status, answer.body["sessions"]) == (200, [])
