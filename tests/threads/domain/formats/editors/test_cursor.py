"""Cursor's state: conversations and their bubbles."""

import json
from typing import Any

from tests.threads.support.databases import database
from tests.threads.support.readings import events, messages, parts, read
from threads.domain.message import Usage
from threads.domain.part import Text, Thinking, ToolCall, ToolResult

TABLES = """
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
"""


def bubble(id_: str, type_: int, **members: Any) -> tuple[str, str]:
    value = {
        "bubbleId": id_,
        "type": type_,
        "createdAt": "2026-03-02T10:00:00Z",
        **members,
    }
    return f"bubbleId:c-1:{id_}", json.dumps(value)


def composer(id_: str, **members: Any) -> tuple[str, str]:
    return f"composerData:{id_}", json.dumps({"composerId": id_, **members})


def test_a_conversation_is_its_bubbles_in_their_order() -> None:
    def tool(id_: str, **members: Any) -> dict[str, Any]:
        return {"toolCallId": id_, "name": "look", **members}

    names = ["u", "t", "a", "b", "e", "x", "gone"]
    headers = [{"bubbleId": name} for name in names]
    rows = [
        composer(
            "c-1",
            name="Lamps",
            modelConfig={"modelName": "m-1"},
            fullConversationHeadersOnly=headers,
        ),
        bubble("u", 1, text="Look."),
        bubble(
            "t",
            2,
            thinking={"text": "Hm.", "signature": "seal"},
            tokenCount={"inputTokens": 5},
        ),
        bubble(
            "a", 2, toolFormerData=tool("c1", rawArgs='{"lamp": 1}', result="It glows.")
        ),
        bubble(
            "b",
            2,
            toolFormerData=tool(
                "c2", params={"a": 1}, error={"m": "No."}, status="error"
            ),
        ),
        bubble("e", 2, toolFormerData=tool("c3")),
        ("bubbleId:c-1:x", "{"),
        ("messageRequestContext:c-1", "{}"),
    ]

    [found] = read(database(TABLES, {"cursorDiskKV": rows}))

    assert (found.format, found.title, found.external_id) == ("cursor", "Lamps", "c-1")
    assert found.model == "m-1"
    assert parts(found) == [
        (Text("Look."),),
        (Thinking("Hm.", "seal"),),
        (ToolCall("c1", "look", {"lamp": 1}),),
        (ToolResult("c1", (Text("It glows."),), "look"),),
        (ToolCall("c2", "look", {"a": 1}),),
        (ToolResult("c2", (Text('{"m": "No."}'),), "look", True),),
        (ToolCall("c3", "look", {}),),
    ]
    assert messages(found)[1].usage == Usage(input_tokens=5)
    assert messages(found)[0].records == ("row:cursorDiskKV/2",)
    assert events(found) == ["bubble", "bubble"]
    assert len(found.warnings) == 1


def test_an_older_conversation_holds_its_bubbles_itself() -> None:
    inline = [{"type": 1, "text": "Look."}, {"type": 2, "rawText": "Dark."}]
    rows = [
        composer("c-1", conversation=inline),
        ("composerData:c-2", json.dumps({"conversation": []})),
        ("composerData:c-3", "{"),
    ]

    [found] = read(database(TABLES, {"cursorDiskKV": rows}))

    assert (found.title, found.external_id) == ("Look.", "c-1")
    assert [message.role for message in messages(found)] == ["user", "assistant"]
