"""The archive: what is kept, who finds it, and what takes it away again."""

import json
from datetime import timedelta
from threading import Event, Thread
from typing import Any

import pytest
from django.db import connection
from django.db.transaction import atomic
from django.test import Client
from django.utils import timezone

from archive.entries import services
from archive.entries.finding import ArchiveQuery, facets_of, list_entries
from archive.entries.selectors import Readable
from archive.entries.store import PackedEntry, forget, parts_of
from archive.models import ArchivedContent, ArchiveEntry
from contextstudio.accounts.domain.rights import ProjectRole
from contextstudio.accounts.models import Membership, Project, User
from tests.archive.pruning.conftest import FILE, WORK
from tests.operations.support.rest import (
    Tools,
    effective,
    get,
    make_session,
    operate,
    post,
)
from tests.people import caller, client_of
from threads.domain.part import Text
from threads.models import Session


@pytest.fixture
def tools(agent: Client) -> Tools:
    made = Tools(agent, make_session(agent, WORK))
    post(agent, f"/api/sessions/{made.session_id}/prune")
    return made


@pytest.mark.parametrize("odd", ["\0", "\ud800"])
def test_what_a_tool_with_a_name_that_no_database_takes_said_is_archived(
    agent: Client, odd: str
) -> None:
    call = {"type": "tool_use", "id": "1", "name": f"Re{odd}ad"}
    call |= {"input": {"file_path": f"src/{odd}.py"}}
    result = {"type": "tool_result", "tool_use_id": "1", "content": FILE}
    said = [
        {"role": "user", "content": "Go on"},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [result]},
        *({"role": "assistant", "content": "Well"} for _ in range(10)),
    ]
    session_id = make_session(agent, json.loads(json.dumps(said)))
    assert post(agent, f"/api/sessions/{session_id}/prune")["condensed"] == 1
    (entry,) = listed(agent, session=session_id)
    assert listed(agent, session=session_id, tool=entry["tool_name"]) == [entry]
    assert listed(agent, tool="\0", project="\0") == []


def listed(client: Client, **query: Any) -> list[dict[str, Any]]:
    answer = client.get("/api/archive", query)
    assert answer.status_code == 200, answer.content
    found: list[dict[str, Any]] = answer.json()["items"]
    return found


def test_the_archive_is_listed_by_type_tool_path_and_time(tools: Tools) -> None:
    (view,) = listed(tools.client, type="file_view")
    assert view["file_paths"] == ["src/parser.py"]
    assert (view["tool_name"], view["message"], view["rule"]) == (
        *("Read", "m2", "superseded"),
    )
    assert view["token_count"] > 500
    assert [one["message"] for one in listed(tools.client, tool="Bash")] == ["m8"]
    assert {one["message"] for one in listed(tools.client, path="SRC/parser.py")} == {
        *("m1", "m2", "m6")
    }
    assert [one["message"] for one in listed(tools.client, q="VALUE_7")] == ["m4"]
    hour = (timezone.now() - timedelta(hours=1)).isoformat()
    assert len(listed(tools.client, since=hour)) == 6
    assert listed(tools.client, until=hour) == []
    assert listed(tools.client, session=tools.session_id, project="demo")
    assert len(listed(tools.client, limit=4)) == 4


def test_a_type_that_there_is_not_is_refused_with_those_that_there_are(
    tools: Tools,
) -> None:
    refused = get(tools.client, "/api/archive?type=file", expect=422)
    assert refused["at"][-1] == "type"
    assert "file_view" in refused["detail"]
    assert get(tools.client, "/api/archive?type=")["items"]


def test_a_list_goes_on_from_its_cursor(tools: Tools) -> None:
    first = get(tools.client, "/api/archive", limit=4)
    rest = get(tools.client, "/api/archive", limit=4, cursor=first["next_cursor"])
    refs = [one["ref_id"] for one in (*first["items"], *rest["items"])]
    assert len(set(refs)) == 6
    assert rest["next_cursor"] is None


