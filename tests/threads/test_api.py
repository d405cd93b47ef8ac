"""Sessions, imports, messages and blobs through REST (DESIGN 6)."""

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from contextstudio.accounts.domain.rights import Right, Role
from contextstudio.accounts.jobs import queue, runner
from contextstudio.accounts.models import AuditEntry, Membership, Project, User
from tests.operations.rest import get, make_session, operate, post, said
from tests.people import key_of
from threads import imports
from threads.models import Session

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9"
    "awAAAABJRU5ErkJggg=="
)
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
CHAT = json.dumps(said(3)).encode()


def image(data: bytes, media_type: str) -> dict[str, Any]:
    encoded = base64.b64encode(data).decode()
    url = {"url": f"data:{media_type};base64,{encoded}"}
    return {"type": "image_url", "image_url": url}


def with_image(data: bytes = PNG, media_type: str = "image/png") -> dict[str, Any]:
    text = {"type": "text", "text": "Look:"}
    return {"role": "user", "content": [text, image(data, media_type)]}


def upload(
    client: Client, data: bytes, *, name: str = "chat.json", **fields: str
) -> Any:
    file = SimpleUploadedFile(name, data)
    return client.post("/api/sessions/import", {"file": file, **fields})


def client_of(user: User, project: Project, *scopes: Right) -> Client:
    key = key_of(user, project, *scopes)
    return Client(headers={"Authorization": f"Bearer {key}"})


# Sessions


def test_a_session_is_made_with_its_system_prompt_as_original_0(agent: Client) -> None:
    made = post(
        agent,
        "/api/sessions",
        {
            "title": " Two\nlines\x00 ",
            "project": "demo",
            "external_id": "run-1",
            "parsing_strategy": "anthropic",
            "model": "gpt-4o",
            "system": "Be brief.",
            "messages": said(2),
        },
        expect=201,
    )
    assert (made["title"], made["project"]) == ("Two lines", "demo")
    assert (made["message_count"], made["head"]) == (3, 0)
    assert (made["external_id"], made["model"]) == ("run-1", "gpt-4o")
    items = get(agent, f"/api/sessions/{made['id']}/messages")["items"]
    assert [(item["role"], item["content"]) for item in items][:2] == [
        ("system", "Be brief."),
        ("user", "message 0"),
    ]
    assert {item["parsing_strategy"] for item in items} == {"anthropic"}
    assert get(agent, f"/api/sessions/{made['id']}") == made


def test_a_session_needs_nothing_and_is_named_by_its_first_question(
    agent: Client,
) -> None:
    empty = post(agent, "/api/sessions", {}, expect=201)
    assert (empty["title"], empty["message_count"]) == ("Untitled session", 0)
    asked = post(agent, "/api/sessions", {"messages": said(1)}, expect=201)
    assert asked["title"] == "message 0"


@pytest.mark.parametrize(
    ("body", "at"),
    [
        ({"colour": "red"}, ["colour"]),
        ({"external_id": ""}, ["external_id"]),
        ({"external_id": "a\x00"}, ["external_id"]),
        ({"model": "\ud800"}, ["model"]),
        ({"model": "a\x00"}, ["model"]),
        ({"parsing_strategy": "other"}, ["parsing_strategy"]),
        ({"messages": [{"role": "user"}, {"content": "x"}]}, ["messages", 1, "role"]),
        ({"messages": [{"role": "user", "content": 5}]}, ["messages", 0, "content"]),
        ({"messages": "hello"}, ["messages"]),
        ([], []),
    ],
)
def test_a_session_that_is_malformed_is_refused_at_the_place(
    agent: Client, body: Any, at: list[Any]
) -> None:
    refused = post(agent, "/api/sessions", body, expect=422)
    assert refused["errors"][0]["at"] == refused["at"] == at
    assert not Session.objects.exists()


@pytest.mark.parametrize("slug", ["other", "de mo", "\x00", "é"])
def test_a_project_that_is_not_the_callers_is_not_there(
    agent: Client, stranger: User, slug: str
) -> None:
    refused = post(agent, "/api/sessions", {"project": slug}, expect=404)
    assert refused["at"] == ["project"]
    get(agent, "/api/sessions", project=slug, expect=404)


