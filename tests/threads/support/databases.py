"""SQLite databases as tests make them, and as parsers are given them."""

import json
import sqlite3
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any


def database(definitions: str, rows: Mapping[str, Iterable[tuple[Any, ...]]]) -> bytes:
    """The bytes of a database with these tables, and these rows in them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.db"
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(definitions)
            for table, given in rows.items():
                for row in given:
                    marks = ", ".join("?" * len(row))
                    connection.execute(f"INSERT INTO {table} VALUES ({marks})", row)
            connection.commit()
        return path.read_bytes()


def logged(
    definitions: str, table: str, rows: Iterable[tuple[Any, ...]]
) -> dict[str, bytes]:
    """A database whose rows are only in its WAL; maps suffixes of file names to contents."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.db"
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript(definitions)
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            for row in rows:
                marks = ", ".join("?" * len(row))
                connection.execute(f"INSERT INTO {table} VALUES ({marks})", row)
            connection.commit()
            return {
                "": path.read_bytes(),
                "-wal": Path(f"{path}-wal").read_bytes(),
            }


def _json(value: Any) -> str:
    return json.dumps(value)


OF_DATABASES: dict[str, bytes] = {
    "crush": database(
        """CREATE TABLE sessions (id TEXT, parent_session_id TEXT, title TEXT, created_at INTEGER);
        CREATE TABLE messages (
            id TEXT, session_id TEXT, role TEXT, parts TEXT, created_at INTEGER
        );""",
        {
            "sessions": [("5e55-60", None, "Lamps", 1)],
            "messages": [
                (
                    "a",
                    "5e55-60",
                    "user",
                    _json([{"type": "text", "data": {"text": "Look."}}]),
                    1,
                )
            ],
        },
    ),
    "cursor_cli": database(
        "CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB);"
        "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);",
        {
            "blobs": [
                ("01" * 32, b'{"role": "user", "content": "Look."}'),
                ("02" * 32, b"\x0a\x20" + b"\x01" * 32),
            ],
            "meta": [("0", _json({"latestRootBlobId": "02" * 32}).encode().hex())],
        },
    ),
    "goose, a database": database(
        """CREATE TABLE sessions (id TEXT, name TEXT, working_dir TEXT, created_at TEXT);
        CREATE TABLE messages (
            session_id TEXT, role TEXT, content_json TEXT, created_timestamp INTEGER
        );""",
        {
            "sessions": [("s", "Lamps", "/home/x", "2026-03-02 10:00:00")],
            "messages": [("s", "user", _json([{"type": "text", "text": "Look."}]), 1)],
        },
    ),
    "open_webui, a database": database(
        """CREATE TABLE chat (id TEXT, user_id TEXT, title TEXT, chat JSON, created_at INTEGER,
        share_id TEXT);""",
        {
            "chat": [
                (
                    "w",
                    "u",
                    "Lamps",
                    _json(
                        {"messages": [{"id": "1", "role": "user", "content": "Look."}]}
                    ),
                    1,
                    None,
                )
            ]
        },
    ),
    "cursor": database(
        "CREATE TABLE cursorDiskKV (key TEXT UNIQUE, value BLOB);",
        {
            "cursorDiskKV": [
                (
                    "composerData:c",
                    _json({"fullConversationHeadersOnly": [{"bubbleId": "b"}]}),
                ),
                ("bubbleId:c:b", _json({"type": 1, "text": "Look."})),
            ]
        },
    ),
    "zed, a database": database(
        """CREATE TABLE threads (id TEXT, summary TEXT, updated_at TEXT, data_type TEXT,
        data BLOB);""",
        {
            "threads": [
                (
                    "t",
                    "Lamps",
                    "2026",
                    "json",
                    _json({"messages": [{"User": {"content": [{"Text": "Hi."}]}}]}),
                )
            ]
        },
    ),
}
"""Small databases of every program that stores conversations in one: see `specimens`."""
