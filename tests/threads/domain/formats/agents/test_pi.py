"""pi's sessions: a sequence or a tree, whose branches are conversations of their own."""

import base64
import io
from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.readings import events, messages, texts
from tests.threads.support.transcripts import lines
from threads.domain import formats
from threads.domain.formats.agents import pi
from threads.domain.message import Usage
from threads.domain.part import Image, Text, Thinking, ToolCall, ToolResult
from threads.domain.transcript import Compaction, Parent, Relation, Transcript

HEADER = {
    "type": "session",
    "version": 3,
    "id": "s-1",
    "cwd": "/",
    "timestamp": "2026-03-01T10:00:00Z",
}
OLD = {"type": "session", "id": "s-1", "cwd": "/", "provider": "p", "modelId": "m-0"}


def entry(
    id_: str, parent: str | None, type_: str = "message", **members: Any
) -> dict[str, Any]:
    moment = "2026-03-01T10:00:00.000Z"
    return {
        "type": type_,
        "id": id_,
        "parentId": parent,
        "timestamp": moment,
        **members,
    }


def user(id_: str, parent: str | None, words: str = "") -> dict[str, Any]:
    return entry(id_, parent, message={"role": "user", "content": words or id_})


def line(**message: Any) -> dict[str, Any]:
    """An entry of version 1."""
    return {
        "type": "message",
        "timestamp": "2026-03-01T10:00:00.000Z",
        "message": message,
    }


def read(*records: Any, header: Any = HEADER) -> list[Transcript]:
    return pi.read(io.BytesIO(lines(header, *records)), "")


def test_version_1_is_a_sequence() -> None:
    data = base64.b64encode(b"PNG").decode()
    answer = line(
        role="assistant",
        content=[
            {"type": "thinking", "thinking": "Hm.", "thinkingSignature": "seal"},
            {
                "type": "thinking",
                "thinking": "",
                "thinkingSignature": "all",
                "redacted": True,
            },
            {"type": "text", "text": "Looking."},
            {
                "type": "toolCall",
                "id": "c1",
                "name": "read",
                "arguments": {"path": "a"},
            },
        ],
        model="m-1",
        usage={"input": 5, "output": 3, "cacheRead": 2, "cacheWrite": 1},
        stopReason="aborted",
    )
    result = line(
        role="toolResult",
        toolCallId="c1",
        toolName="read",
        isError=True,
        content=[
            {"type": "text", "text": "a!"},
            {"type": "image", "data": data, "mimeType": "image/png"},
        ],
    )
    change = {"type": "model_change", "modelId": "m-2", "provider": "p"}
    [found] = read(
        line(role="user", content="Look."), answer, result, change, header=OLD
    )
    _, said, read_ = messages(found)

    assert (found.title, found.external_id, found.model) == ("Look.", "s-1", "m-2")
    assert said.parts == (
        Thinking("Hm.", "seal"),
        Thinking("", data="all"),
        Text("Looking."),
        ToolCall("c1", "read", {"path": "a"}),
    )
    assert said.usage == Usage(input_tokens=8, output_tokens=3, cached_tokens=2)
    assert (said.model, said.partial) == ("m-1", True)
    assert read_.parts == (
        ToolResult("c1", (Text("a!"), Image("image/png", data=b"PNG")), "read", True),
    )
    assert events(found) == ["session", "model_change"]


def test_what_the_tool_says_to_the_model_is_a_user_s_message() -> None:
    run = {"role": "bashExecution", "command": "ls", "output": "a", "exitCode": 2}
    [found] = read(
        user("1", None, "Go."),
        entry("2", "1", message=run),
        entry("3", "2", message={**run, "output": "", "cancelled": True}),
        entry("4", "3", message={**run, "excludeFromContext": True}),
        entry("5", "4", message={"role": "custom", "content": "Custom."}),
        entry("6", "5", message={"role": "hookMessage", "content": "Hook."}),
        entry("7", "6", message={"role": "branchSummary", "summary": "Branch."}),
        entry(
            "8", "7", "custom_message", content=[{"type": "text", "text": "Put in."}]
        ),
        entry("9", "8", "branch_summary", summary="Went there.", fromId="1"),
        entry("10", "9", "branch_summary", summary=""),
        entry("11", "10", "label", targetId="1", label="here"),
        entry("12", "11", message={"role": "assistant", "content": None}),
    )

    branch = (
        "The following is a summary of a branch that this conversation came back from:"
        "\n\n<summary>\n{}</summary>"
    )
    assert texts(found) == [
        "Go.",
        "Ran `ls`\n```\na\n```\n\nCommand exited with code 2",
        "Ran `ls`\n(no output)\n\n(command cancelled)",
        "Custom.",
        "Hook.",
        branch.format("Branch."),
        "Put in.",
        branch.format("Went there."),
        "",
    ]
    assert messages(found)[0].source_id == "1"
    assert events(found) == [
        "session",
        "message/bashExecution",
        "branch_summary",
        "label",
    ]


