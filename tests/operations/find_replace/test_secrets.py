"""Secrets in originals are found offline and proposed for redaction, never masked unasked."""

import json
import socket
import string
from collections import Counter
from io import BytesIO
from random import Random
from typing import Any
from uuid import UUID

import pytest
from django.conf import LazySettings
from django.db import connection
from django.test import Client

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.jobs import JobContext
from contextstudio.accounts.jobs.queue import claim
from contextstudio.accounts.jobs.runner import Stopping
from contextstudio.accounts.models import Job, Project, User
from operations.domain.tree.span import covered_text
from operations.exports.services import write_export
from operations.find_replace import secrets
from operations.models import LogEntry
from tests.operations.support.rest import get, make_session, post
from threads import imports
from threads.domain.part import Text, Thinking, ToolCall, ToolResult
from threads.imports import accounting
from threads.imports.running.outcome import Imported
from threads.imports.upload import keep_upload
from threads.models import Import, Session, Source
from threads.sessions.services import delete_session

LETTERS = string.ascii_letters + string.digits


def drawn(prefix: str, length: int, seed: int, letters: str = LETTERS) -> str:
    """A value in the form of a credential. No such value stands in this file."""
    random = Random(seed)
    return prefix + "".join(random.choice(letters) for _ in range(length))


TOKEN = drawn("ghp_", 36, 1)
ACCESS_KEY = drawn("AKIA", 16, 2, string.ascii_uppercase + "234567")
PASSWORD = drawn("", 14, 3)
ADDRESS = f"postgres://reader:{PASSWORD}@db.internal:5432/ledger"


@pytest.fixture(autouse=True)
def scan(settings: LazySettings) -> None:
    settings.SKIP_SECRETS = False


@pytest.fixture
def session_id(agent: Client) -> str:
    said = [
        {"role": "user", "content": f"Deploy with {TOKEN}, please. Grüße → 🚀"},
        {"role": "assistant", "content": f"I wrote “{TOKEN}” into the settings."},
        {"role": "user", "content": f"And the database is {ADDRESS} for now."},
    ]
    return make_session(agent, said, title="A deployment")


def found(*parts: Any) -> list[str]:
    """The texts that the scanner takes for secrets in one message."""
    return [
        covered_text(parts, span) or ""
        for secret in secrets.find_secrets([("m0", parts)])
        for span in secret.spans
    ]


@pytest.mark.parametrize(
    ("words", "secret"),
    [
        (f"export GITHUB_TOKEN={TOKEN}", TOKEN),
        (f"DATABASE_URL={ADDRESS}\n", PASSWORD),
        (f"ключ 🔑 {TOKEN} конец", TOKEN),
        (f"a \udcff lone surrogate before {TOKEN}", TOKEN),
    ],
)
def test_a_credential_is_found_to_the_letter(words: str, secret: str) -> None:
    assert found(Text(words)) == [secret]


def test_credentials_are_found_in_thinking_in_arguments_and_in_results() -> None:
    line = f"token={TOKEN} "
    parts = (
        Thinking(line),
        ToolCall("c1", "run", {"env": {"PLAIN": "nothing", "TOKEN": line}}),
        ToolResult("c1", (Text("done"), Text(line))),
    )
    assert found(*parts) == [TOKEN] * 3


def test_prose_and_code_hold_no_secret() -> None:
    words = "def total(rows):\n    return sum(row.amount for row in rows)\n" * 400
    assert found(Text(words), Text("The password is kept in the vault.")) == []


def test_one_credential_in_several_messages_is_one_secret_with_several_places() -> None:
    texts = [(f"m{n}", (Text(f"{'x ' * n}{TOKEN} "),)) for n in range(5)]
    (secret,) = secrets.find_secrets(texts)
    assert [span.key for span in secret.spans] == ["m0", "m1", "m2", "m3", "m4"]
    assert secret.title == "Secret: github pat"


