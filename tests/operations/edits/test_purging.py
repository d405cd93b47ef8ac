"""Removing a group for good: the words go everywhere, a tombstone stays (decision 12)."""

from pathlib import Path

import pytest
from django.test import Client

from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.models import AuditEntry, IdempotentResponse, Project, User
from tests.operations.support.rest import Tools, get, make_session, post
from tests.people import client_of
from threads.models import Body, Import, Rendering, Session, Source

SECRET = "the secret is in the harbour"
SAID = [
    {"role": "user", "content": "How are you?"},
    {"role": "assistant", "content": "Well."},
    {"role": "user", "content": SECRET},
    {"role": "assistant", "content": "I see."},
]
JSONL = "application/jsonl"
JSON = "application/json"
KEY = {"idempotency-key": "k"}


@pytest.fixture
def tools(agent: Client) -> Tools:
    return Tools(agent, make_session(agent, SAID))


@pytest.mark.django_db(transaction=True)
def test_the_words_go_and_a_tombstone_stays(tools: Tools, agent: Client) -> None:
    agent.get(f"/sessions/{tools.session_id}/")
    removed = tools("remove_group", group_id=2)
    assert (removed["status"], removed["purged"]) == ("purged", 2)
    (stone, _) = tools("show_group", group_id=2)["messages"]
    assert (stone["key"], stone["index"], stone["role"]) == ("m2", 2, "user")
    assert (stone["status"], stone["content"], stone["tokens"]) == ("purged", "", 0)
    assert not [body for body in Body.objects.all() if b"secret" in body.content]
    assert not Rendering.objects.filter(html__contains="secret")
    assert tools("search_session_history", query="secret")["total_matches"] == 0
    assert tools.thread()["tokens"]["original"] == tools.thread()["tokens"]["effective"]
    session = get(agent, f"/api/sessions/{tools.session_id}")
    assert session["tokens"] == tools.thread()["tokens"]["original"]
    assert [entry.action for entry in AuditEntry.objects.all()][-1] == "purge group 2"


@pytest.mark.django_db(transaction=True)
def test_no_page_shows_words_that_it_showed_before(tools: Tools, agent: Client) -> None:
    """What a page was drawn from is kept: its rows, and its outline."""
    page = f"/sessions/{tools.session_id}/"
    places = ("", "?view=effective", "?view=original", "outline")
    assert all(SECRET in agent.get(page + one).content.decode() for one in places)
    tools("remove_group", group_id=2)
    assert not [
        one for one in places if SECRET in agent.get(page + one).content.decode()
    ]
    tools("undo_operation", session_id=tools.session_id)
    assert not [
        one for one in places if SECRET in agent.get(page + one).content.decode()
    ]


@pytest.mark.django_db(transaction=True)
def test_a_fold_no_longer_says_what_it_leaves_out_of_words_that_are_gone(
    tools: Tools, agent: Client
) -> None:
    said = [{"role": "user", "content": "See src/secret.py"}]
    path = f"/api/sessions/{tools.session_id}/messages"
    post(agent, path, {"messages": said}, expect=201)
    tools("digest_messages", range=[4, 4], summary="A file.")
    page = f"/sessions/{tools.session_id}/"
    assert "secret.py" in agent.get(page).content.decode()
    tools("remove_group", group_id=3)
    assert "secret.py" not in agent.get(page).content.decode()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("said", "title"),
    [(SECRET, "[removed]"), (f"{SECRET}, {'as said ' * 20}", "[removed]…")],
)
def test_a_title_that_was_made_of_the_words_goes_too(
    agent: Client, said: str, title: str
) -> None:
    tools = Tools(agent, make_session(agent, [{"role": "user", "content": said}]))
    assert SECRET in get(agent, f"/api/sessions/{tools.session_id}")["title"]
    tools("remove_group", group_id=1)
    assert get(agent, f"/api/sessions/{tools.session_id}")["title"] == title
    assert SECRET not in agent.get("/sessions/").content.decode()


@pytest.mark.django_db(transaction=True)
def test_a_title_of_other_words_stays(tools: Tools, agent: Client) -> None:
    before = get(agent, f"/api/sessions/{tools.session_id}")["title"]
    tools("remove_group", group_id=2)
    assert get(agent, f"/api/sessions/{tools.session_id}")["title"] == before


@pytest.mark.django_db(transaction=True)
def test_what_undo_brings_back_is_the_tombstone(tools: Tools) -> None:
    tools("remove_group", group_id=2)
    tools("undo_operation", session_id=tools.session_id)
    assert tools.thread()["total"] == 4
    assert tools("show_group", group_id=2)["messages"][0]["content"] == ""
    again = tools("remove_group", group_id=2)
    assert again["head"] == 3  # nothing is left to destroy: no entry


