"""How soon commits are on the disk."""

from collections.abc import Iterator

import pytest
from django.db import connection, transaction

from threads.commits import on_disk_later

NORMAL, FULL = 1, 2


def synchronous(new: int | None = None) -> int:
    """How SQLite waits for the disk; with `new`, how it waited before."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA synchronous")
        found = int(cursor.fetchone()[0])
        if new is not None:
            cursor.execute(f"PRAGMA synchronous={new}")
    return found


@pytest.fixture
def waiting(transactional_db: None) -> Iterator[None]:
    """Commits wait for the disk, as they do outside of tests."""
    if connection.vendor != "sqlite":
        pytest.skip("it is SQLite alone that is told")
    before = synchronous(FULL)
    yield
    synchronous(before)


def test_commits_within_do_not_wait_for_the_disk_and_those_behind_do(
    waiting: None,
) -> None:
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA journal_mode")
        in_a_row = cursor.fetchone()[0] == "wal"
    with pytest.raises(KeyError), on_disk_later():
        assert synchronous() == (NORMAL if in_a_row else FULL)
        raise KeyError
    assert synchronous() == FULL


def test_within_a_transaction_nothing_changes(waiting: None) -> None:
    with transaction.atomic(), on_disk_later():
        assert synchronous() == FULL


def test_where_commits_do_not_wait_they_do_not_begin_to(waiting: None) -> None:
    synchronous(0)
    with on_disk_later():
        assert synchronous() == 0
    assert synchronous() == 0