def test_a_text_is_looked_through_whole_however_it_is_cut() -> None:
    much = Text("y " * (secrets.AT_ONCE // 2 - 20))
    texts = [("m0", (much, Text(f"{TOKEN} "))), ("m1", (Text(ADDRESS),))]
    assert len(secrets.find_secrets(texts)) == 2


def test_nothing_leaves_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert found(Text(f"{ACCESS_KEY} and {TOKEN} "))


def test_what_is_found_is_proposed_and_masks_only_when_accepted(
    agent: Client, caller: Caller, session_id: str
) -> None:
    assert secrets.propose_redactions(caller, UUID(session_id)) == 2
    thread = get(agent, f"/api/sessions/{session_id}/thread")
    first, second = thread["operations"]
    assert first["type"] == second["type"] == "redact"
    assert first["status"] == second["status"] == "proposed"
    assert first["bundle_id"] == second["bundle_id"] is not None
    assert TOKEN in str(get(agent, f"/api/sessions/{session_id}/messages"))
    post(agent, f"/api/bundles/{first['bundle_id']}/accept", {})
    for door in ("messages", "thread", "log"):
        answer = str(get(agent, f"/api/sessions/{session_id}/{door}"))
        assert TOKEN not in answer and PASSWORD not in answer


def test_however_many_are_found_all_are_proposed(
    agent: Client, caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secrets, "MAX_PROPOSED", 2)
    tokens = [drawn("ghp_", 36, seed) for seed in range(10, 15)]
    said = [{"role": "user", "content": f"Use {token} here."} for token in tokens]
    session_id = make_session(agent, said, title="Many")
    assert secrets.propose_redactions(caller, UUID(session_id)) == 5
    operations = get(agent, f"/api/sessions/{session_id}/thread")["operations"]
    bundles = Counter(operation["bundle_id"] for operation in operations)
    assert sorted(bundles.values()) == [1, 2, 2]
    assert secrets.propose_redactions(caller, UUID(session_id)) == 0


def test_no_entry_of_the_log_holds_the_value(
    agent: Client, caller: Caller, session_id: str
) -> None:
    secrets.propose_redactions(caller, UUID(session_id))
    log = str(get(agent, f"/api/sessions/{session_id}/log"))
    assert "redact" in log and TOKEN not in log and PASSWORD not in log


def test_what_was_proposed_once_is_not_proposed_again(
    agent: Client, caller: Caller, session_id: str
) -> None:
    secrets.propose_redactions(caller, UUID(session_id))
    operations = get(agent, f"/api/sessions/{session_id}/thread")["operations"]
    post(agent, f"/api/operations/{operations[0]['id']}/reject", {})
    assert secrets.propose_redactions(caller, UUID(session_id)) == 0
    assert secrets.propose_redactions(caller, UUID(session_id), start=2) == 0


def transcript(*words: str) -> bytes:
    said = [{"role": "user", "content": text} for text in words]
    return json.dumps({"session_id": "deployment", "messages": said}).encode()


def chat(text: str) -> bytes:
    return json.dumps([{"role": "user", "content": text}]).encode()


def bring(caller: Caller, project: Project, content: bytes) -> Imported:
    upload = keep_upload(BytesIO(content), name="deployment.json")
    return imports.import_upload(caller, project, upload)


def run_job() -> dict[str, Any]:
    """Do the job that waits, as a worker does; its result."""
    waiting = Job.objects.get(kind=secrets.KIND, status=Job.Status.QUEUED)
    job = claim(waiting.pk)
    assert job is not None
    context = JobContext(job)
    result = secrets.run_secrets(context, **job.arguments)
    for effect in context.effects:
        effect()
    job.delete()
    return result


def test_an_import_is_looked_through_by_a_job_and_a_longer_version_only_where_it_is_new(
    caller: Caller, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [f"Use {TOKEN} here.", "Thanks, that works well."]
    (session,) = bring(caller, project, transcript(*words)).sessions
    assert run_job() == {"proposed": 1}
    looked_at: list[int] = []
    load = secrets.load_recorded_at
    monkeypatch.setattr(
        secrets,
        "load_recorded_at",
        lambda session, rows: looked_at.extend(rows) or load(session, rows),
    )
    bring(caller, project, transcript(*words, f"The database is {ADDRESS} now."))
    assert run_job() == {"proposed": 1}
    assert looked_at == [2]
    entries = session.log.order_by("number")
    assert [entry.actor for entry in entries] == ["import", "import"]
    assert all(entry.proposed for entry in entries)


def test_nothing_is_locked_while_originals_are_looked_through(
    caller: Caller, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring(caller, project, transcript(f"Use {TOKEN} here.", "Thanks."))
    depth = len(connection.atomic_blocks)
    found: list[int] = []
    scanner = secrets._scanner()

    class Watched:
        def scan(self, data: bytes) -> Any:
            found.append(len(connection.atomic_blocks) - depth)
            return scanner.scan(data)

    monkeypatch.setattr(secrets, "_scanner", Watched)
    assert run_job() == {"proposed": 1}
    assert found and not any(found)


def test_a_session_that_is_deleted_meanwhile_keeps_no_other_from_being_looked_through(
    caller: Caller, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    (first,) = bring(caller, project, transcript(f"Use {TOKEN} here.")).sessions
    second = bring(caller, project, chat(f"Use {TOKEN} there.")).sessions[0]
    Source.objects.update(brought_by=Import.objects.order_by("created_at").last())
    real = secrets.mask_title

    def deleted(session: Session) -> None:
        real(session)
        if session == first:
            delete_session(caller, session.pk)

    monkeypatch.setattr(secrets, "mask_title", deleted)
    Job.objects.filter(kind=secrets.KIND).earliest("created_at").delete()
    assert run_job() == {"proposed": 1}
    assert [entry.session for entry in LogEntry.objects.all()] == [second]


def test_a_job_of_an_import_whose_sessions_were_all_purged_is_done(
    caller: Caller, project: Project
) -> None:
    (session,) = bring(caller, project, transcript(f"Use {TOKEN} here.")).sessions
    (brought,) = Import.objects.all()
    accounting.count_later(caller, brought)
    delete_session(caller, session.pk, purge=True)
    assert run_job() == {"proposed": 0}
    job = claim(Job.objects.get(kind=accounting.KIND).pk)
    assert job is not None
    assert accounting.run_accounting(JobContext(job), **job.arguments) == {}


def test_looking_through_a_long_session_can_be_stopped(
    caller: Caller, session_id: str
) -> None:
    def stop() -> None:
        raise Stopping

    with pytest.raises(Stopping):
        secrets.propose_redactions(caller, UUID(session_id), tick=stop)
    assert secrets.propose_redactions(caller, UUID(session_id)) == 2


@pytest.mark.parametrize(
    ("words", "title"),
    [
        (f"Use {TOKEN} here.", "Use [redacted] here."),
        (f"{'Use it. ' * 7}{TOKEN}", "Use it. " * 7 + "[redacted]…"),
        ("Use the token here.", "Use the token here."),
    ],
)
def test_a_title_that_is_made_of_a_message_shows_no_credential(
    caller: Caller, project: Project, words: str, title: str
) -> None:
    (session,) = bring(caller, project, transcript(words, "Thanks.")).sessions
    run_job()
    session.refresh_from_db()

    assert session.title == title
    assert (
        words
        in b"".join(write_export(session, format="markdown", view="original")).decode()
    )


def test_a_title_of_its_own_shows_no_credential(
    caller: Caller, project: Project
) -> None:
    said = {"title": f"With {TOKEN}", "messages": [{"role": "user", "content": "Hi"}]}
    upload = keep_upload(BytesIO(json.dumps(said).encode()), name="talk.json")
    (session,) = imports.import_upload(caller, project, upload).sessions
    run_job()
    session.refresh_from_db()

    assert session.title == "With [redacted]"


def test_the_report_of_an_import_names_the_sessions_that_hold_secrets(
    caller: Caller, owner: User, client: Client, project: Project
) -> None:
    client.force_login(owner)
    words = ("Deploy the shop.", f"Use {TOKEN} here.")
    imported = bring(caller, project, transcript(*words))
    page = f"/imports/{imported.row.pk}/"
    assert "Secrets" not in client.get(page).content.decode()
    run_job()
    shown = client.get(page).content.decode()
    assert "Redactions are proposed." in shown and TOKEN not in shown
    assert f"/sessions/{imported.sessions[0].pk}/" in shown


def test_the_report_of_an_import_calls_sessions_what_they_are_called_now(
    agent: Client, caller: Caller, project: Project
) -> None:
    words = ("Deploy for the blue heron.", f"Use {TOKEN} here.")
    imported = bring(caller, project, transcript(*words))
    run_job()
    addresses = f"/api/imports/{imported.row.pk}", "/api/imports"
    assert all("heron" in str(get(agent, one)) for one in addresses)
    path = f"/api/sessions/{imported.sessions[0].pk}"
    pattern = {"start": "blue heron"}
    body = {"type": "redact", "patterns": [pattern]}
    post(agent, f"{path}/operations", body, expect=201)
    assert all(
        "Deploy for the [redacted]." in str(get(agent, one)) for one in addresses
    )
    assert not any("heron" in str(get(agent, one)) for one in addresses)
    agent.delete(path)
    assert get(agent, addresses[0])["report"]["secrets"] == []


def test_the_report_counts_what_was_proposed_before_the_work_was_broken_off(
    caller: Caller, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = {"role": "user", "content": f"Use {TOKEN} here."}
    lines = [{"session_id": name, "messages": [said]} for name in ("a", "b")]
    content = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    imported = bring(caller, project, content)
    propose, done = secrets.propose_redactions, []

    def stop_at_the_second(*given: Any) -> int:
        if done:
            raise Stopping
        done.append(propose(*given))
        return done[0]

    job = claim(Job.objects.get(kind=secrets.KIND).pk)
    assert job is not None
    with monkeypatch.context() as patch, pytest.raises(Stopping):
        patch.setattr(secrets, "propose_redactions", stop_at_the_second)
        secrets.run_secrets(JobContext(job), **job.arguments)
    Job.objects.filter(pk=job.pk).update(status=Job.Status.QUEUED)
    assert run_job() == {"proposed": 2}
    imported.row.refresh_from_db()
    assert [one["proposed"] for one in imported.row.report["secrets"]] == [1, 1]


def test_the_report_counts_sessions_that_it_does_not_name(
    caller: Caller,
    owner: User,
    client: Client,
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(secrets, "MAX_LISTED", 1)
    client.force_login(owner)
    said = {"role": "user", "content": f"Use {TOKEN} here."}
    lines = [{"session_id": name, "messages": [said]} for name in ("a", "b", "c")]
    content = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    imported = bring(caller, project, content)
    assert len(imported.sessions) == 3
    run_job()
    shown = client.get(f"/imports/{imported.row.pk}/").content.decode()
    assert "and in <b>2</b> more sessions" in shown


def test_the_job_says_at_its_end_that_it_looked_through_all_sessions(
    caller: Caller, project: Project
) -> None:
    said = {"role": "user", "content": "Nothing to hide."}
    lines = [{"session_id": name, "messages": [said]} for name in ("a", "b", "c")]
    bring(caller, project, "".join(f"{json.dumps(line)}\n" for line in lines).encode())
    job = claim(Job.objects.get(kind=secrets.KIND).pk)
    assert job is not None
    secrets.run_secrets(JobContext(job), **job.arguments)
    assert Job.objects.values("done", "total").get(pk=job.pk) == {"done": 3, "total": 3}


def test_an_import_that_brings_nothing_new_is_not_looked_through(
    caller: Caller, project: Project
) -> None:
    content = transcript("Nothing to hide.")
    bring(caller, project, content)
    assert run_job() == {"proposed": 0}
    bring(caller, project, content)
    assert not Job.objects.filter(kind=secrets.KIND).exists()


def test_an_operator_may_have_nothing_looked_through(
    caller: Caller, project: Project, settings: LazySettings
) -> None:
    settings.SKIP_SECRETS = True
    bring(caller, project, transcript(f"Use {TOKEN} here."))
    assert not Job.objects.filter(kind=secrets.KIND).exists()
