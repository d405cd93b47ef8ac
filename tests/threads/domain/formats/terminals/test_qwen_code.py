"""Qwen Code's sessions: Gemini's contents in a tree of lines."""

from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.folders import folder
from tests.threads.support.readings import (
    compactions,
    events,
    messages,
    parts,
    read,
    texts,
    told,
)
from tests.threads.support.transcripts import lines
from threads.domain.formats.kit.graph import branches
from threads.domain.formats.terminals import qwen_code
from threads.domain.message import Role, Usage
from threads.domain.part import Text, Thinking, ToolCall, ToolResult
from threads.domain.transcript import Parent, Relation


def line(id_: str, parent: str | None, type_: str, **members: Any) -> dict[str, Any]:
    return {
        "uuid": id_,
        "parentUuid": parent,
        "sessionId": "q-1",
        "timestamp": "2026-03-02T10:00:00.000Z",
        "type": type_,
        **members,
    }


def said(
    id_: str, parent: str | None, type_: str, *given: Any, **members: Any
) -> dict[str, Any]:
    role = "model" if type_ == "assistant" else "user"
    content = {"role": role, "parts": list(given)}
    return line(id_, parent, type_, message=content, **members)


def user(id_: str, parent: str | None, words: str) -> dict[str, Any]:
    return said(id_, parent, "user", {"text": words})


def answer(id_: str, parent: str, words: str) -> dict[str, Any]:
    return said(id_, parent, "assistant", {"text": words})


def test_contents_are_messages_with_their_tokens() -> None:
    call = {"functionCall": {"id": "c1", "name": "look", "args": {"a": 1}}}
    response = {
        "functionResponse": {
            "id": "c1",
            "name": "look",
            "response": {"output": "Dark."},
        }
    }
    usage = {"promptTokenCount": 5, "candidatesTokenCount": 2, "thoughtsTokenCount": 1}
    data = lines(
        user("1", None, "Look."),
        line("2", "1", "system", subtype="ui_telemetry"),
        said(
            "3",
            "2",
            "assistant",
            {"text": "Hm.", "thought": True},
            call,
            model="q",
            usageMetadata=usage,
        ),
        said("4", "3", "tool_result", response),
        line(
            "5",
            "4",
            "system",
            subtype="custom_title",
            systemPayload={"customTitle": "Lamps"},
        ),
    )

    [found] = read(data)

    assert (found.format, found.title, found.external_id) == (
        "qwen_code",
        "Lamps",
        "q-1",
    )
    assert (found.model, found.strategy) == ("q", "gemini")
    assert parts(found) == [
        (Text("Look."),),
        (Thinking("Hm."), ToolCall("c1", "look", {"a": 1})),
        (ToolResult("c1", (Text("Dark."),), "look"),),
    ]
    assert messages(found)[1].usage == Usage(input_tokens=5, output_tokens=3)
    assert messages(found)[2].role is Role.TOOL
    assert events(found) == ["system/ui_telemetry", "system/custom_title"]


def test_what_a_rewind_left_is_a_branch() -> None:
    data = lines(
        user("1", None, "Look."),
        answer("2", "1", "Dark."),
        line("3", "1", "system", subtype="rewind"),
        answer("4", "3", "It "),
        answer("4", "3", "glows."),
        line("x", "2", "system"),
    )

    [last] = lines(user("5", "4", "Thanks.")).splitlines()
    session, branch = read(data + last)

    assert texts(session) == ["Look.", "It ", "glows.", "Thanks."]
    assert texts(branch) == ["Look.", "Dark."]
    assert branch.parent == Parent(external_id="q-1", relation=Relation.BRANCH, at=1)
    assert (branch.external_id, branch.title) == ("q-1/2", "Look. (branch 1)")


def test_the_report_says_how_many_branches_are_no_sessions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(branches, "MAX_BRANCHES", 1)
    left = [answer(id_, "1", id_) for id_ in ("2", "3", "4")]

    session, branch = read(lines(user("1", None, "Look."), *left))

    assert (texts(session), texts(branch)) == (["Look.", "4"], ["Look.", "2"])
    (warning,) = session.warnings
    assert warning.code == "branches_left" and "1 more" in warning.message


