"""The drill: a backup taken while writers write is a whole installation, and goes on as one."""

import base64
import hashlib
import subprocess
import threading
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from contextstudio.accounts.domain.errors import Conflict
from contextstudio.accounts.models import User
from contextstudio.backup import archive
from contextstudio.backup.archive import BrokenBackup
from tests.servers import PATIENCE_SECONDS, Server, StartServer

WRITERS = 4
SECONDS_BETWEEN = 0.1
"""A pause of each writer: what is tested is that they write meanwhile, not how much."""
IMAGE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
MESSAGES = [
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "What is on this picture?"},
            {
                "type": "image_url",
                "image_url": {
                    "url": f"data:image/png;base64,{base64.b64encode(IMAGE).decode()}"
                },
            },
        ],
    },
    {"role": "assistant", "content": "One dot."},
]


class Writers:
    """Clients that tag a message again and again; `acknowledged` are the tags they may rely on."""

    def __init__(self, client: httpx.Client, session: str) -> None:
        self.client, self.session = client, session
        self.acknowledged: list[str] = []
        self.enough = threading.Event()
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._write, args=(number,))
            for number in range(WRITERS)
        ]

    def __enter__(self) -> "Writers":
        for thread in self._threads:
            thread.start()
        assert self.enough.wait(PATIENCE_SECONDS)
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _write(self, number: int) -> None:
        count = 0
        while not self._stop.is_set():
            tag, count = f"w{number}-{count}", count + 1
            edit = {"type": "tag", "targets": ["m0"], "tags": [tag]}
            path = f"/api/sessions/{self.session}/operations"
            answer = self.client.post(path, json=edit)
            assert answer.status_code == 201, answer.text
            self.acknowledged.append(tag)
            if len(self.acknowledged) > 2 * WRITERS:
                self.enough.set()
            self._stop.wait(SECONDS_BETWEEN)


def client_of(server: Server, key: str) -> httpx.Client:
    headers = {"Authorization": f"Bearer {key}"}
    return httpx.Client(base_url=server.url, headers=headers, timeout=PATIENCE_SECONDS)


def messages_of(client: httpx.Client, session: str) -> list[dict[str, Any]]:
    """All but their tags, which writers go on giving."""
    found = client.get(f"/api/sessions/{session}/messages").json()["items"]
    return [{**one, "tags": None} for one in found]


def tags_of(client: httpx.Client, session: str) -> list[str]:
    """Every tag that the log has, whose numbers have no gap."""
    path, tags, numbers = f"/api/sessions/{session}/log", [], []
    query: dict[str, Any] = {"limit": 200}
    while True:
        page = client.get(path, params=query).json()
        tags += [tag for one in page["items"] for tag in one["entry"]["tags"]]
        numbers += [one["number"] for one in page["items"]]
        if not page["next_cursor"]:
            break
        query["cursor"] = page["next_cursor"]
    assert sorted(numbers) == list(range(1, len(numbers) + 1))
    return tags


def test_what_was_acknowledged_before_a_backup_is_in_what_is_made_of_it(
    start_server: StartServer, empty_server: Server, tmp_path: Path
) -> None:
    server, file = start_server(), tmp_path / "studio.backup"
    key = server.key()
    with client_of(server, key) as client:
        body = {"title": "To keep", "messages": MESSAGES}
        session = client.post("/api/sessions", json=body).json()["id"]
        with Writers(client, session) as writers:
            before = list(writers.acknowledged)
            server.command("backup", str(file))
        messages = messages_of(client, session)
    assert file.stat().st_mode & 0o077 == 0
    assert server.command("verify", str(file)).startswith("The backup is complete: ")

    empty_server.command("restore", str(file))
    assert empty_server.command("verify").endswith("is complete and undamaged.")
    blob = hashlib.sha256(IMAGE).hexdigest()
    assert (empty_server.folder / "blobs" / blob[:2] / blob).read_bytes() == IMAGE
    empty_server.start()
    with client_of(empty_server, key) as client:
        assert messages_of(client, session) == messages
        tags = tags_of(client, session)
        assert set(before) <= set(tags)
        assert set(tags) <= set(writers.acknowledged)
        more = {"messages": [{"role": "user", "content": "And now?"}]}
        path = f"/api/sessions/{session}/messages"
        assert client.post(path, json=more).status_code == 201