@pytest.mark.django_db(transaction=True)
def test_another_session_that_says_the_same_keeps_its_words(
    tools: Tools, agent: Client
) -> None:
    other = Tools(agent, make_session(agent, SAID))
    tools("remove_group", group_id=2)
    assert other("show_group", group_id=2)["messages"][0]["content"] == SECRET
    later = Tools(agent, make_session(agent, SAID))
    assert later("show_group", group_id=2)["messages"][0]["content"] == SECRET


@pytest.mark.django_db(transaction=True)
def test_a_client_that_still_sends_the_words_is_known_again(tools: Tools) -> None:
    tools("remove_group", group_id=2)
    more = {"role": "user", "content": "And now?"}
    applied = tools.post("apply", {"messages": [*SAID, more]})
    assert [message["content"] for message in applied["messages"]] == [
        "How are you?",
        "Well.",
        "And now?",
    ]


@pytest.mark.django_db(transaction=True)
def test_the_file_that_held_the_words_goes_too(
    agent: Client, tmp_path: Path, data_folder: Path
) -> None:
    file = tmp_path / "chat.json"
    file.write_text(f'[{{"role": "user", "content": "{SECRET}"}}]')
    with file.open("rb") as opened:
        answer = agent.post("/api/sessions/import", {"file": opened})
    tools = Tools(agent, answer.json()["sessions"][0]["id"])
    kept = [path for path in (data_folder / "blobs").rglob("*") if path.is_file()]
    assert any(b"secret" in path.read_bytes() for path in kept)
    tools("remove_group", group_id=1)
    kept = [path for path in (data_folder / "blobs").rglob("*") if path.is_file()]
    assert not any(b"secret" in path.read_bytes() for path in kept)
    assert not Source.objects.exists()
    assert Import.objects.get().sha256 == ""


def test_it_needs_the_right_to_administer(
    agent: Client, editor: User, project: Project
) -> None:
    session_id = make_session(agent, SAID)
    client = client_of(editor, project, Right.READ, Right.EDIT, Right.PROPOSE)
    fields = {"session_id": session_id, "group_id": 2}
    refused = post(client, "/api/tools/remove_group", fields, expect=403)
    assert refused["code"] == "forbidden"
    assert Tools(agent, session_id).refused("remove_group", group_id=9)["at"] == [
        "group_id"
    ]


def test_answers_that_quote_the_words_go_too_and_a_repeat_has_no_effect(
    agent: Client,
) -> None:
    asked, key = {"messages": SAID[2:]}, {"idempotency-key": "make"}
    made = post(agent, "/api/sessions", asked, expect=201, **key)
    assert quoted(SECRET)
    Tools(agent, made["id"])("remove_group", group_id=1)
    assert not quoted(SECRET)
    repeat = post(agent, "/api/sessions", asked, expect=409, **key)
    assert (repeat["code"], repeat["at"]) == ("response_purged", ["Idempotency-Key"])
    assert Session.objects.count() == 1


def test_answers_about_a_session_go_with_it_and_those_in_another_project_stay(
    agent: Client, stranger: User
) -> None:
    elsewhere = client_of(stranger, Project.objects.get(slug="other"))
    post(elsewhere, "/api/sessions", {"title": "stays"}, expect=201, **KEY)
    made = post(agent, "/api/sessions", {"title": SECRET}, expect=201, **KEY)
    renamed = f"/api/sessions/{made['id']}"
    agent.patch(
        renamed, {"title": f"{SECRET}!"}, JSON, headers={"Idempotency-Key": "b"}
    )
    assert quoted(f"{SECRET}!")
    assert agent.delete(f"{renamed}?purge=1").status_code == 204
    assert not quoted(SECRET)
    assert quoted("stays")


def test_a_request_that_was_refused_may_be_sent_again_after_a_purge(
    agent: Client, tools: Tools
) -> None:
    refused = {"title": "A", "external_id": "taken"}
    post(agent, "/api/sessions", refused, expect=201)
    headers = {"Idempotency-Key": "again"}
    assert (
        agent.post("/api/sessions", refused, JSON, headers=headers).status_code == 409
    )
    tools("remove_group", group_id=2)
    again = agent.post("/api/sessions", refused, JSON, headers=headers)
    assert again.status_code == 409
    assert "Idempotent-Replayed" not in again


def quoted(words: str) -> bool:
    """Whether an answer that is kept for a repeat has these words."""
    kept = IdempotentResponse.objects.values_list("body", flat=True)
    return any(words.encode() in bytes(body) for body in kept)
