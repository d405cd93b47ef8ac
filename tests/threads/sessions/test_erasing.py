"""Erasing: what only the erased session used goes, what another uses stays."""

import hashlib
import io
import json
import os
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.jobs import enqueue, housekeeping
from contextstudio.accounts.models import Project, User
from contextstudio.accounts.selectors import caller_of_user
from operations.domain.log.operation import Insert
from operations.domain.tree.leaf import MadeMessage
from operations.edits.services import record_edit
from threads import imports
from threads.domain.message import Message as Given
from threads.domain.message import Role
from threads.domain.part import Image, Text
from threads.imports.upload import keep_upload
from threads.models import (
    Blob,
    Body,
    Event,
    Import,
    Message,
    Rendering,
    Session,
    Source,
)
from threads.sessions import erasing
from threads.sessions.services import NewSession, create_session, delete_session
from threads.store import blobs

pytestmark = pytest.mark.django_db(transaction=True)

PICTURE = Image("image/png", data=b"bytes of a picture")
NAME = hashlib.sha256(b"bytes of a picture").hexdigest()


def made(caller: Caller, project: Project, *parts: Any) -> Session:
    said = [Given(role=Role.USER, parts=(part,)) for part in parts]
    return create_session(caller, project, NewSession(title="t", messages=said))


def brought(caller: Caller, project: Project, *texts: str) -> Session:
    data = json.dumps([{"role": "user", "content": text} for text in texts]).encode()
    upload = keep_upload(io.BytesIO(data), name="file.json")
    (session,) = imports.import_upload(caller, project, upload).sessions
    return session


def contents() -> list[str]:
    return sorted(json.loads(bytes(b.content))[0]["text"] for b in Body.objects.all())


def test_a_session_of_thousands_of_messages_is_emptied(
    caller: Caller, project: Project
) -> None:
    """More of them in one statement than SQLite takes as pairs of session and index."""
    session = made(caller, project, *(Text(f"line {n % 9}") for n in range(2_001)))
    other = made(caller, project, Text("stays"))
    erasing.delete_contents(Session.objects.filter(pk=session.pk))
    assert not session.messages.exists()
    assert other.messages.count() == 1


def test_a_purge_leaves_nothing_of_a_session(caller: Caller, project: Project) -> None:
    session = brought(caller, project, "one", "two")
    (source,) = Source.objects.all()
    assert blobs.path_of(source.sha256).exists()
    for body in Body.objects.all():
        Rendering.objects.create(
            project=project, digest=body.digest, version=1, html="<p>"
        )
    delete_session(caller, session.pk, purge=True)
    for model in (Session, Message, Event, Source, Import, Body, Rendering):
        assert not model.objects.exists(), model
    assert not blobs.path_of(source.sha256).exists()


def test_what_another_session_says_too_stays(caller: Caller, project: Project) -> None:
    first = brought(caller, project, "shared", "own")
    brought(caller, project, "shared", "other")
    delete_session(caller, first.pk, purge=True)
    assert contents() == ["other", "shared"]
    (source,) = Source.objects.all()
    assert blobs.path_of(source.sha256).exists()


def test_a_file_that_another_project_has_stays(
    caller: Caller, project: Project, stranger: User
) -> None:
    session = brought(caller, project, "the same")
    theirs = brought(
        caller_of_user(stranger), Project.objects.get(slug="other"), "the same"
    )
    (name,) = set(Source.objects.values_list("sha256", flat=True))
    delete_session(caller, session.pk, purge=True)
    assert blobs.path_of(name).exists()
    assert Message.objects.filter(session=theirs).exists()
    delete_session(caller_of_user(stranger), theirs.pk, purge=True)
    assert not blobs.path_of(name).exists()


def test_a_picture_goes_with_the_last_who_shows_it(
    caller: Caller, project: Project
) -> None:
    first = made(caller, project, PICTURE, Text("a"))
    second = made(caller, project, PICTURE, Text("b"), PICTURE)
    delete_session(caller, first.pk, purge=True)
    assert Blob.objects.get().sha256 == NAME
    assert blobs.path_of(NAME).exists()
    delete_session(caller, second.pk, purge=True)
    assert not Blob.objects.exists()
    assert not blobs.path_of(NAME).exists()