def test_one_who_edits_in_two_projects_names_the_one(
    client: Client, owner: User, stranger: User
) -> None:
    other = Project.objects.get(slug="other")
    Membership.objects.create(project=other, user=owner, role=Role.EDITOR)
    client.force_login(owner)
    assert post(client, "/api/sessions", expect=422)["at"] == ["project"]
    made = post(client, "/api/sessions", {"project": "other"}, expect=201)
    answer = upload(client, CHAT, session=made["id"])
    assert answer.status_code == 200, answer.content
    assert get(client, f"/api/sessions/{made['id']}")["message_count"] == 3


def test_an_external_id_names_one_session_of_a_project(agent: Client) -> None:
    made = post(agent, "/api/sessions", {"external_id": "run-1"}, expect=201)
    refused = post(agent, "/api/sessions", {"external_id": "run-1"}, expect=409)
    assert refused["at"] == ["external_id"]
    assert agent.delete(f"/api/sessions/{made['id']}").status_code == 204
    post(agent, "/api/sessions", {"external_id": "run-1"}, expect=201)


def test_sessions_are_listed_newest_change_first_in_pages(agent: Client) -> None:
    ids = [make_session(agent, 1, title=f"Session {n}") for n in range(5)]
    operate(agent, ids[0], "tag", range=[0, 0], tags=["x"])
    expected, found, cursor = [ids[0], *ids[:0:-1]], [], None
    while cursor is not None or not found:
        query = {"limit": 2} | ({"cursor": cursor} if cursor else {})
        page = get(agent, "/api/sessions", **query)
        found += [session["id"] for session in page["items"]]
        cursor = page["next_cursor"]
    assert found == expected
    assert len(get(agent, "/api/sessions", limit=0)["items"]) == 1
    (one,) = get(agent, "/api/sessions", q="SESSION 3\x00")["items"]
    assert one["id"] == ids[3]
    assert get(agent, "/api/sessions", project="demo", q="nothing")["items"] == []


@pytest.mark.parametrize(
    "position",
    [["2026-01-01T00:00:00", "x"], ["2026-01-01", 5], [1, 2], ["0001-01-01", "x"]],
)
def test_a_forged_cursor_is_refused(agent: Client, position: list[Any]) -> None:
    cursor = base64.urlsafe_b64encode(json.dumps(position).encode()).decode()
    refused = get(agent, "/api/sessions", cursor=cursor, expect=422)
    assert refused["at"] == ["cursor"]


def test_a_session_is_renamed_and_given_an_objective(agent: Client) -> None:
    path = f"/api/sessions/{make_session(agent, 1)}"

    def patch(body: dict[str, Any]) -> Any:
        return agent.patch(path, body, "application/json").json()

    changed = patch({"title": " New ", "objective": "ship\x00 it", "model": "o3"})
    assert (changed["title"], changed["objective"]) == ("New", "ship it")
    assert patch({"title": ""})["title"] == "Untitled session"
    assert patch({})["model"] == "o3"
    assert patch({"head": 7})["at"] == ["head"]


def test_a_deleted_session_is_gone_for_every_door(agent: Client) -> None:
    session_id = make_session(agent, 3)
    made = operate(agent, session_id, "snip", range=[0, 1])
    assert agent.delete(f"/api/sessions/{session_id}").status_code == 204
    assert Session.objects.get().deleted_at is not None
    for path in ("", "/messages", "/thread", "/operations", "/log", "/lenses"):
        get(agent, f"/api/sessions/{session_id}{path}", expect=404)
    get(agent, f"/api/operations/{made['operation_id']}", expect=404)
    assert get(agent, "/api/sessions")["items"] == []
    assert agent.delete(f"/api/sessions/{session_id}").status_code == 404


def test_purging_needs_the_right_to_administer_and_is_audited(
    agent: Client, editor: User, project: Project
) -> None:
    path = f"/api/sessions/{make_session(agent, 3)}?purge=1"
    assert client_of(editor, project).delete(path).status_code == 403
    assert agent.delete(path).status_code == 204
    assert not Session.objects.exists()
    assert AuditEntry.objects.filter(action="purge session").exists()


# Messages


