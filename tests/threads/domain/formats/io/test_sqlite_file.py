"""Databases of others: what they may make SQLite do is bounded."""

import io
import struct

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


def endless() -> bytes:
    """A database of a few pages, in which a table has more rows than anybody can read."""
    tables = (
        "PRAGMA page_size = 4096; CREATE TABLE a (b TEXT); CREATE TABLE c (d BLOB);"
    )
    data = bytearray(database(tables, {"a": [("words",)], "c": [(bytes(40_000),)]}))
    pages = [1, 3, 4, 5, 6, 7]  # the root of the table, and pages of the other
    leaf = bytes(data[4096:8192])
    data[7 * 4096 : 8 * 4096] = leaf
    for page, child in zip(pages, [4, 5, 6, 7, 8], strict=False):
        cells = [struct.pack(">IB", child, 1)] * 500
        begin = 4096 - 5 * len(cells)
        places = [begin + 5 * n for n in range(len(cells))]
        head = struct.pack(">BHHHBI", 5, 0, len(cells), begin, 0, child)
        listed = struct.pack(f">{len(places)}H", *places)
        whole = (head + listed).ljust(begin, b"\0") + b"".join(cells)
        data[page * 4096 : (page + 1) * 4096] = whole
    return bytes(data)


@pytest.mark.parametrize("query", ["SELECT b FROM a", "SELECT b FROM a ORDER BY b"])
def test_a_table_without_an_end_is_not_read_for_ever(query: str) -> None:
    file = sqlite_file.open_file(io.BytesIO(endless()))
    with (
        pytest.raises(Invalid, match="more than its bytes") as refusal,
        file.opened() as connection,
    ):
        connection.execute(query).fetchall()

    assert refusal.value.code == "database_broken"
    with pytest.raises(Invalid), file.opened() as connection:  # nor is it begun again
        connection.execute("SELECT b FROM a").fetchone()


def test_what_is_read_of_one_row_again_and_again_comes_to_an_end() -> None:
    data = database("CREATE TABLE a (b BLOB);", {"a": [(bytes(1 << 20),)]})
    file = sqlite_file.open_file(io.BytesIO(data))

    with pytest.raises(Invalid, match="more than its bytes"):
        for _ in range(1_000):
            with file.opened() as connection:
                connection.execute("SELECT b FROM a").fetchone()