def test_a_picture_that_an_operation_shows_stays_and_goes_with_its_session(
    caller: Caller, project: Project
) -> None:
    first = made(caller, project, PICTURE)
    second = made(caller, project, Text("b"))
    shown = MadeMessage("user", (PICTURE,), 0)
    edit = Insert(after="m0", messages=(shown,))
    record_edit(caller, second.pk, edit)
    delete_session(caller, first.pk, purge=True)
    assert blobs.path_of(NAME).exists()
    delete_session(caller, second.pk, purge=True)
    assert not blobs.path_of(NAME).exists()
    assert not Blob.objects.exists()


def test_a_deleted_session_is_erased_once_its_time_is_over(
    caller: Caller, project: Project
) -> None:
    old, young = (brought(caller, project, text) for text in ("old", "young"))
    for session in (old, young):
        delete_session(caller, session.pk)
    Session.objects.filter(pk=old.pk).update(
        deleted_at=timezone.now() - erasing.RETENTION - timedelta(minutes=1)
    )
    housekeeping.clean()
    assert list(Session.objects.values_list("pk", flat=True)) == [young.pk]
    assert contents() == ["young"]


def aged(data: bytes) -> Path:
    """A kept file of two days ago."""
    path = blobs.path_of(blobs.store(data))
    os.utime(path, times=(time.time() - 172_800,) * 2)
    return path


def test_old_files_that_no_row_names_go(caller: Caller, project: Project) -> None:
    session = brought(caller, project, "here")
    (source,) = session.sources.all()
    os.utime(blobs.path_of(source.sha256), times=(0, 0))
    orphan, young = aged(b"left over"), blobs.path_of(blobs.store(b"just stored"))
    half = orphan.rename(orphan.parents[1] / "tmpkilled")
    orphan, coming = aged(b"left over"), half.with_name("tmpcoming")
    coming.touch()
    erasing.clean()
    assert not orphan.exists() and not half.exists()
    assert young.exists() and coming.exists()
    assert blobs.path_of(source.sha256).exists()


@pytest.mark.parametrize(
    "keep",
    [
        blobs.store,
        lambda data: blobs.store_stream(io.BytesIO(data)),
        lambda data: blobs.store_pieces([data]),
    ],
    ids=["bytes", "a stream", "pieces"],
)
def test_an_old_file_that_is_kept_once_more_is_not_swept_before_its_row_comes(
    keep: Callable[[bytes], object],
) -> None:
    left = aged(b"left over")
    keep(b"left over")
    erasing.clean()
    assert left.exists()


def test_no_file_goes_while_an_import_waits(caller: Caller, project: Project) -> None:
    session = brought(caller, project, "one")
    (source,) = session.sources.all()
    job = enqueue(project, "import", {}, caller)
    orphan = aged(b"left over")
    delete_session(caller, session.pk, purge=True)
    erasing.clean()
    assert orphan.exists()
    assert blobs.path_of(source.sha256).exists()
    job.delete()
    os.utime(blobs.path_of(source.sha256), times=(0, 0))
    erasing.clean()
    assert not orphan.exists()
    assert not blobs.path_of(source.sha256).exists()


def test_what_can_not_be_removed_does_no_harm(
    caller: Caller,
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    session = brought(caller, project, "one")

    def refuse(_: str) -> None:
        raise PermissionError

    monkeypatch.setattr(blobs, "discard", refuse)
    aged(b"left over")
    delete_session(caller, session.pk, purge=True)
    erasing.clean()
    assert not Session.objects.exists()
    assert len(caplog.records) == 2


def test_an_import_of_several_files_stays_with_the_others(
    caller: Caller, project: Project
) -> None:
    session = brought(caller, project, "one")
    other = Source.objects.create(
        project=project,
        brought_by=Import.objects.get(),
        sha256="0" * 64,
        size=1,
        name="notes.txt",
    )
    delete_session(caller, session.pk, purge=True)
    assert Import.objects.get().sources.get() == other
