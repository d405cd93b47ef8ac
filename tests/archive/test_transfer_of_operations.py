"""Operations fare elsewhere as they do here, or are refused with their place."""

from django.test import Client

from tests.archive.pruning.conftest import WORK
from tests.operations.support.rest import (
    Tools,
    get,
    make_session,
    operate,
    post,
)

from .transfers import said_in, statuses


def test_operations_with_conditions_apply_elsewhere_as_they_do_here(
    agent: Client,
) -> None:
    session_id = make_session(agent, WORK)
    unless = {"tags": ["brief"], "match": "none"}
    first = {"targets": ["m11", "m12"], "summary": "At length", "condition": unless}
    operate(agent, session_id, "digest", **first)
    Tools(agent, session_id)("set_active_tags", tags=["brief"])
    operate(agent, session_id, "digest", targets=["m12", "m13"], summary="In brief")
    aims = {"objectives": ["Ship it"]}
    operate(agent, session_id, "snip", targets=["m15"], condition=aims)
    agent.patch(
        f"/api/sessions/{session_id}",
        {"objective": "Ship it"},
        content_type="application/json",
    )
    document = get(agent, f"/api/sessions/{session_id}/transfer")
    there = post(agent, "/api/sessions/transfer", document, expect=201)["id"]
    assert said_in(agent, there) == said_in(agent, session_id)
    assert statuses(agent, there) == ["unmet", "applied", "applied"]
    wrong = document | {"active_tags": [["brief"]]}
    refused = post(agent, "/api/sessions/transfer", wrong, expect=422)
    assert refused["at"] == ["active_tags"]


def test_an_operation_that_is_set_aside_here_is_set_aside_elsewhere(
    agent: Client,
) -> None:
    session_id = make_session(agent, WORK)
    first = operate(agent, session_id, "digest", targets=["m11", "m12"], summary="A")
    toggle = f"/api/operations/{first['operation_id']}/toggle"
    post(agent, toggle, {"active": False})
    operate(agent, session_id, "digest", targets=["m12", "m13"], summary="B")
    post(agent, toggle, {"active": True})
    document = get(agent, f"/api/sessions/{session_id}/transfer")
    there = post(agent, "/api/sessions/transfer", document, expect=201)["id"]
    assert said_in(agent, there) == said_in(agent, session_id)
    assert statuses(agent, there) == ["applied", "conflict"]


def test_an_operation_that_does_not_fit_is_refused_at_its_place_in_the_document(
    agent: Client,
) -> None:
    session_id = make_session(agent, WORK)
    for index in (11, 12, 13):
        operate(agent, session_id, "snip", targets=[f"m{index}"])
    document = get(agent, f"/api/sessions/{session_id}/transfer")
    document["operations"][2]["payload"]["targets"] = ["m99999"]
    refused = post(agent, "/api/sessions/transfer", document, expect=422)
    assert refused["at"][:2] == ["operations", 2]
    assert [one["at"][1] for one in refused["errors"]] == [2]


def test_what_a_client_left_out_stays_out_elsewhere(agent: Client) -> None:
    session_id = make_session(agent, [])
    sent = [
        {"role": ("user", "assistant")[n % 2], "content": f"Words {n}"}
        for n in range(7)
    ]

    def apply(messages: list[dict[str, str]]) -> None:
        body = {"messages": messages, "append": True}
        post(agent, f"/api/sessions/{session_id}/apply", body)

    apply(sent)
    operate(agent, session_id, "digest", targets=["m2", "m3", "m4"], summary="D")
    apply([*sent[:4], {"role": "user", "content": "Said in place of the rest"}])
    document = get(agent, f"/api/sessions/{session_id}/transfer")
    there = post(agent, "/api/sessions/transfer", document, expect=201)["id"]
    assert said_in(agent, there) == said_in(agent, session_id)
    assert statuses(agent, there) == ["applied", "applied"]
