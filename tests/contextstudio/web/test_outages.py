"""A database that is locked or away is said at every door; reads never wait for writers."""

import errno
import sqlite3
import tempfile
from base64 import b64encode
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.db import (
    DatabaseError,
    InterfaceError,
    OperationalError,
    connection,
)
from django.test import Client

from contextstudio.accounts.jobs import kinds
from contextstudio.accounts.models import ApiKey, Project, User
from contextstudio.database.base import DatabaseWrapper
from contextstudio.database.outages import is_outage
from contextstudio.database.write_queue import queue_of
from contextstudio.mcp.server import _answer
from tests.contextstudio.web.gated_routes import TABLE
from tests.contextstudio.web.test_gate_of_every_url import places
from tests.operations.support.rest import make_session
from tests.people import caller as caller_of
from tests.people import client_of
from threads.search.bodies import BODIES

pytestmark = [pytest.mark.sqlite, pytest.mark.django_db(transaction=True)]
__all__ = ["places"]

PROBLEM = "application/problem+json"
READS = [row for row in TABLE if row.method == "GET" and row.path != "readyz"]
NEW = {"messages": [{"role": "user", "content": "Hello"}]}


@pytest.fixture
def client_of_owner(owner: User, project: Project) -> Client:
    """A client with a key that was never used, which would be noted."""
    return client_of(owner, project)


@pytest.fixture
def browser(client: Client, owner: User) -> Client:
    client.force_login(owner)
    return client


