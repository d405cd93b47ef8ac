"""What one request closes of SQLite the next one uses, as if it had just been opened."""

import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from copy import deepcopy
from pathlib import Path

import pytest
from django.db import DatabaseError, connection
from django.test import Client

from contextstudio.database import base
from contextstudio.database import spare as spares
from contextstudio.database.spare import SpareConnections

pytestmark = [pytest.mark.sqlite, pytest.mark.django_db(transaction=True)]

Connect = Callable[[], base.DatabaseWrapper]


@pytest.fixture(autouse=True)
def kept(monkeypatch: pytest.MonkeyPatch) -> Iterator[SpareConnections]:
    """Connections that are kept in this test alone."""
    made = SpareConnections()
    made.is_open = True
    monkeypatch.setattr(base, "spare", made)
    yield made
    made.close()


@pytest.fixture
def connect(tmp_path: Path) -> Connect:
    """Connects to a database of one table, each time as another request."""
    settings = deepcopy(connection.settings_dict)
    settings["NAME"] = str(tmp_path / "own.sqlite3")

    def connected() -> base.DatabaseWrapper:
        made = base.DatabaseWrapper(settings, "own")
        made.ensure_connection()
        return made

    first = connected()
    with first.cursor() as cursor:
        cursor.execute("CREATE TABLE said (word TEXT)")
        cursor.executemany("INSERT INTO said VALUES (%s)", [["a"], ["b"], ["c"]])
    first.close()
    return connected


def count(asked: base.DatabaseWrapper) -> int:
    with asked.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM said")
        return int(cursor.fetchone()[0])


def test_the_next_request_uses_the_connection_of_the_one_before(
    connect: Connect,
) -> None:
    first = connect()
    driver = first.connection
    first.close()
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: connect().connection).result() is driver


def test_what_a_request_left_half_read_shows_the_next_one_no_old_rows(
    connect: Connect,
) -> None:
    writer, reader = connect(), connect()
    driver = reader.connection
    half = reader.create_cursor()
    half.execute("SELECT word FROM said")
    assert half.fetchone() == ("a",)
    reader.close()
    with writer.cursor() as cursor:
        cursor.execute("INSERT INTO said VALUES ('d')")
    again = connect()
    assert again.connection is driver
    assert count(again) == 4


def test_none_is_kept_in_the_midst_of_a_transaction(
    connect: Connect, kept: SpareConnections
) -> None:
    broken_off = connect()
    broken_off.set_autocommit(False)
    with broken_off.cursor() as cursor:
        cursor.execute("DELETE FROM said")
    broken_off.close()
    assert count(connect()) == 3


def test_none_is_kept_that_has_failed(connect: Connect) -> None:
    failed = connect()
    driver = failed.connection
    with suppress(DatabaseError), failed.cursor() as cursor:
        cursor.execute("SELECT * FROM nowhere")
    assert failed.errors_occurred
    failed.close()
    assert connect().connection is not driver


def test_none_is_used_for_a_file_that_has_taken_the_place_of_its_own(
    connect: Connect, kept: SpareConnections, tmp_path: Path
) -> None:
    kept.close()  # which writes the log into the file
    shutil.copy(tmp_path / "own.sqlite3", tmp_path / "restored.sqlite3")
    other = connect()
    with other.cursor() as cursor:
        cursor.execute("INSERT INTO said VALUES ('d')")
    other.close()
    for ending in ("-wal", "-shm"):
        (tmp_path / f"own.sqlite3{ending}").unlink(missing_ok=True)
    (tmp_path / "restored.sqlite3").replace(tmp_path / "own.sqlite3")
    assert count(connect()) == 3


def test_no_more_are_kept_than_a_few_and_none_that_is_old(
    connect: Connect, kept: SpareConnections, monkeypatch: pytest.MonkeyPatch
) -> None:
    for one in [connect() for _ in range(spares.MAX_SPARE + 2)]:
        one.close()
    assert len(kept._spare) == spares.MAX_SPARE
    monkeypatch.setattr(spares, "SECONDS", 0.0)
    connect().close()
    assert len(kept._spare) == spares.MAX_SPARE - 1
    kept.close()
    assert not kept._spare


def test_a_command_closes_what_it_has_opened(
    connect: Connect, kept: SpareConnections
) -> None:
    kept.close()
    kept.is_open = False
    command = connect()
    for _ in range(2):
        still_held = command.create_cursor()
        still_held.execute("SELECT word FROM said")
        command.close()
        command.ensure_connection()
        assert still_held.connection is not command.connection
    assert not kept._spare


def test_a_page_is_answered_over_a_connection_that_is_kept(
    agent: Client, kept: SpareConnections
) -> None:
    for _ in range(2):
        assert agent.get("/api/sessions").status_code == 200
        connection.close()
        assert len(kept._spare) == 1