def test_a_branch_is_a_conversation_that_shares_its_beginning() -> None:
    main, branch = read(
        user("a", None),
        user("b", "a"),
        user("c", "b"),
        entry("l", "c", "label"),
        user("d", "a"),
        entry("i", "d", "session_info", name="The lamp"),
        user("e", "i"),
    )

    assert (main.title, texts(main)) == ("The lamp", ["a", "d", "e"])
    assert texts(branch) == ["a", "b", "c"]
    assert branch.external_id == "s-1/b"
    assert branch.parent == Parent(external_id="s-1", relation=Relation.BRANCH, at=1)
    assert events(branch) == ["label"]


def test_entries_that_hang_beside_are_events_of_the_session() -> None:
    [found] = read(
        user("a", None), entry("l", "a", "label"), user("b", "a"), user("c", "gone")
    )

    assert texts(found) == ["a", "b", "c"]
    assert events(found) == ["session", "label"]


def test_a_branch_of_a_branch_shares_what_is_of_the_session_s_own_way() -> None:
    _, first, second = read(
        user("a", None),
        user("b", "a"),
        user("c", "b"),
        user("d", "b"),
        user("e", "a"),
        header={**HEADER, "id": "s-2"},
    )

    assert (texts(first), first.external_id) == (["a", "b", "d"], "s-2/b")
    assert (texts(second), second.external_id) == (["a", "b", "c"], "s-2/c")
    assert first.parent is not None
    assert second.parent is not None
    assert (first.parent.at, second.parent.at) == (1, 1)


def test_of_very_many_branches_the_latest_are_sessions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pi, "MAX_BRANCHES", 1)
    unnamed = {**user("", "a"), "id": 7}
    main, branch = read(user("a", None), user("b", "a"), unnamed, user("c", "a"))

    assert (texts(main), len(texts(branch))) == (["a", "c"], 2)
    assert branch.external_id is not None
    assert branch.external_id.startswith("s-1/@")
    assert events(main) == ["session", "aside/message"]
    (left,) = main.warnings
    assert left.code == "branches_left" and "1 more" in left.message


def test_a_branch_of_a_session_without_an_id_has_none_either() -> None:
    nameless = {name: value for name, value in HEADER.items() if name != "id"}
    main, branch = read(
        user("a", None), user("b", "a"), user("c", "a"), header=nameless
    )

    assert (texts(main), texts(branch)) == (["a", "c"], ["a", "b"])
    assert (main.external_id, branch.external_id, branch.parent) == (None, None, None)


def test_a_fork_names_the_session_that_it_came_from() -> None:
    id_ = "5d1f2f6e-0000-4000-8000-000000000001"
    [found] = read(
        user("a", None), header={**HEADER, "parentSession": f"/x/2026_{id_}.jsonl"}
    )

    assert found.parent == Parent(external_id=id_, relation=Relation.BRANCH)


def shorter(words: str) -> str:
    """A summary as pi puts it to the model."""
    lead = "The conversation history before this point was compacted into the"
    return f"{lead} following summary:\n\n<summary>\n{words}\n</summary>"


def test_a_compaction_hides_what_was_not_kept() -> None:
    [found] = read(
        user("a", None),
        user("b", "a"),
        user("c", "b"),
        entry("x", "c", "compaction", summary="So far.", firstKeptEntryId="c"),
        user("d", "x"),
        entry("y", "d", "compaction", summary="All.", firstKeptEntryId="gone"),
        entry("z", "y", "compaction", summary=""),
    )
    first, second = [item for item in found.items if isinstance(item, Compaction)]

    assert (first.replaces, first.messages[0].text) == ((0, 1), shorter("So far."))
    assert first.messages[0].role == "user"
    assert second.replaces == (0, 1, 2, 3)
    assert events(found) == ["session", "compaction"]


def test_a_compaction_of_version_1_counts_lines() -> None:
    early = {"type": "compaction", "summary": "Early."}
    late = {"type": "compaction", "summary": "Late.", "firstKeptEntryIndex": 3}
    [found] = read(
        early,
        line(role="user", content="1"),
        line(role="user", content="2"),
        late,
        header=OLD,
    )
    [compaction] = [item for item in found.items if isinstance(item, Compaction)]

    assert texts(found) == [shorter("Early."), "1", "2"]
    assert compaction.replaces == (0, 1)


