"""A server on a database that an earlier version filled answers as that version did.

Where it is meant to answer otherwise since, the answers that are expected say so: the slice that
waits there is sent beside the open turn, originals are
answered with their tags, and tools say each text once.
"""

import gzip
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.servers import PATIENCE_SECONDS

from .old_databases import NAME, SECRET
from .old_databases.answers import known, read, without_sentences
from .servers import Server

FOLDER = Path(__file__).with_name("old_databases")
VERSIONS = sorted(path.parent.name for path in FOLDER.glob(f"*/{NAME}"))

pytestmark = pytest.mark.sqlite


class OldServer(Server):
    def environment(self) -> dict[str, str]:
        return super().environment() | {"SECRET_KEY": SECRET}


@pytest.fixture(scope="module", params=VERSIONS)
def old(request: pytest.FixtureRequest) -> Path:
    return FOLDER / str(request.param)


@pytest.fixture(scope="module")
def client(
    old: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[httpx.Client]:
    """At a server that has migrated the database as it started."""
    data = tmp_path_factory.mktemp("old")
    with gzip.open(old / NAME) as packed, (data / Path(NAME).stem).open("wb") as file:
        shutil.copyfileobj(packed, file)
    shutil.copytree(old / "blobs", data / "blobs")
    server = OldServer(data).start()
    headers = {"Authorization": f"Bearer {(old / 'key').read_text()}"}
    with httpx.Client(
        base_url=server.url, headers=headers, timeout=PATIENCE_SECONDS
    ) as client:
        yield client
    server.kill()


def test_there_is_a_database_to_open() -> None:
    assert VERSIONS


def test_all_that_it_holds_reads_as_it_did(client: httpx.Client, old: Path) -> None:
    expected = without_sentences(json.loads((old / "answers.json").read_text()))
    answers = known(without_sentences(read(client)), expected)
    assert answers.keys() == expected.keys()
    assert answers["sessions"].keys() == expected["sessions"].keys()
    for title, session in expected["sessions"].items():
        for name, value in session.items():
            assert answers["sessions"][title][name] == value, (title, name)
    assert answers == expected


def test_its_log_holds_every_kind_of_entry(client: httpx.Client, old: Path) -> None:
    expected = json.loads((old / "answers.json").read_text())
    logs = [session["log"]["items"] for session in expected["sessions"].values()]
    edits = "tag digest revise snip condense insert resequence replace redact"
    controls = "toggle revert accept reject amend activate_tags purge undo redo"
    found = {entry["type"] for log in logs for entry in log}
    assert found == {*edits.split(), *controls.split()}


def test_its_log_goes_on(client: httpx.Client) -> None:
    [ferries] = client.get("/api/sessions", params={"q": "Ferries"}).json()["items"]
    path = f"/api/sessions/{ferries['id']}"
    head = client.get(f"{path}/thread").json()["head"]
    edit = {"type": "snip", "range": [1, 1], "expected_head": head}
    made = client.post(f"{path}/operations", json=edit)
    assert (made.status_code, made.json()["head"]) == (201, head + 1)
    shown = client.get(f"{path}/thread", params={"view": "effective"}).json()["nodes"]
    assert shown
    assert "m1" not in {node["key"] for node in shown}
