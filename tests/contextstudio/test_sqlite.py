"""A SQLite that can lose committed writes in WAL mode is kept out of it."""

import sqlite3
import sys
from pathlib import Path
from types import ModuleType

import pytest
from django.db import connection

from contextstudio import sqlite


@pytest.mark.parametrize(
    ("version", "mode"),
    [
        ((3, 6, 23), "WAL"),
        ((3, 7, 0), "TRUNCATE"),
        ((3, 40, 1), "TRUNCATE"),
        ((3, 44, 5), "TRUNCATE"),
        ((3, 44, 6), "WAL"),
        ((3, 44, 7), "TRUNCATE"),
        ((3, 50, 7), "WAL"),
        ((3, 51, 2), "TRUNCATE"),
        ((3, 51, 3), "WAL"),
        ((3, 53, 4), "WAL"),
    ],
)
def test_the_journal_mode_follows_the_version(
    version: sqlite.Version, mode: str
) -> None:
    assert sqlite.journal_mode(version) == mode
    assert f"journal_mode={mode};" in str(sqlite.options(version)["init_command"])


def test_the_start_up_output_says_so_where_it_is_not_wal() -> None:
    assert "SQLite 3.40.1" in (sqlite.notice((3, 40, 1)) or "")
    assert sqlite.notice((3, 53, 4)) is None


def test_without_the_bundled_library_the_systems_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    system = ModuleType("sqlite3")
    monkeypatch.setitem(sys.modules, "sqlite3", system)
    monkeypatch.setitem(sys.modules, "pysqlite3", None)
    sqlite.use_bundled_library()
    assert sys.modules["sqlite3"] is system


def test_the_plainest_values_are_bound_as_they_are() -> None:
    sqlite.bind_simple_values_directly()
    database = sqlite3.connect(":memory:")
    values = (None, True, b"\x00ab", memoryview(b"cd"), bytearray(b"ef"), "gh", 1, 1.5)
    asked = ", ".join("?, typeof(?)" for _ in values)
    given = [value for value in values for _ in range(2)]
    found = database.execute(f"SELECT {asked}", given).fetchone()
    database.close()
    assert found[::2] == (None, 1, b"\x00ab", b"cd", b"ef", "gh", 1, 1.5)
    assert " ".join(found[1::2]) == "null integer blob blob blob text integer real"


@pytest.mark.sqlite
def test_the_connection_has_the_mode_that_its_own_library_allows(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT sqlite_version()")
        version = tuple(map(int, cursor.fetchone()[0].split(".")))
        cursor.execute("PRAGMA journal_mode")
        mode = cursor.fetchone()[0]
    assert version == sqlite.version_in_use()
    assert mode == sqlite.journal_mode(sqlite.version_in_use()).lower()


def test_a_database_that_is_made_anew_has_large_pages(tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / "new.sqlite3")
    database.executescript(str(sqlite.options((3, 53, 4))["init_command"]))
    database.execute("CREATE TABLE one (id)")
    assert database.execute("PRAGMA page_size").fetchone() == (sqlite.PAGE_BYTES,)
    database.close()


def test_a_log_that_has_grown_is_cut_once_it_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "new.sqlite3"
    database = sqlite3.connect(path, isolation_level=None)
    database.executescript(str(sqlite.options((3, 53, 4))["init_command"]))
    database.execute("PRAGMA wal_autocheckpoint=0")
    database.execute("CREATE TABLE one (content BLOB)")
    database.execute("INSERT INTO one VALUES (zeroblob(?))", [sqlite.LOG_BYTES])
    log = path.with_name("new.sqlite3-wal")
    assert log.stat().st_size > sqlite.LOG_BYTES
    database.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    database.execute("INSERT INTO one VALUES ('more')")
    assert log.stat().st_size == sqlite.LOG_BYTES
    database.close()


def test_writers_wait_for_one_another_and_commits_reach_the_disk() -> None:
    options = sqlite.options((3, 53, 4))
    assert options["transaction_mode"] == "IMMEDIATE"
    assert options["timeout"] == 20
    assert "synchronous=FULL" in str(options["init_command"])


@pytest.mark.parametrize("words", [10, 10_000])
def test_what_is_deleted_is_not_left_in_the_file(tmp_path: Path, words: int) -> None:
    database = sqlite3.connect(tmp_path / "new.sqlite3")
    database.executescript(str(sqlite.options((3, 53, 4))["init_command"]))
    database.execute("CREATE TABLE one (id, body)")
    database.execute("INSERT INTO one VALUES (1, ?), (2, 'kept')", ("gone " * words,))
    database.commit()
    database.execute("DELETE FROM one WHERE id = 1")
    database.commit()
    database.close()
    left = (tmp_path / "new.sqlite3").read_bytes()
    assert (b"gone" in left, b"kept" in left) == (False, True)
