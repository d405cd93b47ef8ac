"""Continue's sessions."""

from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.readings import (
    compactions,
    events,
    messages,
    parts,
    read,
    texts,
    told,
)
from threads.domain.message import Usage
from threads.domain.part import Image, Text, Thinking, ToolCall, ToolResult

CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}


OF_MESSAGES = ("toolCalls", "toolCallId", "signature", "redactedThinking", "usage")


def entry(role: str, content: Any, items: Any = (), **members: Any) -> dict[str, Any]:
    said = {name: members.pop(name) for name in OF_MESSAGES if name in members}
    return {
        "message": {"role": role, "content": content, **said},
        "contextItems": list(items),
        **members,
    }


def session(*entries: Any) -> dict[str, Any]:
    return {
        "sessionId": "k-1",
        "title": "Lamps",
        "workspaceDirectory": "/",
        "history": list(entries),
    }


def test_entries_are_messages_with_what_was_attached() -> None:
    picture = {"type": "imageUrl", "imageUrl": {"url": "https://lamps.test/1.png"}}
    usage = {"promptTokens": 5, "completionTokens": 2}
    attached = [{"name": "a.py", "content": "x = 1"}, {"name": "empty"}]
    data = session(
        entry("user", [{"type": "text", "text": "Look."}, picture], attached),
        entry("thinking", "Hm.", signature="seal"),
        entry("thinking", "", redactedThinking="zzz"),
        entry("assistant", "So:", toolCalls=[CALL], usage=usage),
        entry("tool", "It glows.", toolCallId="c1"),
        entry("assistant", "", reasoning={"text": "Ha."}),
        entry("assistant", ""),
        entry("thinking", "Cut."),
    )

    [found] = read(data)

    assert (found.format, found.title, found.external_id) == (
        "continue",
        "Lamps",
        "k-1",
    )
    assert parts(found) == [
        (
            Text("x = 1"),
            Text("Look."),
            Image("image/*", url="https://lamps.test/1.png"),
        ),
        (
            Thinking("Hm.", "seal"),
            Thinking("", data="zzz", signer="anthropic"),
            Text("So:"),
            ToolCall("c1", "look", {}),
        ),
        (ToolResult("c1", (Text("It glows."),)),),
        (Thinking("Ha."),),
        (Thinking("Cut."),),
    ]
    assert messages(found)[1].usage == Usage(input_tokens=5, output_tokens=2)
    assert len(messages(found)[1].records) == 3
    assert messages(found)[-1].partial
    assert events(found)[0] == "record"


def test_what_a_tool_returned_may_stand_beside_its_call_alone() -> None:
    def state(id_: str, *output: str) -> dict[str, Any]:
        return {"toolCallId": id_, "output": [{"content": one} for one in output]}

    first = entry(
        "assistant",
        "",
        toolCalls=[CALL],
        toolCallStates=[state("c1", "A.", "B."), state("c2")],
    )
    last = entry("assistant", "", toolCalls=[CALL], toolCallStates=[state("c1", "C.")])
    told_twice = entry("tool", "A.", toolCallId="c1")

    [found] = read(session(entry("user", "Look."), first, entry("user", "More."), last))
    [again] = read(session(entry("user", "Look."), first, told_twice))

    assert parts(found)[2] == (ToolResult("c1", (Text("A."), Text("B."))),)
    assert parts(found)[-1] == (ToolResult("c1", (Text("C."),)),)
    assert len(messages(again)) == 3


def test_a_summary_stands_for_all_before_it() -> None:
    data = session(
        entry("user", "One."),
        entry("assistant", "Two.", conversationSummary="Counted."),
        entry("user", "Three."),
    )

    [found] = read(data)

    assert told(compactions(found)) == ["(0, 1) is Counted."]
    assert texts(found) == ["One.", "Two.", "Three."]


def test_a_session_without_its_folder_is_known_by_its_history() -> None:
    data = {
        "sessionId": "k-1",
        "history": [entry("user", "Hi."), entry("robot", "Beep.")],
    }

    [found] = read(data)

    assert (found.format, texts(found), len(found.warnings)) == ("continue", ["Hi."], 1)


def test_a_session_without_messages_is_refused() -> None:
    with pytest.raises(Invalid, match="a Continue session"):
        read(session())