def test_messages_are_read_half_open(agent: Client) -> None:
    path = f"/api/sessions/{make_session(agent, 10)}/messages"

    def indexes(**query: Any) -> list[int]:
        return [item["index"] for item in get(agent, path, **query)["items"]]

    assert indexes() == list(range(10))
    assert indexes(start=2, end=5) == [2, 3, 4]
    assert indexes(start=8, end=99) == [8, 9]
    assert indexes(start=5, end=5) == indexes(start=5, end=2) == []
    assert indexes(start=-3, end=2) == [0, 1]
    assert indexes(start=10**30) == []
    assert indexes(end=10**30) == list(range(10))


def test_a_message_says_all_that_the_contract_promises(agent: Client) -> None:
    call = {
        "id": "call_1",
        "type": "function",
        "function": {"name": "read", "arguments": '{"path": "a.py"}'},
    }
    given = [
        {"role": "user", "content": "Read a.py"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "x = 1"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "So.", "signature": "seal"},
                {"type": "text", "text": "It sets x."},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "1"},
                {"type": "tool_result", "tool_use_id": "b", "content": "2"},
            ],
        },
    ]
    session_id = make_session(agent, given)
    user, calling, result, thinking, several = get(
        agent, f"/api/sessions/{session_id}/messages"
    )["items"]
    assert set(user) == {
        *("key", "id", "short_id", "index", "role", "content", "parts"),
        *("tool_results", "parsing_strategy", "group_id", "status", "tags"),
        *("tokens", "weight", "created_at"),
    }
    assert (user["key"], user["status"], user["group_id"]) == ("m0", "complete", 1)
    assert calling["content"] is None
    assert calling["tool_calls"][0]["id"] == "call_1"
    arguments = calling["tool_calls"][0]["function"]["arguments"]
    assert json.loads(arguments) == {"path": "a.py"}
    assert (result["tool_call_id"], result["content"]) == ("call_1", "x = 1")
    assert result["tool_results"][0]["content"] == "x = 1"
    assert thinking["content"] == "It sets x."
    assert thinking["parts"][0]["type"] == "thinking"
    assert [one["tool_call_id"] for one in several["tool_results"]] == ["a", "b"]
    assert "tool_call_id" not in several
    assert several["group_id"] == 1


def test_messages_are_appended_if_the_session_is_as_long_as_is_thought(
    agent: Client,
) -> None:
    path = f"/api/sessions/{make_session(agent, 2)}/messages"
    longer = post(agent, path, {"messages": said(1), "expected_count": 2}, expect=201)
    assert longer["message_count"] == 3
    refused = post(agent, path, {"messages": said(1), "expected_count": 2}, expect=409)
    assert (refused["code"], refused["message_count"]) == ("stale_count", 3)
    assert refused["at"] == ["expected_count"]
    assert post(agent, path, {"messages": said(1)}, expect=201)["message_count"] == 4
    post(agent, path, {"messages": []}, expect=422)


def test_text_of_any_kind_comes_out_as_it_went_in(agent: Client) -> None:
    words = "NUL \x00, half a pair \ud83d, a whole 😀, \u2028 and \x1b[31m"
    arguments = {"\ud800": "\x00"}
    call = {
        "id": "call_1",
        "type": "function",
        "function": {"name": "echo", "arguments": json.dumps(arguments)},
    }
    session_id = make_session(
        agent,
        [
            {"role": "user", "content": words},
            {"role": "assistant", "content": "", "tool_calls": [call]},
        ],
        title=words,
        system=words,
    )
    path = f"/api/sessions/{session_id}"
    system, user, calling = get(agent, f"{path}/messages")["items"]
    assert system["content"] == user["content"] == words
    assert calling["parts"][0]["arguments"] == arguments
    shown = get(agent, f"{path}/thread")["nodes"]
    assert shown[1]["content"] == words
    exported = b"".join(agent.get(f"{path}/export"))
    assert json.loads(exported)["messages"][1]["parts"][0]["text"] == words


def test_what_two_models_read_is_counted_as_each_of_them_counts(agent: Client) -> None:
    words = [{"role": "user", "content": "Übermorgen 日本語の文章 naïve"}]
    first = make_session(agent, words, model="gpt-4o")
    second = make_session(agent, words, model="gpt-4")
    encodings, counts = [], []
    for session_id in (first, second):
        session = get(agent, f"/api/sessions/{session_id}")
        encodings.append(session["encoding"])
        counts.append(session["tokens"])
    assert encodings == ["o200k_base", "cl100k_base"]
    assert 0 < counts[0] < counts[1]