def test_a_compression_is_the_context_that_the_model_had_from_then_on() -> None:
    kept = user("4", "3", "And now?")
    summary = {"role": "user", "parts": [{"text": "In short."}]}
    agreed = {"role": "model", "parts": [{"text": "Got it."}]}
    history = [summary, agreed, kept["message"]]
    data = lines(
        user("1", None, "Look."),
        answer("2", "1", "Dark."),
        line("3", "2", "system", subtype="ui_telemetry"),
        kept,
        line(
            "5",
            "4",
            "system",
            subtype="chat_compression",
            systemPayload={"compressedHistory": history},
        ),
        answer("6", "5", "Still dark."),
        line("7", "6", "system", subtype="chat_compression"),
    )

    [found] = read(data)

    [one] = compactions(found)
    assert one.replaces == (0, 1)
    assert [(m.role, m.text) for m in one.messages] == [
        (Role.USER, "In short."),
        (Role.ASSISTANT, "Got it."),
    ]
    assert told(found)[-2:] == ["assistant: Still dark.", "system/chat_compression"]


def test_what_hangs_on_no_line_and_what_is_broken_is_kept() -> None:
    data = lines(
        {"note": 1},
        user("1", None, "Look."),
        said("2", "1", "assistant", 7),
        7,
        line("9", None, "system"),
        user("3", "1", "Well?"),
    )

    found, branch = read(data)

    assert told(found)[:3] == ["user: Look.", "user: Well?", "branch/record"]
    assert "branch/system" in events(found)
    assert told(branch) == ["user: Look.", "unreadable", "unreadable"]
    assert len(branch.warnings) == 2


def test_a_session_without_messages_is_refused() -> None:
    with pytest.raises(Invalid, match="a Qwen Code session"):
        read(lines(said("1", None, "user")))
    with pytest.raises(Invalid, match="a Qwen Code session"):
        read(b"", "qwen_code")


def agent(id_: str, *answers: str) -> bytes:
    side = {"isSidechain": True, "agentId": id_}
    said = [answer(f"{id_}{n}", "1", words) for n, words in enumerate(answers)]
    return lines(*(one | side for one in [user("1", None, "Look."), *said]))


def test_what_is_noted_beside_a_sub_agent_names_its_call() -> None:
    meta = {"description": "Lamps", "toolUseId": "c1", "parentAgentId": None}
    deeper = {"toolUseId": "c2", "parentAgentId": "one"}
    beside = folder(
        {
            "q-1.jsonl": lines(user("1", None, "Look.")),
            "q-1.meta.json": meta,
            "s/agent-one.jsonl": agent("one", "Left.", "Found."),
            "s/agent-one.meta.json": meta,
            "s/agent-two.jsonl": agent("two", "Deeper."),
            "s/agent-two.meta.json": deeper,
            "s/agent-old.jsonl": agent("old", "Once."),
            "s/agent-old.meta.json": b"{",
            "s/agent-empty.jsonl": lines(said("1", None, "user")),
            "s/agent-empty.meta.json": meta,
            "s/agent-none.meta.json": meta,
            "s/agent-other.jsonl": lines({"type": "user"}),
            "s/agent-other.meta.json": meta,
            "s/agent-void.jsonl": lines(said("1", None, "user", {})),
            "s/agent-void.meta.json": meta,
        }
    )

    old, one, two = qwen_code.FORMAT.gather(beside) if qwen_code.FORMAT.gather else []

    first, branch = one.transcripts
    assert one.members == {"s/agent-one.jsonl", "s/agent-one.meta.json"}
    assert (first.title, first.member) == ("Lamps", "s/agent-one.jsonl")
    assert first.parent == Parent(
        external_id="q-1", relation=Relation.SUBAGENT, call_id="c1"
    )
    assert branch.parent and branch.parent.external_id == first.external_id
    assert events(first) == ["sidecar"]
    [nested] = two.transcripts
    assert nested.parent and nested.parent.external_id == "q-1/one"
    [unknown] = old.transcripts
    assert unknown.parent == Parent(external_id="q-1", relation=Relation.SUBAGENT)


def test_a_sub_agent_s_file_is_a_conversation_of_its_own() -> None:
    of_agent = {"isSidechain": True, "agentId": "explore-7f3c"}
    data = lines(
        line("0", None, "system", subtype="agent_launch_prompt", **of_agent),
        user("1", "0", "Find the lamp.") | of_agent,
        answer("2", "1", "In the hall.") | of_agent,
        answer("3", "1", "In the cellar.") | of_agent,
    )

    found, branch = read(data)

    assert found.external_id == "q-1/explore-7f3c"
    assert found.parent == Parent(external_id="q-1", relation=Relation.SUBAGENT)
    assert texts(found) == ["Find the lamp.", "In the cellar."]
    assert branch.external_id == "q-1/explore-7f3c/2"
    assert branch.parent == Parent(
        external_id="q-1/explore-7f3c", relation=Relation.BRANCH, at=1
    )
