"""Bringing transcripts in by the page."""

import gzip
import html
import json
import re
import uuid
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from contextstudio.accounts.jobs import queue, runner
from contextstudio.accounts.models import AuditEntry, Job, Membership, Project, User
from tests.threads.support.specimens import SPECIMENS
from threads import imports
from threads.models import Import, Session

CHAT = json.dumps(
    [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Good day"}]
)


@pytest.fixture
def browser(client: Client, editor: User) -> Client:
    client.force_login(editor)
    return client


def file(text: str = CHAT, name: str = "chat.json") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, text.encode())


def send(browser: Client, **fields: Any) -> Any:
    return browser.post("/sessions/import", fields, headers={"HX-Request": "true"})


def test_a_dropped_file_leads_to_its_session(browser: Client) -> None:
    answer = send(browser, file=file())
    assert answer.status_code == 204
    assert answer["HX-Redirect"] == f"/sessions/{Session.objects.get().pk}/"
    assert browser.get(answer["HX-Redirect"]).status_code == 200


def test_pasted_text_is_taken_like_a_file(browser: Client) -> None:
    answer = send(browser, text=CHAT)
    session = Session.objects.get()
    assert session.message_count == 2
    thread = browser.get(answer["HX-Redirect"]).content.decode()
    report = f"/imports/{Import.objects.get().pk}/"
    assert f'Imported from <a class="link" href="{report}">pasted text</a>' in thread
    shown = browser.get(report).content.decode()
    assert 'title="Pasted text">Pasted text</span>' in shown


def test_who_may_import_into_several_projects_chooses_one(
    browser: Client, editor: User, project: Project
) -> None:
    choice = '<option value="second">Second</option>'
    second = Project.objects.create(slug="second", name="Second")
    member = Membership.objects.create(project=second, user=editor, role="viewer")
    assert choice not in browser.get("/sessions/").content.decode()
    member.role = "editor"
    member.save()
    for address in ("/sessions/", "/imports/"):
        page = browser.get(address).content.decode()
        assert page.count(choice) == 2  # for files, and for pasted text
    send(browser, text=CHAT, project="second")
    assert Session.objects.get().project == second


def test_several_files_lead_to_the_report_of_their_one_import(browser: Client) -> None:
    other = CHAT.replace("Hello", "Another hello")
    answer = send(browser, file=[file(), file(other, "other.json")])
    assert answer["HX-Redirect"] == f"/imports/{Import.objects.get().pk}/"
    assert Session.objects.count() == 2
    page = browser.get(answer["HX-Redirect"]).content.decode()
    assert "other.json" in page
    for session in Session.objects.all():
        assert f"/sessions/{session.pk}/" in page


def test_a_file_that_is_no_transcript_stops_no_other_and_is_named(
    browser: Client,
) -> None:
    answer = send(browser, file=[file(), file("just words", "notes.txt")])
    page = browser.get(answer["HX-Redirect"]).content.decode()
    assert Session.objects.count() == 1
    assert "notes.txt" in page
    assert "Not a transcript" in page


def test_the_report_names_the_format_of_each_file(browser: Client) -> None:
    names = ("codex_exec", "gemini_cli_stream")
    given = [file(SPECIMENS[name].decode(), f"{name}.jsonl") for name in names]
    page = browser.get(send(browser, file=given)["HX-Redirect"]).content.decode()
    assert ">JSON output of codex exec<" in page
    assert ">Stream-json output of Gemini CLI<" in page


def test_a_warning_names_its_line_once(browser: Client) -> None:
    read = '{"type": "user", "message": {"role": "user", "content": "Hello"}}\n'
    given = [file(), file(read + '{"type": \n', "cut.jsonl")]
    page = browser.get(send(browser, file=given)["HX-Redirect"]).content.decode()
    assert "<b>cut.jsonl</b>: Line 2 can&#x27;t be read. It isn&#x27;t JSON" in page


def test_a_folder_keeps_the_paths_of_its_files(browser: Client) -> None:
    other = CHAT.replace("Hello", "Another hello")
    paths = ["talks/one/chat.json", "talks/two/chat.json"]
    send(browser, file=[file(), file(other)], paths=json.dumps(paths))
    row = Import.objects.get()
    assert row.name == "talks"
    assert list(row.sources.order_by("name").values_list("name", flat=True)) == paths


