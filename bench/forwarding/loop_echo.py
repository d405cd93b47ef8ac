"""The peer of `bench.forwarding.loop`: takes a body, inserts one row durably, echoes the body."""

import os
import sqlite3
from pathlib import Path
from typing import Any

from bench.address_server import serve


async def echo(database: sqlite3.Connection, receive: Any, send: Any) -> None:
    """Answer any request with its body."""
    pieces, more = [], True
    while more:
        message = await receive()
        pieces.append(message.get("body", b""))
        more = message.get("more_body", False)
    body = b"".join(pieces)
    database.execute("INSERT INTO request (body) VALUES (?)", (body[-2_000:],))
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def main() -> None:
    """Serve until stopped."""
    path = Path(os.environ["CONTEXTSTUDIO_DATA_DIR"]) / "echo.sqlite3"
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("PRAGMA synchronous=FULL")
    database.execute("CREATE TABLE request (id INTEGER PRIMARY KEY, body BLOB)")

    async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
        await echo(database, receive, send)

    serve(application)


if __name__ == "__main__":
    main()