def test_a_message_with_several_results_is_recalled_with_the_paths_of_all(
    agent: Client,
) -> None:
    files = {"1": "src/a.py", "2": "src/b.py"}
    calls = [
        {"type": "tool_use", "id": it, "name": "Read", "input": {"file_path": path}}
        for it, path in files.items()
    ]
    results = [
        {"type": "tool_result", "tool_use_id": it, "content": FILE} for it in files
    ]
    said = [
        {"role": "user", "content": "Go on"},
        {"role": "assistant", "content": calls},
        {"role": "user", "content": results},
        *({"role": "assistant", "content": "Well"} for _ in range(10)),
    ]
    session_id = make_session(agent, said)
    post(agent, f"/api/sessions/{session_id}/prune")
    reference, _, _ = listed(agent)[0]["ref_id"].rpartition(":")
    recalled = Tools(agent, session_id)("recall", ref_id=reference)
    assert recalled["file_paths"] == ["src/a.py", "src/b.py"]


def test_entries_of_several_projects_are_listed_in_one_order(
    tools: Tools, owner: User
) -> None:
    other = Project.objects.create(slug="second", name="Second")
    Membership.objects.create(project=other, user=owner, role=ProjectRole.OWNER)
    for client in (client_of(owner, other), tools.client):
        session_id = make_session(client, WORK)
        post(client, f"/api/sessions/{session_id}/prune")
    found: list[Readable] = []
    cursor = None
    while cursor or not found:
        page = list_entries(caller(owner), ArchiveQuery(), cursor=cursor, limit=4)
        found += page.items
        cursor = page.next_cursor
    expected = ArchiveEntry.objects.order_by("-archived_at", "-id")
    assert [one.entry for one in found] == list(expected)
    assert len({one.entry.project_id for one in found}) == 2
    assert facets_of(caller(owner), ArchiveQuery(project="second")) == {
        "type": ["bash", "edit", "file_view", "grep", "other"],
        "tool": ["Bash", "Edit", "Grep", "Read"],
    }


def test_an_entry_is_read_by_lines_search_and_tokens(tools: Tools) -> None:
    (view,) = listed(tools.client, type="file_view")
    path = f"/api/archive/{view['ref_id']}"
    assert get(tools.client, path, max_tokens=9000)["content"] == FILE
    assert get(tools.client, path, lines="2-3")["content"] == "\n".join(
        FILE.splitlines()[1:3]
    )
    assert get(tools.client, path, search="value_79")["content"] == "79: value_79 = 79"
    cut = get(tools.client, path, max_tokens=20)
    assert cut["truncated"]
    rest = get(tools.client, path, max_tokens=9000, cursor=cut["next_cursor"])
    assert cut["content"] + rest["content"] == FILE
    get(tools.client, path, max_tokens=0, expect=422)
    get(tools.client, path, cursor="eA", expect=422)


def test_a_recall_is_counted_and_told_by_rule(tools: Tools) -> None:
    (view,) = listed(tools.client, type="file_view")
    tools("recall", ref_id=view["ref_id"])
    tools("recall", ref_id=view["ref_id"], lines="1-2")
    (again,) = listed(tools.client, type="file_view")
    assert again["access_count"] == 2
    assert again["last_accessed_at"] is not None
    rules = get(tools.client, f"/api/sessions/{tools.session_id}/rules")
    told = {one["rule"]: one for one in rules["regret"]}
    assert told["superseded"]["recalled"] == 1
    assert told["superseded"]["recalls"] == 2
    assert told["result"]["recalled"] == 0


def test_a_recall_tells_of_each_of_many_results_and_counts_it(agent: Client) -> None:
    calls = [
        {
            "type": "tool_use",
            "id": f"c{n}",
            "name": "Read",
            "input": {"path": f"{n}.py"},
        }
        for n in range(30)
    ]
    results = [
        {"type": "tool_result", "tool_use_id": one["id"], "content": "word " * 300}
        for one in calls
    ]
    said = [
        {"role": "assistant", "content": calls},
        {"role": "user", "content": results},
        *({"role": "user", "content": "Go on."} for _ in range(10)),
    ]
    body = {"parsing_strategy": "anthropic", "messages": said}
    session_id = post(agent, "/api/sessions", body, expect=201)["id"]
    post(agent, f"/api/sessions/{session_id}/prune")
    entries = {one["location"]: one for one in listed(agent, limit=100)}
    assert len(entries) == 30
    for location in ("tool-1", "tool-9", "tool-30"):
        entry = entries[location]
        read = get(agent, f"/api/archive/{entry['ref_id']}")
        told = [read[name] for name in ("content_type", "summary", "file_paths")]
        assert told == [
            entry[name] for name in ("content_type", "summary", "file_paths")
        ]
    recalled = {
        one["location"] for one in listed(agent, limit=100) if one["access_count"]
    }
    assert recalled == {"tool-1", "tool-9", "tool-30"}