# Images


def test_an_image_is_named_by_its_address_or_given_inline(agent: Client) -> None:
    session_id = make_session(agent, [with_image()])
    for path in ("messages", "thread", "thread?view=original&x=1"):
        address = f"/api/sessions/{session_id}/{path}"
        answer = get(agent, address)
        (item,) = answer.get("items") or answer["nodes"]
        url = item["content"][1]["image_url"]["url"]
        assert url == f"/api/blobs/{item['parts'][1]['sha256']}"
        answer = get(agent, address + ("&" if "?" in path else "?") + "inline=1")
        (item,) = answer.get("items") or answer["nodes"]
        assert item["content"][1] == image(PNG, "image/png")
    blob = agent.get(url)
    assert blob.content == PNG
    assert blob["Content-Type"] == "image/png"
    assert blob["Content-Disposition"] == "inline"


@pytest.mark.parametrize("media_type", ["image/svg+xml", "text/html", "x/y\r\nz: 1"])
def test_what_a_browser_could_run_is_only_downloaded(
    agent: Client, media_type: str
) -> None:
    block = {
        "type": "image",
        "source": {
            "type": "base64",
            "media_type": media_type,
            "data": base64.b64encode(SVG).decode(),
        },
    }
    session_id = make_session(agent, [{"role": "user", "content": [block]}])
    (item,) = get(agent, f"/api/sessions/{session_id}/messages")["items"]
    blob = agent.get(f"/api/blobs/{item['parts'][0]['sha256']}")
    assert blob.content == SVG
    assert blob["Content-Type"] == "application/octet-stream"
    assert blob["Content-Disposition"] == "attachment"
    assert blob["X-Content-Type-Options"] == "nosniff"
    assert blob["Content-Security-Policy"] == "default-src 'none'; sandbox"


def test_a_blob_of_another_project_is_not_there(agent: Client, stranger: User) -> None:
    session_id = make_session(agent, [with_image()])
    (item,) = get(agent, f"/api/sessions/{session_id}/messages")["items"]
    address = f"/api/blobs/{item['parts'][1]['sha256']}"
    other = client_of(stranger, Project.objects.get(slug="other"))
    assert other.get(address).status_code == 404
    for name in ("x", "%00", "A" * 64, "..%2F..%2Fetc"):
        assert agent.get(f"/api/blobs/{name}").status_code == 404


# Import


def test_a_file_is_imported_and_known_again(agent: Client) -> None:
    answer = upload(agent, CHAT, format="auto", project="demo")
    assert answer.status_code == 201, answer.content
    body = answer.json()
    (imported,) = body["sessions"]
    assert imported["message_count"] == 3
    assert imported["format"] == "openai"
    assert body["warnings"] == []
    again = upload(agent, CHAT)
    assert again.status_code == 200
    assert again.json()["sessions"] == body["sessions"]


def test_a_longer_version_is_appended_to_the_session_that_is_named(
    agent: Client,
) -> None:
    (imported,) = upload(agent, CHAT).json()["sessions"]
    longer = json.dumps(said(5)).encode()
    answer = upload(agent, longer, session=imported["id"])
    assert answer.status_code == 200
    assert answer.json()["sessions"] == [{**imported, "message_count": 5}]
    other = json.dumps([{"role": "user", "content": "else"}]).encode()
    branched = upload(agent, other, session=imported["id"])
    assert branched.status_code == 201
    assert [one["code"] for one in branched.json()["warnings"]] == ["diverged"]


@pytest.mark.parametrize(
    ("data", "code", "words"),
    [
        (b"", "format_unknown", "an empty file"),
        (b"just words", "format_unknown", "text"),
        (b"\x00\x01\x02", "format_unknown", "binary"),
        (b"[" * 100_000, "json_too_deep", "deep"),
        (b'{"a": 1}', "format_unknown", "JSON"),
    ],
)
def test_a_file_that_is_refused_is_named_in_one_sentence(
    agent: Client, data: bytes, code: str, words: str
) -> None:
    answer = upload(agent, data)
    assert answer.status_code == 422
    refused = answer.json()
    assert refused["code"] == code
    assert words in refused["detail"]


