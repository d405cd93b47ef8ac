"""Memos across sessions and projects, and as a layer of the context."""

from html import unescape
from typing import Any

import pytest
from django.test import Client

from archive.memos import retrieve_memos
from archive.models import Memo
from contextstudio.accounts.models import Membership, Project, User
from operations.log.cache import forget_everything
from tests.operations.support.rest import Tools, context, make_session, operate, post
from tests.people import caller, client_of

UTC = "Moments are stored in UTC: the terminals' clocks differ."
ASKED = [{"role": "user", "content": "Why do the clocks differ?"}]


@pytest.fixture
def tools(agent: Client) -> Tools:
    return Tools(agent, make_session(agent, ASKED))


def found(tools: Tools, **wanted: Any) -> list[str]:
    return [memo["content"] for memo in tools("retrieve_memos", **wanted)["memos"]]


def layers(tools: Tools) -> dict[str, str]:
    shown = context(tools.client, tools.session_id)["layers"]
    return {layer["name"]: layer["text"] for layer in shown}


def test_document_2_a_memo_is_found_from_another_session_by_tag_and_by_words(
    tools: Tools,
) -> None:
    tools("save_memo", content=UTC, tags=["arch-decision", "time"])
    tools("save_memo", content="Seat holds end after 20 minutes.", tags=["gotcha"])
    other = Tools(tools.client, make_session(tools.client, 2))
    assert found(other, tags=["arch-decision"]) == [UTC]
    assert found(other, query="which clocks") == [UTC]
    assert found(other, tags=["gotcha"], query="clocks") == []
    assert len(found(other)) == 2


def test_a_memo_outlives_its_session(tools: Tools) -> None:
    made = tools("save_memo", content=UTC, tags=["time"])
    path = f"/api/sessions/{tools.session_id}?purge=1"
    assert tools.client.delete(path).status_code == 204
    other = Tools(tools.client, make_session(tools.client, 2))
    (memo,) = other("retrieve_memos", tags=["time"])["memos"]
    assert (memo["memo_id"], memo["session_id"]) == (made["memo_id"], None)


def test_document_2_at_most_5_memos_are_a_layer_once_the_session_uses_them(
    tools: Tools,
) -> None:
    other = Tools(tools.client, make_session(tools.client, 2))
    for number in range(7):
        other("save_memo", content=f"Clocks, {number}", tags=[])
    assert "memos" not in layers(tools)
    found(tools, tags=["nothing"])
    assert layers(tools)["memos"].splitlines()[2:] == [
        f"- Clocks, {number}" for number in (6, 5, 4, 3, 2)
    ]


def test_a_policy_brings_memos_that_matter_or_none(tools: Tools) -> None:
    other = Tools(tools.client, make_session(tools.client, 2))
    other("save_memo", content=UTC)
    path = f"/api/sessions/{tools.session_id}/policy"
    put = {"content_type": "application/json"}
    slop = {"policy": {"preset": "slop"}}
    assert tools.client.put(path, slop, **put).status_code == 200
    assert UTC in layers(tools)["memos"]
    none = {"policy": {"preset": "replay", "memos": "none"}}
    assert tools.client.put(path, none, **put).status_code == 200
    tools("save_memo", content=UTC)
    assert "memos" not in layers(tools)


def test_a_memo_of_another_project_stays_there(
    tools: Tools, stranger: User, owner: User
) -> None:
    other = Project.objects.get(slug="other")
    foreign = client_of(stranger, other)
    post(foreign, "/api/tools/save_memo", {"content": UTC, "tags": ["time"]})
    assert found(tools, tags=["time"]) == []
    refused = tools.refused("retrieve_memos", project="other")
    assert (refused["status"], refused["at"]) == (404, ["project"])


def test_the_memos_of_a_busy_project_hide_none_of_another(
    tools: Tools, owner: User
) -> None:
    tools("save_memo", content=UTC, tags=["time"])
    busy = Project.objects.create(slug="busy", name="Busy")
    Membership.objects.create(project=busy, user=owner, role="owner")
    of_late = {"project": busy, "actor": "user:1", "content": b"Of late"}
    Memo.objects.bulk_create(Memo(**of_late) for _ in range(2_000))
    notes = retrieve_memos(caller(owner), tags=["time"])
    assert [note.content for note in notes] == [UTC]
    newest = [note.content for note in retrieve_memos(caller(owner))]
    assert newest == ["Of late"] * 20