def test_a_gzipped_file_is_the_file_that_it_holds(browser: Client) -> None:
    packed = SimpleUploadedFile("chat.json.gz", gzip.compress(CHAT.encode()))
    answer = send(browser, file=packed)
    assert answer["HX-Redirect"] == f"/sessions/{Session.objects.get().pk}/"
    assert Import.objects.get().sources.get().name == "chat.json"


def test_the_files_of_an_import_are_searched_and_filtered(browser: Client) -> None:
    files = [file(CHAT.replace("Hello", f"Hello {i}"), f"{i}.json") for i in range(3)]
    address = send(browser, file=[*files, file("words", "notes.txt")])["HX-Redirect"]
    found = browser.get(address, {"q": "1.json"}).content.decode()
    assert "1.json" in found
    assert "2.json" not in found
    found = browser.get(address, {"outcome": "other"}).content.decode()
    assert "notes.txt" in found
    assert "1.json" not in found
    assert "No matching files" in browser.get(address, {"q": "zzz"}).content.decode()


def test_a_report_first_says_what_became_of_the_files(browser: Client) -> None:
    answer = send(browser, file=[file(), file("just words", "notes.txt")])
    page = browser.get(answer["HX-Redirect"]).content.decode()
    outcomes = page.partition("What became of the files")[2].partition("</ul>")[0]
    assert 'href="?outcome=other#files">Not a transcript</a> 1' in outcomes
    assert 'href="?outcome=created#files">New session</a> 1' in outcomes
    assert page.index("What became of the files") < page.index("What was found")


def test_the_report_of_a_known_file_says_so_and_what_was_read_of_it(
    browser: Client,
) -> None:
    send(browser, file=file())
    thread = browser.get(send(browser, file=file())["HX-Redirect"])
    assert "Imported before: nothing is new." in thread.content.decode()
    first, again = Import.objects.order_by("created_at")
    shown = browser.get(f"/imports/{again.pk}/").content.decode()
    assert "It was imported before, so nothing is new." in shown
    assert "<dt>Messages read</dt><dd>2</dd>" in shown
    assert "<dt>New</dt><dd>0</dd>" in shown
    assert f'by <a class="link" href="/imports/{first.pk}/">the import of' in shown
    shown = browser.get(f"/imports/{first.pk}/").content.decode()
    assert "imported before" not in shown


def test_the_kind_of_a_record_breaks_between_its_words(browser: Client) -> None:
    said = {"type": "user", "message": {"role": "user", "content": "Hello"}}
    reminder = {"type": "attachment", "attachment": {"type": "task_reminder"}}
    ids = ({"uuid": "1", "parentUuid": None}, {"uuid": "2", "parentUuid": "1"})
    lines = [{**one, **more} for one, more in zip((said, reminder), ids, strict=True)]
    text = "\n".join(json.dumps({"sessionId": "s", **line}) for line in lines)
    send(browser, file=file(text, "claude.jsonl"))
    page = browser.get(f"/imports/{Import.objects.get().pk}/").content.decode()
    assert "attachment/<wbr>task_<wbr>reminder" in page


def test_the_list_of_imports_leads_to_each_report(
    browser: Client, client: Client
) -> None:
    send(browser, file=file())
    page = browser.get("/imports/").content.decode()
    assert f"/imports/{Import.objects.get().pk}/" in page
    assert "chat.json" in page
    assert "imported before" not in page
    send(browser, file=file())
    assert browser.get("/imports/").content.decode().count("imported before") == 1


def test_a_stranger_finds_no_report(
    browser: Client, stranger: User, client: Client
) -> None:
    send(browser, file=file())
    other = Client()
    other.force_login(stranger)
    assert other.get(f"/imports/{Import.objects.get().pk}/").status_code == 404
    assert "chat.json" not in other.get("/imports/").content.decode()


def test_without_a_script_the_form_is_redirected(browser: Client) -> None:
    answer = browser.post("/sessions/import", {"file": file()})
    assert answer.status_code == 302