@pytest.mark.django_db(transaction=True)
def test_a_damaged_backup_changes_nothing_and_a_whole_one_overwrites_nothing(
    owner: User, empty_server: Server, tmp_path: Path
) -> None:
    file = tmp_path / "studio.backup"
    call_command("backup", str(file), stdout=StringIO())
    with pytest.raises(Conflict, match="already exists"):
        call_command("backup", str(file))
    with pytest.raises(Conflict, match="is not empty"):
        call_command("restore", str(file))

    data = file.read_bytes()
    broken = tmp_path / "broken.backup"
    for spoiled in (data[: len(data) // 2], data[:5000] + b"?" + data[5001:], b""):
        broken.write_bytes(spoiled)
        for command in ("verify", "restore"):
            with pytest.raises(BrokenBackup, match=r"broken\.backup"):
                call_command(command, str(broken))
    assert "broken.backup" in refusal(empty_server, "restore", str(broken))
    assert not (empty_server.folder / "blobs").exists()
    # With a key of its own, nothing has made the folder before. On SQLite the tests' database has
    # smaller pages than a new one, as those of earlier versions have.
    empty_server.folder /= "new"
    empty_server.variables["SECRET_KEY"] = "k" * 50
    empty_server.command("restore", str(file))
    assert empty_server.command("verify").endswith("is complete and undamaged.")


def test_nothing_is_backed_up_of_an_empty_database_and_nothing_where_no_file_can_be(
    empty_server: Server, tmp_path: Path
) -> None:
    file = tmp_path / "studio.backup"
    assert "is empty: there is nothing" in refusal(empty_server, "backup", str(file))
    empty_server.command("migrate")
    file.write_bytes(b"")
    said = refusal(empty_server, "backup", str(file / "below"))
    assert said.startswith(f"{file / 'below'} can't be written: ")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("app", ["threads", "an_app_of_tomorrow"])
def test_a_backup_of_a_newer_version_is_refused(app: str, tmp_path: Path) -> None:
    file, applied = tmp_path / "studio.backup", MigrationRecorder(connection)
    applied.record_applied(app, "9999_of_tomorrow")
    try:
        call_command("backup", str(file), stdout=StringIO())
    finally:
        applied.record_unapplied(app, "9999_of_tomorrow")
    with pytest.raises(Conflict, match="made by a newer version"):
        call_command("restore", str(file))


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestOfTomorrow(archive.Manifest):
    """One that says more than today's."""

    said_tomorrow: str = ""


def test_a_backup_that_holds_more_than_this_version_knows_is_refused(
    tmp_path: Path,
) -> None:
    file, more = tmp_path / "studio.backup", tmp_path / "more"
    more.write_bytes(b"more")
    told: dict[str, Any] = {
        "vendor": "sqlite",
        "created_at": "",
        "migrations": {},
        "rows": {},
        "key_fingerprint": "",
    }
    with archive.writing(file) as writer:
        writer.finish(ManifestOfTomorrow(**told))
    with pytest.raises(BrokenBackup, match="made by a newer version"):
        archive.verify(file)
    with archive.writing(file) as writer:
        writer.add("more", more)
        writer.finish(archive.Manifest(**told))
    with pytest.raises(BrokenBackup, match="'more', which this version doesn't know"):
        archive.verify(file)


def refusal(server: Server, *arguments: str) -> str:
    """What a command that fails says."""
    with pytest.raises(subprocess.CalledProcessError) as failed:
        server.command(*arguments)
    return str(failed.value.stderr)