def test_a_memo_is_saved_where_it_is_said(tools: Tools, agent: Client) -> None:
    save = "/api/tools/save_memo"
    made = post(agent, save, {"content": UTC, "project": "demo"})
    assert made["project"] == "demo"
    assert tools.refused("save_memo", content=" ")["at"] == ["content"]
    refused = tools.refused("save_memo", content=UTC, project="elsewhere")
    assert refused["at"] == ["project"]
    assert tools("save_memo", content=UTC, project="demo")["project"] == "demo"


def test_who_has_several_projects_says_which(
    owner: User, project: Project, client: Client
) -> None:
    client.force_login(owner)
    second = Project.objects.create(slug="second", name="Second")
    Membership.objects.create(project=second, user=owner, role="owner")
    refused = post(client, "/api/tools/save_memo", {"content": UTC}, expect=422)
    assert refused["at"] == ["project"]


def test_what_is_redacted_in_a_session_is_masked_in_its_memos(tools: Tools) -> None:
    tools("save_memo", content="They say: Why do the clocks differ?", tags=["said"])
    patterns = [{"start": "clocks"}]
    operate(tools.client, tools.session_id, "redact", patterns=patterns)
    assert found(tools, tags=["said"]) == ["They say: Why do the [redacted] differ?"]


@pytest.mark.parametrize("destroyed", ["message", "session"])
def test_what_is_masked_in_memos_stays_so_when_the_text_is_destroyed(
    tools: Tools, destroyed: str
) -> None:
    """After that nothing tells any more what a redaction masked in them."""
    tools("save_memo", content="They say: Why do the clocks differ?", tags=["said"])
    patterns = [{"start": "clocks"}]
    operate(tools.client, tools.session_id, "redact", patterns=patterns)
    if destroyed == "message":
        tools("remove_group", group_id=1)
    else:
        path = f"/api/sessions/{tools.session_id}?purge=1"
        assert tools.client.delete(path).status_code == 204
    forget_everything()
    other = Tools(tools.client, make_session(tools.client, 2))
    assert found(other, tags=["said"]) == ["They say: Why do the [redacted] differ?"]


def test_a_memo_is_corrected_superseded_and_deleted(tools: Tools) -> None:
    first = tools("save_memo", content="Clocks are right.", tags=["gotcha"])["memo_id"]
    tools("update_memo", memo_id=first, content="Clocks are wrong.")
    tools("update_memo", memo_id=first, tags=["time"])
    (memo,) = tools("retrieve_memos", tags=["time"])["memos"]
    assert (memo["memo_id"], memo["content"]) == (first, "Clocks are wrong.")
    assert memo["changed_at"]
    second = tools("save_memo", content="Clocks are set hourly.", supersedes=first)
    assert found(tools) == ["Clocks are set hourly."]
    tools("delete_memo", memo_id=second["memo_id"])
    assert found(tools) == []
    gone = tools.refused("update_memo", memo_id=second["memo_id"], tags=[])
    assert (gone["status"], gone["at"]) == (404, ["memo_id"])
    for wrong in ({}, {"content": " "}):
        refused = tools.refused("update_memo", memo_id=first, **wrong)
        assert refused["at"] == ["content"]


def test_a_memo_that_is_superseded_is_changed_no_more(tools: Tools) -> None:
    first = tools("save_memo", content="Clocks are right.")["memo_id"]
    second = tools("save_memo", content="They are wrong.", supersedes=first)["memo_id"]
    words = {"content": "They are slow."}
    for refused in (
        tools.refused("update_memo", memo_id=first, **words),
        tools.refused("save_memo", supersedes=first, **words),
    ):
        assert (refused["status"], refused["code"]) == (409, "superseded")
        assert refused["superseded_by"] == second
        assert second in refused["detail"]
    assert found(tools) == ["They are wrong."]