def test_what_is_no_transcript_is_refused_with_a_sentence(browser: Client) -> None:
    answer = send(browser, file=file("just some words", "notes.txt"))
    assert answer.status_code == 422
    assert 'class="toast' in answer.content.decode()
    assert not Session.objects.exists()


def test_nothing_at_all_is_refused(browser: Client) -> None:
    assert send(browser, text="  ").status_code == 422


def test_a_notice_counts_the_warnings_that_are_not_kept_too(
    browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("threads.domain.tally.MAX_WARNINGS", 5)
    broken = "{broken\n" * 10
    answer = send(browser, file=file(SPECIMENS["codex_exec"].decode() + broken))
    page = browser.get(answer["HX-Redirect"]).content.decode()
    assert "And 7 more like these." in page


def test_a_viewer_may_not_import(client: Client, viewer: User) -> None:
    client.force_login(viewer)
    assert send(client, file=file()).status_code == 422
    assert not Session.objects.exists()


def test_a_large_file_becomes_a_job_that_can_be_cancelled_and_dismissed(
    browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "QUICK_BYTES", 10)
    answer = send(browser, file=file())
    assert answer.status_code == 202
    job = Job.objects.get()
    assert f'id="job-{job.pk}"' in answer.content.decode()
    assert "chat.json" in browser.get("/jobs/").content.decode()
    assert "Cancelled" in browser.post(f"/jobs/{job.pk}/cancel").content.decode()
    browser.post(f"/jobs/{job.pk}/forget")
    assert not Job.objects.exists()


def test_only_an_import_is_taken_off_the_list(
    browser: Client, project: Project
) -> None:
    job = Job.objects.create(project=project, kind="summary", status="failed")
    assert browser.post(f"/jobs/{job.pk}/forget").status_code == 404
    assert Job.objects.exists()


def test_a_job_that_is_done_is_listed_with_its_report_where_it_was_watched(
    browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "QUICK_BYTES", 10)
    send(browser, file=file())
    job = queue.claim()
    assert job is not None
    runner.run(job)
    assert browser.get("/jobs/").content.strip() == b""
    seen = browser.get("/jobs/", {"watched": str(job.pk)}).content.decode()
    assert "1 session" in seen
    assert f"/imports/{Import.objects.get().pk}/" in seen
    assert browser.get("/jobs/", {"watched": "no id"}).status_code == 422


def test_another_persons_jobs_are_not_listed(
    browser: Client, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "QUICK_BYTES", 10)
    send(browser, file=file())
    other = Client()
    other.force_login(owner)
    assert other.get("/jobs/").content.strip() == b""


def test_a_session_is_renamed_and_deleted(browser: Client) -> None:
    send(browser, file=file())
    address = f"/sessions/{Session.objects.get().pk}/"
    browser.post(f"{address}rename", {"title": "Another name"})
    assert "Another name" in browser.get(address).content.decode()
    browser.post(f"{address}delete")
    assert browser.get(address).status_code == 404


@pytest.mark.parametrize(
    "name",
    [
        "claude_code/entire-small.jsonl",
        "openai_chat/openhands-sdk-litellm-claude.json",
        "mini_swe_agent/github_issue.traj.json",
    ],
)
def test_real_transcripts_open_in_every_view(
    browser: Client, samples: Path, name: str
) -> None:
    path = samples / name
    answer = send(browser, file=SimpleUploadedFile(path.name, path.read_bytes()))
    address = answer["HX-Redirect"]
    session = Session.objects.get()
    for view in ("annotated", "effective", "original"):
        content = browser.get(address, {"view": view}).content.decode()
        assert content.count("<article") == min(session.message_count, 100)
    for index in range(session.message_count):
        assert browser.get(f"{address}messages/m{index}/raw").status_code == 200


def imported(browser: Client, *said: str) -> str:
    """The address of the report of an import of such conversations, a file each."""
    files = [file(CHAT.replace("Hello", one), f"{one}.json") for one in said]
    return str(send(browser, file=files)["HX-Redirect"])


def undo_of(page: str) -> str:
    """Where the notice on a page posts to, to bring back what was deleted."""
    found = re.search(r'action="([^"]*restore-sessions[^"]*)"', page)
    assert found
    return html.unescape(found[1])


def test_what_an_import_made_is_deleted_together_and_brought_back(
    browser: Client,
) -> None:
    kept = imported(browser, "Kept", "Kept too")
    report = imported(browser, "One", "Two")
    assert "Delete its 2 sessions" in browser.get(report).content.decode()
    one = Session.objects.get(title="One")
    one.deleted_at = timezone.now()
    one.save()
    assert "Delete its session<" in browser.get(report).content.decode()

    page = browser.post(f"{report}delete-sessions", follow=True).content.decode()

    assert "Deleted 1 session." in page and "Delete its" not in page
    assert page.count("deleted since") == 2
    assert Session.objects.filter(deleted_at=None).count() == 2
    page = browser.post(undo_of(page), follow=True).content.decode()
    assert "Restored 1 session." in page
    there = Session.objects.filter(deleted_at=None).values_list("title", flat=True)
    assert sorted(there) == ["Kept", "Kept too", "Two"]
    assert "Delete its 2 sessions" in browser.get(kept).content.decode()
    actions = AuditEntry.objects.values_list("action", flat=True)
    assert [*actions.order_by("pk")][-2:] == [
        "delete sessions of import",
        "restore sessions of import",
    ]


def test_sessions_that_come_back_give_way_to_those_that_were_imported_meanwhile(
    browser: Client, project: Project
) -> None:
    report = imported(browser, "One", "Two")
    Session.objects.filter(title="One").update(external_id="same")
    page = browser.post(f"{report}delete-sessions", follow=True).content.decode()
    Session.objects.create(project=project, title="New", external_id="same")

    browser.post(undo_of(page))

    assert Session.objects.get(title="One").external_id is None
    assert Session.objects.get(title="New").external_id == "same"


def test_what_is_being_erased_does_not_come_back(browser: Client) -> None:
    report = imported(browser, "One", "Two")
    page = browser.post(f"{report}delete-sessions", follow=True).content.decode()
    Session.objects.filter(title="One").update(staged_by=uuid.uuid4())

    page = browser.post(undo_of(page), follow=True).content.decode()

    assert "Restored 1 session." in page
    assert Session.objects.get(deleted_at=None).title == "Two"


def test_what_an_import_only_added_to_stays(browser: Client) -> None:
    for said in (["Hello"], ["Hello", "Bye"]):
        lines = (
            {
                "type": "user",
                "sessionId": "5b0c0f6e-0000-4000-8000-000000000000",
                "uuid": str(at),
                "parentUuid": str(at - 1) if at else None,
                "message": {"role": "user", "content": words},
            }
            for at, words in enumerate(said)
        )
        send(browser, text="\n".join(map(json.dumps, lines)))
    made, appended = Import.objects.order_by("created_at")
    assert Session.objects.get().message_count == 2

    assert "Delete its session" in browser.get(f"/imports/{made.pk}/").content.decode()
    assert "Delete its" not in browser.get(f"/imports/{appended.pk}/").content.decode()
    browser.post(f"/imports/{appended.pk}/delete-sessions")
    assert Session.objects.get().deleted_at is None


def test_a_moment_that_is_none_brings_nothing_back(browser: Client) -> None:
    report = imported(browser, "One", "Two")
    browser.post(f"{report}delete-sessions")
    for wrong in ("", "then", "2026-01-01T00:00", "2026-13-01T00:00Z"):
        refused = browser.post(f"{report}restore-sessions?at={wrong}")
        assert refused.status_code == 422
    assert not Session.objects.filter(deleted_at=None).exists()


def test_whoever_is_in_no_project_is_told_how_to_get_into_one(
    client: Client, db: None
) -> None:
    client.force_login(User.objects.create_user("newcomer"))
    shown = client.get("/imports/").content.decode()
    assert "You aren't in a project yet" in shown
    assert "No imports yet" not in shown


def test_whoever_may_not_import_is_told_who_may(
    client: Client, viewer: User, project: Project
) -> None:
    client.force_login(viewer)
    shown = client.get("/imports/").content.decode()
    assert "No imports yet" in shown
    assert "Editors and owners of a project can import." in shown
    assert "choose files" not in shown
