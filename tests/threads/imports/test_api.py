"""Imports through REST: files, folders, jobs and their reports."""

import gzip
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from contextstudio.accounts.jobs import queue, runner
from contextstudio.accounts.models import Project, User
from tests.operations.support.rest import get, make_session, said
from tests.people import client_of
from threads import imports
from threads.domain.tally import MAX_WARNINGS
from threads.models import Import, Session

from .uploads import CHAT, upload


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
    assert refused["at"] == ["file", "chat.json"]


@pytest.mark.parametrize(
    ("data", "at"),
    [
        (b'{"a": 1,\n "b": }', ["chat.json", "line", 2]),
        (b"PK\x03\x04 and no more", ["chat.json"]),
        (gzip.compress(b"just words", mtime=0), ["chat.json"]),
        (b"[]", ["chat.json"]),
    ],
    ids=["a mistake", "a damaged archive", "a packed file", "an empty list"],
)
def test_a_refusal_says_in_which_file_and_where_in_it(
    agent: Client, data: bytes, at: list[Any]
) -> None:
    answer = upload(agent, data)
    assert answer.status_code == 422
    assert answer.json()["at"] == ["file", *at]


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_compressed_file_that_is_cut_off_says_so(
    agent: Client, pack: Callable[[bytes], bytes]
) -> None:
    packed = pack(CHAT)
    refused = upload(agent, packed[:12]).json()
    assert (refused["code"], refused["at"]) == (
        "archive_damaged",
        ["file", "chat.json"],
    )
    assert "ends too early" in refused["detail"]
    # All of it comes out, and only its checksum is missing, or a second frame.
    whole = packed[:-8] if pack is gzip.compress else packed + packed[:12]
    made = upload(agent, whole).json()
    (warning,) = made["warnings"]
    assert (warning["code"], made["warning_count"]) == ("damaged", 1)
    assert warning["detail"].startswith("It is damaged, or ends too early")


def test_each_warning_of_an_archive_names_its_file_once(agent: Client) -> None:
    def lines(words: str) -> bytes:
        message = {"role": "user", "content": words}
        record = {"type": "user", "sessionId": words, "uuid": words, "message": message}
        return json.dumps(record).encode() + b"\n"

    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.jsonl", lines("one") + b"{cut off\n")
        archive.writestr("b.jsonl", lines("two"))
    damaged = buffer.getvalue().replace(b'"content": "two"', b'"content": "six"')
    made = upload(agent, damaged, name="sessions.zip").json()
    unread, broken = (one["detail"] for one in made["warnings"])
    assert unread.startswith("a.jsonl: Line 2 can't be read.")
    assert broken == "b.jsonl: It is damaged."
    shown = Import.objects.get(pk=made["import_id"]).report["warnings"]
    assert [one["file"] for one in shown] == ["a.jsonl", "b.jsonl"]
    assert not any(".jsonl" in one["detail"] for one in shown)


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


def test_an_answer_counts_the_warnings_that_it_does_not_repeat(agent: Client) -> None:
    lines = [json.dumps(said(1)[0]), *("{broken" for _ in range(MAX_WARNINGS + 5))]
    body = upload(agent, "\n".join(lines).encode(), name="a.jsonl").json()
    assert len(body["warnings"]) == MAX_WARNINGS
    assert body["warning_count"] == MAX_WARNINGS + 5


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


def test_the_result_of_a_job_calls_sessions_as_they_are_called_now(
    agent: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "QUICK_BYTES", 10)
    address = f"/api/jobs/{upload(agent, CHAT).json()['job_id']}"
    job = queue.claim()
    assert job is not None
    runner.run(job)
    (imported,) = get(agent, address)["result"]["sessions"]
    session = f"/api/sessions/{imported['id']}"
    agent.patch(session, {"title": "Renamed"}, content_type="application/json")
    (named,) = get(agent, address)["result"]["sessions"]
    assert named == imported | {"title": "Renamed"}
    agent.delete(session)
    (gone,) = get(agent, address)["result"]["sessions"]
    assert gone == imported | {"title": ""}


def test_a_session_does_not_go_on_in_another_project(agent: Client) -> None:
    (imported,) = upload(agent, CHAT).json()["sessions"]
    longer = json.dumps(said(5)).encode()
    named = {"session": imported["id"], "project": "other"}
    refused = upload(agent, longer, **named)
    assert (refused.status_code, refused.json()["at"]) == (422, ["project"])
    assert Session.objects.get().message_count == 3
    named["project"] = "demo"
    assert upload(agent, longer, **named).json()["sessions"][0]["message_count"] == 5


def test_an_import_that_is_cancelled_once_all_is_read_leaves_nothing(
    agent: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "QUICK_BYTES", 10)
    address = f"/api/jobs/{upload(agent, CHAT).json()['job_id']}"
    stage = imports.import_staged

    def cancelled_behind(*arguments: Any, **options: Any) -> Any:
        imported = stage(*arguments, **options)
        agent.post(f"{address}/cancel")
        return imported

    monkeypatch.setattr(imports, "import_staged", cancelled_behind)
    job = queue.claim()
    assert job is not None
    runner.run(job)
    assert get(agent, address)["status"] == "cancelled"
    assert not Session.objects.exists()
    assert not Import.objects.exists()


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
    wrong = agent.get(f"/api/imports/{body['import_id']}?outcome=fine")
    assert (wrong.status_code, wrong.json()["at"]) == (422, ["outcome"])
    assert "not a transcript" in left["report"]["reason"]
    (found,) = get(agent, f"/api/imports/{body['import_id']}?q=2/a")["files"]
    assert found["session_id"] in {one["id"] for one in body["sessions"]}
    agent.delete(f"/api/sessions/{found['session_id']}")
    (gone,) = get(agent, f"/api/imports/{body['import_id']}?q=2/a")["files"]
    assert (gone["session_id"], gone["session_title"]) == (None, None)


def test_files_are_found_in_capitals_and_without(agent: Client) -> None:
    brought = upload(agent, CHAT, name="Übung.json").json()
    address = f"/api/imports/{brought['import_id']}"
    for words, count in (("ÜBUNG", 1), ("übung", 1), ("üben", 0)):
        assert len(get(agent, address, q=words)["files"]) == count


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
    for paths in ("{", "[]", '"a"', "[" * 100_000):
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