def test_a_memo_whose_successor_was_deleted_names_none_to_change(tools: Tools) -> None:
    first = tools("save_memo", content="Clocks are right.")["memo_id"]
    second = tools("save_memo", content="They are wrong.", supersedes=first)["memo_id"]
    tools("delete_memo", memo_id=second)
    words = {"content": "They are slow."}
    for refused in (
        tools.refused("update_memo", memo_id=first, **words),
        tools.refused("save_memo", supersedes=first, **words),
    ):
        assert (refused["status"], refused["code"]) == (409, "superseded")
        assert "superseded_by" not in refused
        assert "was deleted" in refused["detail"]
    tools("save_memo", **words)
    assert found(tools) == ["They are slow."]


def test_a_memo_supersedes_one_of_its_project_alone(
    tools: Tools, owner: User, stranger: User
) -> None:
    other = Project.objects.get(slug="other")
    Membership.objects.create(project=other, user=owner, role="owner")
    theirs = client_of(owner, other)
    body = {"content": "Theirs."}
    made = post(theirs, "/api/tools/save_memo", body)
    both = Client()
    both.force_login(owner)
    body = {"content": "Ours.", "project": "demo", "supersedes": made["memo_id"]}
    refused = tools.refused("save_memo", content="x", supersedes=made["memo_id"])
    assert (refused["status"], refused["at"]) == (404, ["supersedes"])
    answer = both.post("/api/tools/save_memo", body, "application/json")
    assert answer.status_code in (403, 422)
    assert len(post(theirs, "/api/tools/retrieve_memos", {})["memos"]) == 1


def test_people_change_and_delete_memos_on_the_page(
    tools: Tools, editor: User, viewer: User
) -> None:
    memo_id = tools("save_memo", content="Clocks are right.")["memo_id"]
    page = f"/sessions/{tools.session_id}/memos"
    person, reader = Client(), Client()
    person.force_login(editor)
    reader.force_login(viewer)
    assert f"{page}/{memo_id}" in person.get(page).content.decode()
    assert f"{page}/{memo_id}" not in reader.get(page).content.decode()
    fields = {"content": "Clocks are wrong.", "tags": "time"}
    assert (
        person.post(f"{page}/{memo_id}", {**fields, "content": ""}).status_code == 422
    )
    assert reader.post(f"{page}/{memo_id}", fields).status_code == 403
    assert person.post(f"{page}/{memo_id}", fields).status_code == 302
    assert found(tools) == ["Clocks are wrong."]
    assert person.post(f"{page}/{memo_id}", {"action": "delete"}).status_code == 302
    assert found(tools) == []


def test_what_is_injected_says_why_in_a_context_an_answer_of_apply_and_on_pages(
    tools: Tools, editor: User
) -> None:
    browser = Client()
    browser.force_login(editor)
    path = f"/sessions/{tools.session_id}"

    def page(name: str) -> str:
        return browser.get(f"{path}/{name}").content.decode()

    assert "once the session has saved or retrieved one" in page("memos")
    made = tools("save_memo", content=UTC, tags=["time"])
    (injected,) = context(tools.client, tools.session_id)["injected"]
    assert (injected["id"], injected["text"]) == (made["memo_id"], UTC)
    assert injected["why"].startswith('Shares "')
    assert injected["why"].endswith("with the last question.")
    said = [*ASKED, {"role": "user", "content": "And what of clocks?"}]
    for _ in range(2):
        answer = tools.post("apply", {"messages": said, "append": False})
        assert [one["id"] for one in answer["injected"]] == [made["memo_id"]]
        assert '"clocks"' in answer["injected"][0]["why"]
    for name in ("memos", "context"):
        shown = page(name)
        assert injected["why"] in unescape(shown)
        assert f"#memo-{made['memo_id']}" in shown
    assert "Sent with the next request" in page("memos")
    tools("save_memo", content="Nothing of it", supersedes=made["memo_id"])
    for policy, why in (
        ({"preset": "slop"}, "shares a word"),
        ({"preset": "replay", "memos": "none"}, "never sends memos"),
    ):
        tools.client.put(
            f"/api/sessions/{tools.session_id}/policy",
            {"policy": policy},
            content_type="application/json",
        )
        assert why in page("memos")