def test_a_stranger_finds_nothing(tools: Tools, stranger: User) -> None:
    client = client_of(stranger, Project.objects.get(slug="other"))
    (view,) = listed(tools.client, type="file_view")
    assert listed(client) == []
    assert listed(client, project="demo") == []
    assert listed(client, session=tools.session_id) == []
    refused = get(client, f"/api/archive/{view['ref_id']}", expect=404)
    missing = get(client, "/api/archive/nexora://demo/00000000/m1", expect=404)
    assert refused["code"] == missing["code"]


def test_messages_are_archived_by_hand(tools: Tools) -> None:
    body = {"session_id": tools.session_id, "start": 0, "end": 1}
    made = post(tools.client, "/api/archive", body, expect=201)["items"]
    assert [(one["message"], one["rule"]) for one in made] == [("m0", ""), ("m1", "")]
    assert effective(tools.client, tools.session_id)[0]["content"] == WORK[0]["content"]
    targets = {"session_id": tools.session_id, "targets": ["m3"]}
    (one,) = post(tools.client, "/api/archive", targets, expect=201)["items"]
    assert (one["content_type"], one["tool_name"]) == ("grep", "Grep")
    post(tools.client, "/api/archive", {"session_id": tools.session_id}, expect=422)


@pytest.mark.parametrize(
    ("fields", "at"),
    [
        ({"targets": ["m3", "m99"]}, ["targets", 1]),
        ({"targets": ["o1"]}, ["targets", 0]),
        ({"targets": ["m3"], "start": 0, "end": 1}, ["targets"]),
        ({"start": 0}, ["start"]),
        ({"start": 5, "end": 3}, ["end"]),
        ({"start": 0, "end": 99}, ["end"]),
    ],
)
def test_what_names_no_messages_is_refused_and_nothing_is_archived(
    tools: Tools, fields: dict[str, Any], at: list[Any]
) -> None:
    before = ArchiveEntry.objects.count()
    body = {"session_id": tools.session_id, **fields}
    refused = post(tools.client, "/api/archive", body, expect=422)
    assert refused["at"] == at
    assert ArchiveEntry.objects.count() == before


def test_document_1_content_is_stored_once_and_compressed(tools: Tools) -> None:
    other = Tools(tools.client, make_session(tools.client, WORK))
    before = ArchivedContent.objects.count()
    post(tools.client, f"/api/sessions/{other.session_id}/prune")
    assert ArchivedContent.objects.count() == before
    entries = ArchiveEntry.objects.select_related("content").filter(name__gt="")
    assert entries.count() == 12
    (view, *_) = entries.filter(content_type="file_view")
    assert len(bytes(view.content.content)) < len(FILE) / 2


def test_a_redaction_masks_the_archive_too(tools: Tools) -> None:
    pattern = {"start": "value_77 = 77", "all": True}
    given = {"patterns": [pattern], "include_folded": True}
    operate(tools.client, tools.session_id, "redact", **given)
    secret = {"patterns": [{"start": "test_parser", "all": True}]}
    operate(tools.client, tools.session_id, "redact", include_folded=True, **secret)
    (view,) = listed(tools.client, type="file_view")
    read = tools("recall", ref_id=view["ref_id"], max_tokens=9000)
    assert "value_77 = 77" not in read["content"]
    assert "value_76 = 76" in read["content"]
    assert listed(tools.client, q="test_parser") == []
    (command,) = listed(tools.client, tool="Bash")
    assert "test_parser" not in str(command)


def test_what_is_purged_is_gone_from_the_archive(tools: Tools, owner: User) -> None:
    (view,) = listed(tools.client, type="file_view")
    tools("remove_group", group_id=1)
    assert listed(tools.client, type="file_view") == []
    assert listed(tools.client, q="parser") == []
    read = tools("recall", ref_id=view["ref_id"])
    assert (read["content"], read["purged"]) == ("", True)
    for ref in (f"{view['ref_id']}:L2-3", view["message"]):
        assert tools("recall", ref_id=ref, lines="2-3")["purged"]
    assert get(tools.client, f"/api/archive/{view['ref_id']}")["purged"]
    browser = Client()
    browser.force_login(owner)
    page = browser.get(
        f"/sessions/{tools.session_id}/recall",
        {"ref": view["ref_id"]},
        headers={"HX-Request": "true"},
    )
    assert "nothing of it is left" in page.content.decode()
    assert not ArchivedContent.objects.exists()


