"""Recordings of requests are cleaned before they are kept, however they come."""

import gzip
import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client

from contextstudio.accounts.models import Project, User
from tests.threads.imports.uploads import CHAT, upload
from tests.threads.support.recordings import COOKIE, KEY, entry, har
from threads.models import Import, Session, Source
from threads.store import blobs

ASKED = {"messages": [{"role": "user", "content": "Where does the ferry land?"}]}
REPLY = {"choices": [{"message": {"role": "assistant", "content": "At the pier."}}]}
RECORDING = har(
    entry("https://api.openai.com/v1/chat/completions", ASKED, REPLY),
    entry("https://example.org/login", f"password={KEY}", KEY),
)


def zipped(**files: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in files.items():
            archive.writestr(f"{name}.json", data)
    return file.getvalue()


def assert_nothing_secret_is_kept(folder: Path) -> None:
    kept = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    assert kept
    for data in kept:
        assert KEY.encode() not in data and COOKIE.encode() not in data
        assert data[:2] not in (b"PK", b"\x1f\x8b")


@pytest.fixture
def folder(settings: Any, tmp_path: Path) -> Path:
    settings.BLOB_DIR = tmp_path / "blobs"
    return tmp_path / "blobs"


def test_a_recording_that_is_uploaded_is_cleaned(agent: Client, folder: Path) -> None:
    answer = upload(agent, RECORDING, name="calls.har")
    assert answer.status_code == 201
    assert [one["format"] for one in answer.json()["sessions"]] == ["har"]
    assert [one["code"] for one in answer.json()["warnings"]] == ["recording_cleaned"]
    assert_nothing_secret_is_kept(folder)
    source = Source.objects.get()
    assert blobs.read(source.sha256).startswith(b'{"log": ')
    assert Import.objects.get().sha256 == source.sha256


def test_a_recording_that_is_pasted_is_cleaned(
    client: Client, editor: User, folder: Path
) -> None:
    client.force_login(editor)
    pasted = {"text": RECORDING.decode()}
    answer = client.post("/sessions/import", pasted, headers={"HX-Request": "true"})
    assert answer["HX-Redirect"] == f"/sessions/{Session.objects.get().pk}/"
    assert_nothing_secret_is_kept(folder)
    assert Import.objects.get().sha256 == Source.objects.get().sha256


def test_the_same_recording_is_known_again(agent: Client, folder: Path) -> None:
    assert upload(agent, RECORDING).status_code == 201
    assert upload(agent, RECORDING).status_code == 200
    assert Session.objects.count() == 1


@pytest.mark.parametrize(
    "packed",
    [
        gzip.compress(RECORDING),
        zipped(calls=RECORDING),
        zipped(calls=RECORDING, chat=CHAT, inner=zipped(again=RECORDING)),
    ],
    ids=["gzip", "zip", "zip in zip"],
)
def test_an_archive_with_a_recording_goes_once_its_files_are_here(
    agent: Client,
    folder: Path,
    packed: bytes,
    django_capture_on_commit_callbacks: Any,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        assert upload(agent, packed, name="calls.zip").status_code == 201
    assert_nothing_secret_is_kept(folder)
    assert Import.objects.get().sha256 == ""


def test_files_that_come_together_are_cleaned_each(agent: Client, folder: Path) -> None:
    files = [
        SimpleUploadedFile(name, data)
        for name, data in (("a.har", RECORDING), ("b.json", CHAT))
    ]
    answer = agent.post("/api/sessions/import", {"file": files})
    assert answer.status_code == 201
    assert len(answer.json()["sessions"]) == 2
    assert_nothing_secret_is_kept(folder)


def test_the_command_cleans_them_too(
    owner: User, project: Project, folder: Path, tmp_path: Path
) -> None:
    place = tmp_path / "recordings"
    place.mkdir()
    (place / "calls.har").write_bytes(RECORDING)
    call_command("import_session", str(place / "calls.har"), project=project.slug)
    call_command("import_session", str(place), project=project.slug)
    assert_nothing_secret_is_kept(folder)
