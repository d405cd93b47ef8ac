"""How soon commits are on the disk."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection, transaction

from threads.store.commits import on_disk_later

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
    with pytest.raises(KeyError), on_disk_later():
        assert synchronous() == (NORMAL if in_a_row else waits)
        raise KeyError
    assert synchronous() == waits


def test_within_a_transaction_nothing_changes(waits: Any) -> None:
    with transaction.atomic(), on_disk_later():
        assert synchronous() == waits


def test_where_commits_do_not_wait_they_do_not_begin_to(waits: Any) -> None:
    none = 0 if connection.vendor == "sqlite" else "off"
    wait(none)
    with on_disk_later():
        assert synchronous() == none
    assert synchronous() == none
