"""How soon commits are on the disk."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction

from contextstudio.database.write_queue import queue_of
from threads.store import commits
from threads.store.commits import deferred_sync

NORMAL, FULL = 1, 2
NAME = "synchronous" if connection.vendor == "sqlite" else "synchronous_commit"


def asked(statement: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchone()[0]


def synchronous() -> Any:
    """How the database waits for the disk."""
    return asked(f"{'PRAGMA' if connection.vendor == 'sqlite' else 'SHOW'} {NAME}")


def wait(how: Any) -> None:
    """Let it wait so."""
    verb = "PRAGMA" if connection.vendor == "sqlite" else "SET"
    with connection.cursor() as cursor:
        cursor.execute(f"{verb} {NAME}={how}")


@pytest.fixture
def waits(transactional_db: None) -> Iterator[Any]:
    """Commits wait for the disk, as they do outside of tests: how that is called."""
    before, full = synchronous(), FULL if connection.vendor == "sqlite" else "on"
    wait(full)
    yield full
    wait(before)


def test_commits_within_do_not_wait_for_the_disk_and_those_behind_do(
    waits: Any,
) -> None:
    is_sqlite = connection.vendor == "sqlite"
    in_a_row = is_sqlite and asked("PRAGMA journal_mode") == "wal"
    with pytest.raises(KeyError), deferred_sync():
        assert synchronous() == (NORMAL if in_a_row else waits)
        raise KeyError
    assert synchronous() == waits


def test_within_a_transaction_nothing_changes(waits: Any) -> None:
    with transaction.atomic(), deferred_sync():
        assert synchronous() == waits


def test_where_commits_do_not_wait_they_do_not_begin_to(waits: Any) -> None:
    none = 0 if connection.vendor == "sqlite" else "off"
    wait(none)
    with deferred_sync():
        assert synchronous() == none
    assert synchronous() == none


def test_the_log_begins_anew_where_one_writes_without_a_pause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else one commit would have to cut a log of gigabytes."""
    monkeypatch.setattr(commits, "MAX_PAGES", 0)
    path = tmp_path / "log.sqlite3"
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA wal_autocheckpoint=0")
        database.execute("CREATE TABLE kept (words BLOB)")
        checkpoints = commits.Checkpoints(str(path))
        checkpoints.start()
        longest = 0
        for _ in range(20):
            database.execute("INSERT INTO kept VALUES (zeroblob(400000))")
            longest = max(longest, Path(f"{path}-wal").stat().st_size)
            checkpoints.catch_up()
        checkpoints.end()
        checkpoints.catch_up()  # nobody waits any more
        checkpoints.join()
    assert longest < 3 * 400_000


@pytest.mark.sqlite
def test_a_writer_waits_for_the_disk_when_others_may_write(
    waits: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = []
    line = queue_of(str(connection.settings_dict["NAME"]))

    def catch_up(_: commits.Checkpoints) -> None:
        free.append(line.acquire(0))
        line.release()

    monkeypatch.setattr(commits.Checkpoints, "catch_up", catch_up)
    with deferred_sync():
        in_a_row = synchronous() == NORMAL
        with transaction.atomic():
            assert not line.acquire(0)
        assert free == [True] * in_a_row
    with transaction.atomic():
        pass
    assert free == [True] * in_a_row
