"""What a client gives beside the words of its messages is kept, and answered."""

from typing import Any

from django.test import Client

from tests.operations.support.rest import get, make_session, operate, post, said, thread
from threads.models import Session

AT = "2026-03-01T09:30:05+00:00"
USAGE = {"input_tokens": 90, "output_tokens": 7, "cached_tokens": 80}
OPENAI = {
    "prompt_tokens": 5,
    "completion_tokens": 6,
    "prompt_tokens_details": {"cached_tokens": 4},
}


def given() -> list[dict[str, Any]]:
    first, second, third = said(3)
    return [
        {**first, "created_at": AT, "tags": ["plan", "long"]},
        {**second, "usage": USAGE, "tags": ["plan", "long"]},
        {**third, "usage": OPENAI, "tags": []},
    ]


def check(items: list[dict[str, Any]]) -> None:
    first, second, third = items
    assert first["created_at"] == AT
    assert sorted(first["tags"]) == sorted(second["tags"]) == ["long", "plan"]
    assert (second["usage"], second["weight"]) == (USAGE, 97)
    assert third["usage"] == {
        "input_tokens": 5,
        "output_tokens": 6,
        "cached_tokens": 4,
    }
    assert (first["usage"], third["tags"]) == (None, [])


def test_what_is_given_with_messages_is_kept_and_answered(agent: Client) -> None:
    made = post(
        agent, "/api/sessions", {"system": "Be brief.", "messages": given()}, expect=201
    )
    path = f"/api/sessions/{made['id']}"
    assert made["head"] == 1  # one edit for all with the same tags
    post(agent, f"{path}/messages", {"messages": given()}, expect=201)
    items = get(agent, f"{path}/messages")["items"]
    check(items[1:4])
    check(items[4:])
    for view in ("original", "effective", "annotated"):
        shown = thread(agent, made["id"], view=view)["nodes"]
        assert shown[4]["created_at"] == AT
        assert shown[2]["usage"] == USAGE
    # What was answered can be given again.
    again = make_session(agent, items[1:4])
    check(get(agent, f"/api/sessions/{again}/messages")["items"])


def test_tags_that_are_none_are_refused_with_their_place(agent: Client) -> None:
    for wrong, at in (
        ("plan", ["messages", 1, "tags"]),
        (["ok", ""], ["messages", 1, "tags", 1]),
        ([7], ["messages", 1, "tags", 0]),
    ):
        messages = [said(1)[0], {**said(2)[1], "tags": wrong}]
        refused = post(agent, "/api/sessions", {"messages": messages}, expect=422)
        assert refused["at"] == at
    assert not Session.objects.exists()


def test_inserted_messages_show_their_tags_in_the_effective_view(agent: Client) -> None:
    session = make_session(agent, 2)
    operate(agent, session, "insert", after_idx=0, messages=said(1))
    operate(agent, session, "tag", targets=["o1.0", "m1"], tags=["aside"])
    shown = thread(agent, session, view="effective")["nodes"]
    assert [node["tags"] for node in shown] == [[], ["aside"], ["aside"]]


def test_the_model_of_a_request_is_kept_on_the_session(agent: Client) -> None:
    session = make_session(agent, 2, model="gpt-4")
    path = f"/api/sessions/{session}"
    body = {"messages": said(3), "model": "claude-sonnet-4-5"}
    post(agent, f"{path}/apply", {**body, "append": False})
    assert get(agent, path)["model"] == "gpt-4"
    post(agent, f"{path}/apply", body)
    assert get(agent, path)["model"] == "claude-sonnet-4-5"
    post(agent, f"{path}/apply", {"messages": said(3)})
    assert get(agent, path)["model"] == "claude-sonnet-4-5"


def test_an_unmet_operation_names_what_is_unmet(agent: Client) -> None:
    session = make_session(agent, 3)
    condition = {"tags": ["lean", "late"], "objectives": ["ship"]}
    operate(agent, session, "snip", range=[1, 1], condition=condition)
    found = thread(agent, session, active_tags="late")["operations"]
    assert found[0]["status"] == "unmet"
    assert found[0]["reason"] == 'Not active: lean, objective "ship".'