def test_a_line_that_cannot_be_read_is_an_event_and_a_warning() -> None:
    call = {"role": "assistant", "content": [{"type": "toolCall", "id": "1"}]}
    raw = (
        lines(HEADER, user("a", None), entry("b", "a", message=call)) + b"{broken\n[]\n"
    )
    [found] = pi.read(io.BytesIO(raw), "")

    assert events(found) == ["session", "unreadable", "unreadable", "unreadable"]
    assert [warning.line for warning in found.warnings] == [3, 4, 5]


def test_a_session_without_messages_is_refused() -> None:
    with pytest.raises(Invalid, match="a pi session"):
        read()
    with pytest.raises(Invalid, match="Line 1 can't be read"):
        pi.read(io.BytesIO(b"{broken\n"), "")


def test_a_session_that_was_cut_out_of_its_file_is_known_by_its_tree() -> None:
    result = {"role": "toolResult", "toolCallId": "c", "toolName": "f", "content": []}
    rest = lines(user("b", "a", "Go on."), entry("c", "b", message=result))
    [found] = formats.read(io.BytesIO(rest))

    assert (found.format, found.title, found.external_id) == ("pi", "Go on.", None)


def test_a_session_is_known_by_its_header() -> None:
    assert formats.detect(lines(HEADER, user("a", None)))[0].format == "pi"


def result(
    id_: str, parent: str | None, call_id: str, *runs: dict[str, Any]
) -> dict[str, Any]:
    """The result of pi's extension `subagent`, which holds what the sub-agents said."""
    said = {"role": "toolResult", "toolCallId": call_id, "toolName": "subagent"}
    said |= {"content": [{"type": "text", "text": "Parallel: 2/2 succeeded"}]}
    return entry(id_, parent, message=said | {"details": {"results": list(runs)}})


def run(*found: Any, **members: Any) -> dict[str, Any]:
    return {"agent": "scout", "task": "Find the wick"} | members | {"messages": found}


def answered(words: str) -> dict[str, Any]:
    content = [{"type": "text", "text": words}]
    return {"role": "assistant", "content": content, "timestamp": 1_772_359_200_000}


def test_what_sub_agents_said_are_sessions_of_their_own() -> None:
    asked = {"role": "user", "content": "Task: Trim it"}
    main, first, second = read(
        user("a", None),
        result(
            "b",
            "a",
            "c1",
            run(),
            run(answered("In the lamp."), {"role": "note"}, 7, model="haiku"),
            run(asked, answered("Trimmed."), agent="", task="Trim it"),
        ),
        user("c", "b"),
    )

    assert [message.text for message in messages(main)] == ["a", "", "c"]
    assert texts(first) == ["Task: Find the wick", "In the lamp."]
    assert events(first) == ["message/note", "unreadable"]
    assert (first.title, first.model) == ("scout: Find the wick", "haiku")
    assert (first.external_id, second.external_id) == (
        "s-1/agent-c1-1",
        "s-1/agent-c1-2",
    )
    assert first.parent == Parent(
        external_id="s-1", relation=Relation.SUBAGENT, call_id="c1"
    )
    told = messages(first)[1]
    assert told.records == messages(main)[1].records
    assert told.created_at and told.created_at.year == 2026
    assert (second.title, texts(second)) == ("Trim it", ["Task: Trim it", "Trimmed."])


def test_a_sub_agent_belongs_to_the_branch_that_called_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    records = [
        user("a", None),
        result("b", "a", "c1", run(answered("Here."))),
        user("c", "b"),
        result("d", "a", "c2", run(answered("There."))),
        user("e", "d"),
    ]
    _, branch, *agents = read(*records)
    unnamed = read(*records, header={"type": "session", "cwd": "/"})
    monkeypatch.setattr(pi, "MAX_BRANCHES", 0)
    alone = read(*records)
    monkeypatch.setattr(pi, "MAX_AGENTS", 1)
    cut, *_ = read(*records)
    texts(cut)

    assert branch.external_id == "s-1/b"
    assert [one.parent and one.parent.external_id for one in agents] == ["s-1/b", "s-1"]
    assert len(unnamed) == 2
    assert [texts(one) for one in alone[1:]] == [["Task: Find the wick", "There."]]
    assert [warning.code for warning in cut.warnings] == [
        "branches_left",
        "agents_left",
    ]
