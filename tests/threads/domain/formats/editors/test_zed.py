"""Zed's threads: as JSON, and packed in its database."""

import base64
import json
from typing import Any

import pytest
import zstandard

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.databases import database
from tests.threads.support.readings import events, messages, parts, read, texts
from threads.domain.formats.editors import zed
from threads.domain.part import Image, Opaque, Text, Thinking, ToolCall, ToolResult
from threads.domain.transcript import Parent, Relation

PNG = base64.b64encode(b"PNG").decode()
TABLE = """CREATE TABLE threads (
    id TEXT PRIMARY KEY, summary TEXT NOT NULL, updated_at TEXT NOT NULL,
    data_type TEXT NOT NULL, data BLOB NOT NULL, parent_id TEXT
);"""


def user(*content: Any) -> dict[str, Any]:
    return {"User": {"id": "u-1", "content": list(content)}}


def agent(*content: Any, **results: Any) -> dict[str, Any]:
    return {"Agent": {"content": list(content), "tool_results": results}}


def thread(*given: Any, **members: Any) -> dict[str, Any]:
    model = {"provider": "zed.dev", "model": "m-1"}
    return {
        "version": "0.3.0",
        "title": "Lamps",
        "model": model,
        "messages": list(given),
        **members,
    }


def test_an_agents_message_is_an_answer_and_its_results() -> None:
    use = {"id": "c1", "name": "look", "raw_input": "{}", "input": {"lamp": 1}}
    mention = {"Mention": {"uri": "file:///a", "content": "x = 1"}}
    bare = {"Mention": {"uri": "file:///b"}}
    image = {"Image": {"source": PNG}}
    glows = {
        "tool_use_id": "c1",
        "tool_name": "look",
        "is_error": False,
        "content": [{"Text": "It glows."}, image],
    }
    told = {
        "tool_use_id": "c2",
        "is_error": True,
        "content": {"Text": ""},
        "output": {"a": 1},
    }
    plain = {"tool_use_id": "c3", "content": ["Yes.", ""], "output": "No."}
    words = {"tool_use_id": "c4", "content": None, "output": "No."}
    data = thread(
        user({"Text": "Look."}, mention, bare, image, {"Text": ""}, {"Image": {}}),
        agent(
            {"Thinking": {"text": "Hm.", "signature": "seal"}},
            {"Thinking": {"text": "", "signature": "all"}},
            {"RedactedThinking": "x"},
            {"Text": "So:"},
            {"ToolUse": use},
            "odd",
            c1=glows,
            c2=told,
            c3=plain,
            c4=words,
        ),
        "Resume",
        user(),
    )

    [found] = read(data)

    assert (found.format, found.title, found.model) == ("zed", "Lamps", "m-1")
    assert parts(found) == [
        (
            Text("Look."),
            Text("x = 1"),
            Opaque("Mention", bare),
            Image("image/png", data=b"PNG"),
            Opaque("Image", {"Image": {}}),
        ),
        (
            Thinking("Hm.", "seal"),
            Thinking("", data="all"),
            Thinking("", data="x"),
            Text("So:"),
            ToolCall("c1", "look", {"lamp": 1}),
        ),
        (
            ToolResult(
                "c1", (Text("It glows."), Image("image/png", data=b"PNG")), "look"
            ),
            ToolResult("c2", (Text('{"a": 1}'),), None, True),
            ToolResult("c3", (Text("Yes."),)),
            ToolResult("c4", (Text("No."),)),
        ),
    ]
    assert messages(found)[0].source_id == "u-1"
    assert events(found) == ["Resume", "User"]


def test_an_older_thread_has_segments() -> None:
    segments = [
        {"type": "thinking", "text": "Hm.", "signature": "seal"},
        {"type": "RedactedThinking", "data": "x"},
        {"type": "text", "text": "So:"},
    ]
    uses = [{"id": "c1", "name": "look", "input": {}}]
    results = [{"tool_use_id": "c1", "content": {"Text": "Dark."}}]
    data = {
        "version": "0.2.0",
        "summary": "Lamps",
        "messages": [
            {
                "role": "user",
                "segments": [{"type": "text", "text": "Look."}],
                "context": "a.py",
            },
            {
                "role": "assistant",
                "segments": segments,
                "tool_uses": uses,
                "tool_results": results,
            },
            {"role": "user", "text": "First."},
        ],
    }

    [found] = read(data)

    assert parts(found) == [
        (Text("a.py"), Text("Look.")),
        (
            Thinking("Hm.", "seal"),
            Thinking("", data="x"),
            Text("So:"),
            ToolCall("c1", "look", {}),
        ),
        (ToolResult("c1", (Text("Dark."),)),),
        (Text("First."),),
    ]


def packed(value: Any) -> bytes:
    return zstandard.compress(json.dumps(value).encode())


def test_the_database_holds_threads_packed_or_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = thread(user({"Text": "Look."}))
    rows = [
        ("t-1", "Lamps", "2026-03-02", "zstd", packed(said), None),
        ("t-2", "Sub", "2026-03-03", "json", json.dumps(said).encode(), "t-1"),
        ("t-3", "Broken", "2026-03-04", "zstd", b"no", None),
        ("t-4", "Text", "2026-03-05", "zstd", "no", None),
    ]
    data = database(TABLE, {"threads": rows})

    main, sub = read(data)

    assert (main.title, main.external_id, main.model) == ("Lamps", "t-1", "m-1")
    assert (texts(main), messages(main)[0].records) == (["Look."], ("row:threads/1",))
    assert sub.parent == Parent(external_id="t-1", relation=Relation.SUBAGENT)

    monkeypatch.setattr("threads.domain.formats.io.sqlite_file.MAX_ROW", 10)
    with pytest.raises(Invalid, match="Zed"):
        read(data)


def test_a_thread_that_says_nothing_is_refused() -> None:
    with pytest.raises(Invalid, match="a Zed thread"):
        read(thread(user()))
    with pytest.raises(Invalid, match="a Zed thread"):
        read({"a": 1}, "zed")
    assert zed.FORMAT.name == "zed"