def test_an_import_needs_a_file_a_known_format_and_the_right_to_edit(
    agent: Client, viewer: User, reviewer: User, stranger: User, project: Project
) -> None:
    assert agent.post("/api/sessions/import", {}).json()["at"] == ["file"]
    assert upload(agent, CHAT, format="carrier pigeon").status_code == 422
    assert upload(agent, CHAT, session="x").json()["at"] == ["session"]
    for user in (viewer, reviewer):
        answer = upload(client_of(user, project), CHAT, project="demo")
        assert answer.status_code == 403
    other = client_of(stranger, Project.objects.get(slug="other"))
    assert upload(other, CHAT, project="demo").status_code == 404
    session_id = make_session(agent, 1)
    assert upload(other, CHAT, session=session_id).status_code == 404
    assert Session.objects.count() == 1


def test_a_large_file_is_imported_by_a_job(agent: Client, settings: Any) -> None:
    words = "word " * 400
    count = imports.QUICK_BYTES // len(words) + 10
    large = json.dumps([{"role": "user", "content": words}] * count).encode()
    answer = upload(agent, large)
    assert answer.status_code == 202, answer.content
    address = f"/api/jobs/{answer.json()['job_id']}"
    assert get(agent, address)["status"] == "queued"
    assert get(agent, "/api/sessions")["items"] == []
    job = queue.claim()
    assert job is not None
    runner.run(job)
    done = get(agent, address)
    assert (done["status"], done["done"], done["unit"]) == ("done", count, "messages")
    (imported,) = done["result"]["sessions"]
    assert imported["message_count"] == count
    (listed,) = get(agent, "/api/sessions")["items"]
    assert listed["id"] == imported["id"]
    assert upload(agent, large).status_code == 202


def test_several_files_are_one_import_whose_report_says_what_became_of_each(
    agent: Client, owner: User, project: Project
) -> None:
    files = [
        SimpleUploadedFile("a.json", CHAT),
        SimpleUploadedFile("a.json", json.dumps(said(2)).encode()),
        SimpleUploadedFile("notes.txt", b"words"),
    ]
    paths = json.dumps(["talks/1/a.json", "talks/2/a.json", "talks/notes.txt"])
    answer = agent.post("/api/sessions/import", {"file": files, "paths": paths})
    assert answer.status_code == 201, answer.content
    body = answer.json()
    assert sorted(one["message_count"] for one in body["sessions"]) == [2, 3]
    report = get(agent, f"/api/imports/{body['import_id']}")
    assert (report["name"], report["report"]["files"]) == ("talks", 3)
    assert report["report"]["messages"] == {"user": 3, "assistant": 2}
    assert [(one["name"], one["outcome"]) for one in report["files"]] == [
        ("talks/1/a.json", "created"),
        ("talks/2/a.json", "created"),
        ("talks/notes.txt", "other"),
    ]
    (left,) = get(agent, f"/api/imports/{body['import_id']}?outcome=other")["files"]
    assert "no transcript" in left["report"]["reason"]
    (found,) = get(agent, f"/api/imports/{body['import_id']}?q=2/a")["files"]
    assert found["session_id"] in {one["id"] for one in body["sessions"]}
    agent.delete(f"/api/sessions/{found['session_id']}")
    (gone,) = get(agent, f"/api/imports/{body['import_id']}?q=2/a")["files"]
    assert (gone["session_id"], gone["session_title"]) == (None, None)


