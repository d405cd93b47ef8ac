"""What `manage.py verify` says of an installation that is not whole."""

import hashlib
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from contextstudio.accounts.models import Project, User
from contextstudio.backup import checks
from operations.domain.log.operation import Snip
from operations.edits.services import record_edit
from operations.models import LogEntry
from tests.people import caller
from threads.domain.message import Message, Role
from threads.domain.part import Image, Text
from threads.models import Blob, Body, Session
from threads.models import Message as Row
from threads.sessions.erasing import RETENTION
from threads.sessions.services import NewSession, append_messages, create_session
from threads.store import blobs

PICTURE = b"\x89PNG a dot"


@pytest.fixture
def session(owner: User, project: Project) -> Session:
    said = [
        Message(
            role=Role.USER, parts=(Text("Look."), Image("image/png", data=PICTURE))
        ),
        Message(role=Role.ASSISTANT, parts=(Text("A dot."),)),
    ]
    made = create_session(caller(owner), project, NewSession(title="t", messages=said))
    record_edit(caller(owner), made.pk, Snip(targets=("m1",)))
    return made


def test_a_whole_installation_has_no_faults(session: Session) -> None:
    assert list(checks.faults()) == []


def test_a_body_that_was_changed_is_named(session: Session) -> None:
    body = Body.objects.order_by("pk").last()
    assert body is not None
    Body.objects.filter(pk=body.pk).update(content=b'[{"text":"Two dots."}]')
    assert list(checks.faults()) == [f"Body {body.pk} is not what was recorded."]


def test_numbers_that_are_missing_are_named(session: Session) -> None:
    Row.objects.filter(session=session, index=0).delete()
    LogEntry.objects.filter(session=session).delete()
    messages, entries = checks.faults()
    assert (
        messages == f"Session {session.pk} should have 2 messages; it has 1, up to 1."
    )
    assert (
        entries == f"Session {session.pk} should have 1 log entries; it has 0, up to 0."
    )


def test_a_file_that_is_gone_or_was_changed_is_named(session: Session) -> None:
    sha256 = hashlib.sha256(PICTURE).hexdigest()
    blobs.path_of(sha256).write_bytes(b"another")
    (changed,) = checks.faults()
    assert changed.endswith("is not what was stored.")
    blobs.discard(sha256)
    assert list(checks.faults()) == [f"The file {sha256} is gone."]


def test_what_is_recorded_or_erased_meanwhile_is_no_fault(
    session: Session, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = [Message(role=Role.USER, parts=(Text("And now?"),))]
    read = checks._sha256

    def appended(execute: Any, sql: str, *rest: Any) -> Any:
        found = execute(sql, *rest)
        if '"message_count"' in sql and more:
            append_messages(caller(owner), session.pk, [more.pop()])
        return found

    def erased(path: Path) -> str:
        Blob.objects.all().delete()
        blobs.discard(path.name)
        return read(path)

    monkeypatch.setattr(checks, "_sha256", erased)
    with connection.execute_wrapper(appended):
        assert list(checks.faults()) == []
    assert not more
    assert not Blob.objects.exists()


def test_a_session_that_is_being_erased_is_no_fault(session: Session) -> None:
    Row.objects.filter(session=session, index=0).delete()
    Session.objects.update(deleted_at=timezone.now() - RETENTION - timedelta(days=1))
    assert list(checks.faults()) == []
