"""The database of Cursor's CLI: the messages that its root names."""

import hashlib
import json
from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.databases import database, logged
from tests.threads.support.folders import folder
from tests.threads.support.readings import events, messages, parts, read, texts, told
from threads.domain.formats.ai_sdk import cursor_cli
from threads.domain.message import Role
from threads.domain.part import Text, Thinking, ToolCall, ToolResult

TABLES = """
CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB);
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);
"""
CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "You mend lamps."},
    {"role": "user", "content": [{"type": "text", "text": "Look."}]},
    {
        "role": "assistant",
        "id": "1",
        "content": [
            {"type": "reasoning", "text": "Hm."},
            {
                "type": "tool-call",
                "toolCallId": "c1",
                "toolName": "look",
                "args": {"at": 1},
            },
        ],
    },
    {
        "role": "tool",
        "content": [
            {
                "type": "tool-result",
                "toolCallId": "c1",
                "toolName": "look",
                "result": "Dark.",
            }
        ],
    },
]


def blob(data: bytes) -> tuple[str, bytes]:
    return hashlib.sha256(data).hexdigest(), data


def root_of(blobs: list[tuple[str, bytes]], more: bytes = b"") -> tuple[str, bytes]:
    names = b"".join(b"\x0a\x20" + bytes.fromhex(id_) for id_, _ in blobs)
    return blob(names + more)


def head(root: str, **members: Any) -> tuple[str, str]:
    facts = {"agentId": "a-1", "latestRootBlobId": root, "name": "Lamps", **members}
    return "0", json.dumps(facts).encode().hex()


def store(*given: Any, more: bytes = b"", beside: Any = (), **members: Any) -> bytes:
    """A database whose root names these messages."""
    said = [blob(json.dumps(one).encode()) for one in given]
    root = root_of(said, more)
    extra = [blob(data) for data in beside]
    rows = {"blobs": [*extra, *said, root], "meta": [head(root[0], **members)]}
    return database(TABLES, rows)


def test_a_conversation_is_what_the_root_names_in_its_order() -> None:
    workspace = b"\x4a\x08/home/me"
    before = b'{"role":"user","content":"What was summed up."}'
    data = store(*CHAT, more=workspace, beside=[before], lastUsedModel="m-1")
    [found] = read(data)
    assert (found.format, found.title, found.external_id, found.model) == (
        "cursor_cli",
        "Lamps",
        "a-1",
        "m-1",
    )
    assert parts(found) == [
        (Text("You mend lamps."),),
        (Text("Look."),),
        (Thinking("Hm."), ToolCall("c1", "look", {"at": 1})),
        (ToolResult("c1", (Text("Dark."),), "look"),),
    ]
    assert [message.role for message in messages(found)] == [
        Role.SYSTEM,
        Role.USER,
        Role.ASSISTANT,
        Role.TOOL,
    ]
    assert messages(found)[0].records == ("row:blobs/2",)
    assert events(found) == ["blob"]
    assert not found.warnings


def test_what_cannot_be_read_is_an_event_with_a_warning() -> None:
    said = [
        blob(b'{"role": "user", "content": "Look."}'),
        blob(b"{"),
        blob(b'{"a": 1}'),
    ]
    root = root_of([*said, ("ab" * 32, b"")])
    rows = {"blobs": [*said, root], "meta": [head(root[0])]}
    [found] = read(database(TABLES, rows))
    assert texts(found) == ["Look."]
    assert events(found) == ["unreadable", "unreadable"]
    assert [one.code for one in found.warnings][-1] == "blob_missing"
    assert len(found.warnings) == 3


@pytest.mark.parametrize("value", ["", "zz", "7b7d"])
def test_another_program_s_database_of_blobs_is_refused(value: str) -> None:
    data = database(TABLES, {"meta": [("0", value)]})
    with pytest.raises(Invalid, match="not one of Cursor's CLI"):
        read(data)


def test_messages_in_the_log_beside_it_are_read() -> None:
    said = [blob(json.dumps(CHAT[1]).encode())]
    root = root_of(said)
    name, value = head(root[0])
    tables = f"{TABLES}INSERT INTO meta VALUES ('{name}', '{value}');"
    files = {
        f"store.db{end}": data
        for end, data in logged(tables, "blobs", [*said, root]).items()
    }
    [found] = cursor_cli.FORMAT.gather(folder(files))  # type: ignore[misc]
    assert told(found.transcripts[0]) == ["user: Look."]
