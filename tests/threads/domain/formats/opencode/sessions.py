"""Sessions of opencode, built and read by tests."""

import json
import sqlite3
from pathlib import Path
from typing import Any

from tests.threads.support import readings
from threads.domain.transcript import Transcript

PNG = "data:image/png;base64,UE5H"
TOKENS = {"input": 5, "output": 4, "reasoning": 3, "cache": {"read": 2, "write": 1}}
Stored = list[tuple[dict[str, Any], list[dict[str, Any]]]]


def info(role: str, id_: str, at: float = 0, **members: Any) -> dict[str, Any]:
    return {
        "id": f"msg_{id_}",
        "sessionID": "ses_1",
        "role": role,
        "time": {"created": at},
    } | members


def text(words: str, **members: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **members}


def tool(id_: str, status: str = "completed", **state: Any) -> dict[str, Any]:
    state = {"status": status, "input": {"at": id_}, **state}
    return {"type": "tool", "callID": id_, "tool": "look", "state": state}


def export(messages: Stored, **session: Any) -> dict[str, Any]:
    return {
        "info": {"id": "ses_1", "title": "A lamp", **session},
        "messages": [{"info": about, "parts": parts} for about, parts in messages],
    }


SAID: Stored = [
    (info("user", "1", 1), [text("One")]),
    (info("assistant", "2", 2), [text("Two"), tool("1", output="x")]),
]


def read(
    *messages: tuple[dict[str, Any], list[dict[str, Any]]], **session: Any
) -> list[Any]:
    return list(read_one(export(list(messages), **session)).items)


def read_one(data: Any) -> Transcript:
    [found] = readings.read(data)
    assert found.format == "opencode"
    return found


SCHEMA = """
CREATE TABLE `session` (id text PRIMARY KEY, parent_id text, title text NOT NULL, model text,
    revert text, time_created integer);
CREATE TABLE `message` (id text PRIMARY KEY, session_id text, time_created integer, data text);
CREATE TABLE `part` (id text PRIMARY KEY, message_id text, session_id text, data text);
"""
CALLED: Stored = [
    (info("user", "1", 1), [text("One")]),
    (
        info("assistant", "2", 2, modelID="m"),
        [tool("1", metadata={"sessionId": "ses_2"}, output="x")],
    ),
]
CHILD: Stored = [(info("user", "9", 3), [text("Dig.")])]


def fill(path: Path, *, journal: str = "DELETE") -> sqlite3.Connection:
    """A database of two sessions, one of which is the other's sub-agent."""
    database = sqlite3.connect(path)
    database.execute(f"PRAGMA journal_mode = {journal}")
    database.executescript(SCHEMA)
    for id_, parent, stored in (("ses_1", None, CALLED), ("ses_2", "ses_1", CHILD)):
        model = json.dumps({"providerID": "google"})
        database.execute(
            "INSERT INTO session VALUES (?, ?, ?, ?, ?, 1)",
            [id_, parent, "A lamp", model, "{"],
        )
        for about, parts in stored:
            data = {k: v for k, v in about.items() if k not in ("id", "sessionID")}
            row = [about["id"], id_, about["time"]["created"], json.dumps(data)]
            database.execute("INSERT INTO message VALUES (?, ?, ?, ?)", row)
            for number, part in enumerate(parts):
                key = f"prt_{about['id']}_{number}"
                database.execute(
                    "INSERT INTO part VALUES (?, ?, ?, ?)",
                    [key, about["id"], id_, json.dumps(part)],
                )
    database.commit()
    return database