def test_imports_and_their_files_are_paged(agent: Client) -> None:
    ids = [
        upload(agent, json.dumps(said(count)).encode()).json()["import_id"]
        for count in (1, 2, 3)
    ]
    first = get(agent, "/api/imports?limit=2&project=demo")
    rest = get(agent, f"/api/imports?limit=2&cursor={first['next_cursor']}")
    assert [one["id"] for one in first["items"] + rest["items"]] == ids[::-1]
    assert rest["next_cursor"] is None
    files = [SimpleUploadedFile(f"{n}.json", CHAT + b" " * n) for n in range(3)]
    made = agent.post("/api/sessions/import", {"file": files}).json()["import_id"]
    page = get(agent, f"/api/imports/{made}?limit=2")
    more = get(agent, f"/api/imports/{made}?limit=2&cursor={page['next_cursor']}")
    assert len(page["files"]) == 2
    assert [one["name"] for one in more["files"]] == ["2.json"]
    for wrong in ("eyJ4IjoxfQ", "WyJ4Il0"):
        assert agent.get(f"/api/imports/{made}?cursor={wrong}").status_code == 422
    assert agent.get("/api/imports?cursor=WyJ4Il0").status_code == 422


def test_a_session_goes_on_in_one_file_and_paths_that_fit_no_file_are_passed_over(
    agent: Client,
) -> None:
    session_id = make_session(agent, 1)
    files = [SimpleUploadedFile("a.json", CHAT), SimpleUploadedFile("b.json", CHAT)]
    fields = {"file": files, "session": session_id}
    assert agent.post("/api/sessions/import", fields).json()["at"] == ["session"]
    for paths in ("{", "[]", '"a"'):
        answer = upload(agent, CHAT, paths=paths)
        report = get(agent, f"/api/imports/{answer.json()['import_id']}")
        assert report["name"] == "chat.json"


def test_what_unpacks_to_much_is_a_job(agent: Client) -> None:
    words = [{"role": "user", "content": "word " * 400}] * 2000
    packed = gzip.compress(json.dumps(words).encode())
    assert len(packed) < imports.QUICK_BYTES
    assert upload(agent, packed, name="chat.json.gz").status_code == 202


def test_files_that_are_not_kept_leave_nothing_behind(
    agent: Client, data_folder: Path
) -> None:
    assert upload(agent, CHAT, format="carrier pigeon").status_code == 422
    assert agent.post("/api/sessions", {"file": SimpleUploadedFile("x", CHAT)})
    left = [path for path in (data_folder / "blobs").iterdir() if path.is_file()]
    assert left == []


# Export


@pytest.mark.parametrize("view", ["original", "effective"])
def test_our_own_form_comes_back_in_as_the_same_messages(
    agent: Client, view: str
) -> None:
    session_id = make_session(agent, [*said(4), with_image()], system="Be brief.")
    operate(agent, session_id, "digest", range=[2, 3], summary="Sum \ud800")
    answer = agent.get(f"/api/sessions/{session_id}/export", {"view": view})
    assert answer["Content-Disposition"].startswith("attachment")
    exported = b"".join(answer)
    (imported,) = upload(agent, exported).json()["sessions"]
    assert imported["id"] != session_id

    def parts(address: str) -> list[Any]:
        answer = get(agent, address)
        items = answer.get("items") or answer["nodes"]
        return [(item["role"], item["parts"]) for item in items]

    assert parts(f"/api/sessions/{imported['id']}/messages") == parts(
        f"/api/sessions/{session_id}/thread?view={view}"
    )


@pytest.mark.parametrize("view", ["original", "effective"])
@pytest.mark.parametrize("format", ["openai", "anthropic", "markdown"])
def test_the_other_forms_say_the_words_of_the_view(
    agent: Client, format: str, view: str
) -> None:
    session_id = make_session(agent, said(5), system="Be brief.")
    operate(agent, session_id, "snip", range=[2, 3])
    query = {"format": format, "view": view}
    answer = agent.get(f"/api/sessions/{session_id}/export", query)
    text = b"".join(answer).decode()
    assert "Be brief." in text
    assert "message 0" in text
    assert ("message 2" in text) is (view == "original")
    if format != "markdown":
        document = json.loads(text)
        assert len(document["messages"]) >= 2
    elsewhere = upload(agent, text.encode()) if format != "markdown" else None
    assert elsewhere is None or elsewhere.status_code == 201


def test_an_export_of_no_known_form_or_view_is_refused(agent: Client) -> None:
    path = f"/api/sessions/{make_session(agent, 2)}/export"
    assert get(agent, path, format="pdf", expect=422)["at"] == ["format"]
    assert get(agent, path, view="annotated", expect=422)["at"] == ["view"]
    assert get(agent, path, view="x", expect=422)["at"] == ["view"]