def test_an_erased_session_takes_its_archive_along(tools: Tools) -> None:
    tools.client.delete(f"/api/sessions/{tools.session_id}?purge=1")
    assert not ArchiveEntry.objects.exists()
    assert not ArchivedContent.objects.exists()


def test_the_page_has_facets_pages_and_refusals(tools: Tools, editor: User) -> None:
    browser = Client()
    browser.force_login(editor)
    path = f"/sessions/{tools.session_id}/archive"
    page = browser.get(path, {"scope": "project", "time": "hour", "q": "parser"})
    assert "All entries" in page.content.decode()
    assert "src/<wbr>parser.<wbr>py" in page.content.decode()
    none = browser.get(path, {"q": "nowhere"}).content.decode()
    assert "No matching entries." in none
    missing = browser.get(path, {"ref": "msg-00000000"}).content.decode()
    assert "Reference not found: msg-00000000" in missing
    link = browser.get(f"/sessions/{tools.session_id}/recall", {"ref": "m2"})
    assert link["Location"] == f"{path}?ref=m2#reading"
    unfolded = browser.get(
        f"/sessions/{tools.session_id}/recall",
        {"ref": "m999"},
        headers={"HX-Request": "true"},
    )
    assert "Reference not found" in unfolded.content.decode()


def test_what_may_not_be_read_is_not_inserted(
    tools: Tools, agent: Client, editor: User
) -> None:
    browser = Client()
    browser.force_login(editor)
    path = f"/sessions/{tools.session_id}/archive/insert"
    assert browser.post(path, {"ref": "nexora://other/abc12345/m1"}).status_code == 404
    empty = make_session(agent, [])
    reference = f"nexora://demo/{tools.session_id[:8]}/m0"
    browser.post(f"/sessions/{empty}/archive/insert", {"ref": reference})
    (only,) = effective(agent, empty)
    assert only["content"].startswith("From the archive, [recall:nexora://demo/")
    assert only["content"].endswith(WORK[0]["content"])


def test_what_is_destroyed_while_it_is_being_archived_is_not_kept(
    agent: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    session_id = make_session(agent, [{"role": "user", "content": "to be destroyed"}])
    packs = services.pack

    def overtaken(*given: Any) -> list[PackedEntry]:
        packed = packs(*given)
        monkeypatch.setattr(services, "pack", packs)
        body = {"session_id": session_id, "group_id": 1}
        post(agent, "/api/tools/remove_group", body)
        return packed

    monkeypatch.setattr(services, "pack", overtaken)
    post(
        agent, "/api/archive", {"session_id": session_id, "targets": ["m0"]}, expect=201
    )
    kept = [parts_of(entry) for entry in ArchiveEntry.objects.all()]
    assert "destroyed" not in str(kept)


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_what_two_sessions_keep_stays_where_one_of_them_lets_go_of_it(
    agent: Client,
) -> None:
    said = [{"role": "user", "content": "The same words."}]
    one, other = (make_session(agent, said) for _ in range(2))
    body = {"session_id": one, "targets": ["m0"]}
    post(agent, "/api/archive", body, expect=201)
    begun, over = Event(), Event()

    def archive() -> None:
        with atomic():
            post(agent, "/api/archive", {**body, "session_id": other}, expect=201)
            begun.set()
            over.wait(10)
        connection.close()

    keeping = Thread(target=archive)
    keeping.start()
    assert begun.wait(10)
    with atomic():
        forget(Session.objects.get(pk=one), [0])
    over.set()
    keeping.join()
    (kept,) = ArchiveEntry.objects.exclude(content=None)
    assert (str(kept.session_id), parts_of(kept)) == (other, (Text("The same words."),))


def test_a_time_without_a_zone_is_refused_with_its_place(tools: Tools) -> None:
    for name in ("since", "until"):
        refused = tools.client.get(f"/api/archive?{name}=2026-11-23")
        assert (refused.status_code, refused.json()["at"]) == (422, [name])