@pytest.fixture
def locked(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """While another process holds the write lock, for longer than anybody waits."""
    name = str(connection.settings_dict["NAME"])
    monkeypatch.setitem(connection.settings_dict["OPTIONS"], "timeout", 0.01)
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout=10")
    with closing(sqlite3.connect(name, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")
    connection.close()


@pytest.fixture(params=[OperationalError, InterfaceError])
def away(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """While no connection can be had, or the one that was is closed."""

    def refuse(*_: object, **__: object) -> None:
        raise request.param("connection refused")

    connection.close()
    monkeypatch.setattr(DatabaseWrapper, "connect", refuse)


def test_nobody_who_reads_waits_for_the_write_lock(
    owner: User, client_of_owner: Client, places: dict[str, str], locked: None
) -> None:
    for row in READS:
        answer = client_of_owner.get("/" + row.path.format(**places))
        assert answer.status_code != 503, row.path
    assert ApiKey.objects.exclude(last_used_at=None).count() == 0


def test_nobody_who_searches_waits_for_the_job_that_indexes(
    browser: Client,
    client_of_owner: Client,
    places: dict[str, str],
    locked: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(BODIES, "is_worth_a_job", lambda: True)
    session = places["session"]
    for client, path in (
        (client_of_owner, "/api/search?q=words"),
        (client_of_owner, f"/api/archive?session={session}"),
        (browser, "/sessions/?q=words"),
        (browser, f"/sessions/{session}/archive"),
    ):
        assert client.get(path).status_code == 200, path


def test_the_use_of_a_key_is_noted_where_nobody_writes(client_of_owner: Client) -> None:
    client_of_owner.get("/api/sessions")
    assert ApiKey.objects.exclude(last_used_at=None).count() == 1


def test_who_waits_in_line_for_too_long_is_told_to_come_again(
    client_of_owner: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(connection.settings_dict["OPTIONS"], "timeout", 0.01)
    turns = queue_of(str(connection.settings_dict["NAME"]))
    assert turns.acquire(0)
    try:
        answer = client_of_owner.post("/api/sessions", NEW, "application/json")
    finally:
        turns.release()
    assert (answer.status_code, answer["Content-Type"]) == (503, PROBLEM)
    assert answer["Retry-After"] == "2"
    assert answer.json()["code"] == "database_unavailable"
    make_session(client_of_owner, 1)


def test_a_locked_database_is_a_problem_document_for_programs(
    client_of_owner: Client, locked: None
) -> None:
    for headers in ({}, {"Idempotency-Key": "k"}):
        answer = client_of_owner.post(
            "/api/sessions", NEW, "application/json", headers=headers
        )
        assert (answer.status_code, answer["Content-Type"]) == (503, PROBLEM)
        assert answer["Retry-After"] == "2"


def test_why_the_database_is_locked_is_written_to_the_log(
    client_of_owner: Client, locked: None, caplog: pytest.LogCaptureFixture
) -> None:
    answer = client_of_owner.post("/api/sessions", NEW, "application/json")

    assert "The database can't be used: database is locked" in caplog.text
    assert "is locked" not in answer.content.decode()


def test_a_database_that_is_away_is_said_by_api_page_and_toast(
    client: Client, owner: User, away: None
) -> None:
    authorized = {"Authorization": "Bearer cs_x"}
    api = client.get("/api/sessions", headers=authorized)
    assert (api.status_code, api["Content-Type"]) == (503, PROBLEM)
    client.cookies["contextstudio_session"] = "x" * 32
    client.raise_request_exception = False
    page = client.get("/sessions/", headers={"Accept": "text/html"})
    assert page.status_code == 503
    assert "The database can&#x27;t be used" in page.content.decode()
    assert "Try again</a>" in page.content.decode()
    form = client.post("/settings/keys/", headers={"Accept": "text/html"})
    assert form.status_code == 503 and "Try again</a>" not in form.content.decode()
    assert "repeat the step" in form.content.decode()
    program = client.get("/sessions/", headers={"Accept": "application/json"})
    assert (program.status_code, program["Content-Type"]) == (503, PROBLEM)
    toast = client.get("/sessions/", headers={"HX-Request": "true"})
    assert toast.status_code == 503 and toast["HX-Retarget"] == "#toasts"
    headers = authorized | {"Idempotency-Key": "k"}
    repeated = client.post("/api/sessions", NEW, "application/json", headers=headers)
    assert (repeated.status_code, repeated["Content-Type"]) == (503, PROBLEM)
    for answer in (api, page, program, toast, repeated):
        assert answer["Retry-After"] == "2"


def test_pages_that_poll_while_the_database_is_away_leave_no_traceback_in_the_log(
    client: Client, owner: User, away: None, caplog: pytest.LogCaptureFixture
) -> None:
    client.cookies["contextstudio_session"] = "x" * 32
    client.raise_request_exception = False
    by_page = {"HX-Request": "true", "X-Person": str(owner.pk)}
    answer = client.get("/sessions/", headers=by_page)
    assert (answer.status_code, answer["HX-Retarget"]) == (503, "#toasts")
    assert not [record for record in caplog.records if record.exc_info]


def test_a_database_that_goes_while_the_result_of_a_job_is_read_is_said_too(
    client_of_owner: Client, places: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(_: object) -> None:
        raise OperationalError("terminating connection")

    kind = replace(kinds.kind_of("import"), shown=gone)
    monkeypatch.setitem(kinds._kinds, "import", kind)
    for path in ("/api/jobs", f"/api/jobs/{places['job']}"):
        answer = client_of_owner.get(path)
        assert (answer.status_code, answer["Retry-After"]) == (503, "2")


def test_a_tool_says_so_too(
    owner: User, project: Project, locked: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered = _answer(caller_of(owner), "save_memo", {"content": "x", "tags": ["a"]})
    assert answered.is_error and answered.structured_content is not None
    assert answered.structured_content["code"] == "database_unavailable"


def test_a_disk_that_is_full_is_said_as_a_database_that_is(
    client_of_owner: Client, browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tempfile.NamedTemporaryFile

    def full(_: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    def opened(**named: Any) -> Any:
        file = made(**named)
        file.write = full
        return file

    monkeypatch.setattr("threads.store.blobs.tempfile.NamedTemporaryFile", opened)

    def file() -> dict[str, object]:
        return {"file": SimpleUploadedFile("a.jsonl", b"{}")}

    key = {"Idempotency-Key": "k"}
    path = "/api/sessions/import"
    picture = f"data:image/png;base64,{b64encode(b'PNG').decode()}"
    part = {"type": "image_url", "image_url": {"url": picture}}
    new = {"messages": [{"role": "user", "content": [part]}]}
    answers = [
        client_of_owner.post(path, file()),
        client_of_owner.post(path, file(), headers=key),
        client_of_owner.post("/api/sessions", new, "application/json"),
    ]
    for answer in answers:
        assert (answer.status_code, answer["Content-Type"]) == (503, PROBLEM)
        assert answer.json()["code"] == "disk_unavailable"
    page = browser.post("/sessions/import", file(), headers={"Accept": "text/html"})
    assert (page.status_code, page["Retry-After"]) == (503, "2")
    assert "disk" in page.content.decode()
    assert not list(Path(settings.BLOB_DIR).glob("tmp*"))


def test_a_connection_that_a_client_has_left_is_no_outage() -> None:
    assert not is_outage(BrokenPipeError(errno.EPIPE, "Broken pipe"))


def test_a_statement_that_is_wrong_is_no_outage() -> None:
    with pytest.raises(DatabaseError) as caught, connection.cursor() as cursor:
        cursor.execute("SELECT nothing FROM nowhere")
    assert not is_outage(caught.value)
    assert not is_outage(ValueError("x"))


def test_a_database_that_holds_no_tables_is_no_outage() -> None:
    call_command("check", verbosity=0)
    error = OperationalError("no such table")
    error.__cause__ = sqlite3.OperationalError("no such table")
    error.__cause__.sqlite_errorcode = 1  # type: ignore[attr-defined]
    assert not is_outage(error)
