"""Databases of others: what they may make SQLite do is bounded."""

import io

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.databases import database
from threads.domain.formats.io import sqlite_file


def made(definitions: str) -> sqlite_file.SqliteFile:
    return sqlite_file.open_file(io.BytesIO(database(definitions, {})))


def test_a_table_with_a_computed_column_is_not_read() -> None:
    made("CREATE TABLE a (b INTEGER);").require({"a"}, "ours")
    bomb = "CREATE TABLE a (b INTEGER, c TEXT AS (zeroblob(1000000000)) VIRTUAL);"
    with pytest.raises(Invalid, match="not ours"):
        made(bomb).require({"a"}, "ours")


@pytest.mark.parametrize(
    "statement",
    ["INSERT INTO a VALUES (1)", "SELECT load_extension('other')"],
)
def test_it_is_read_and_nothing_else(statement: str) -> None:
    with (
        pytest.raises(Invalid, match="can't be read"),
        made("CREATE TABLE a (b);").opened() as connection,
    ):
        connection.execute(statement).fetchall()
