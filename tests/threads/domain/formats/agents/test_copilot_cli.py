"""Copilot CLI's events: calls and results linked, prompts once, sub-agents beside."""

import base64
import io
import re
from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.readings import events, messages
from tests.threads.support.transcripts import lines
from threads.domain import formats
from threads.domain.formats.agents import copilot_cli
from threads.domain.message import Usage
from threads.domain.part import (
    File,
    Image,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from threads.domain.transcript import Compaction, Parent, Relation, Transcript

MOMENT = "2026-03-01T10:00:00.000Z"
PNG = base64.b64encode(b"PNG").decode()


def event(type_: str, agent: str = "", **data: Any) -> dict[str, Any]:
    found = {
        "type": type_,
        "data": data,
        "id": type_,
        "timestamp": MOMENT,
        "parentId": None,
    }
    return {**found, "agentId": agent} if agent else found


START = event("session.start", sessionId="s-1", producer="copilot-agent")


def read(*records: Any) -> list[Transcript]:
    return copilot_cli.read(io.BytesIO(lines(START, *records)), "")


def asked(words: str) -> dict[str, Any]:
    return event("user.message", content=words)


def test_a_session_is_its_messages_and_all_else_are_events() -> None:
    call = {"toolCallId": "c1", "name": "view", "arguments": {"path": "a"}}
    [found] = read(
        event("session.model_change", newModel="m-1"),
        event("system.message", role="system", content="Be brief."),
        event("user.message", content="Look.", transformedContent="<now/> Look."),
        event("assistant.turn_start", turnId="0"),
        event(
            "assistant.message",
            messageId="a1",
            content="Looking.",
            reasoningText="Hm.",
            reasoningOpaque="seal",
            toolRequests=[call],
            outputTokens=7,
        ),
        event("tool.execution_start", toolCallId="c1", toolName="view"),
        event(
            "tool.execution_complete",
            toolCallId="c1",
            success=True,
            result={"content": "a!"},
        ),
        event("system.message", role="system", content="Be brief."),
        event("system.message", role="developer", content="Be kind.", name="rules"),
    )
    system, user, answer, result, developer = messages(found)

    assert (found.title, found.external_id, found.model) == ("Look.", "s-1", "m-1")
    assert (system.role, user.text) == ("system", "<now/> Look.")
    assert answer.parts == (
        Thinking("Hm.", "seal"),
        Text("Looking."),
        ToolCall("c1", "view", {"path": "a"}),
    )
    assert answer.usage == Usage(output_tokens=7)
    assert answer.created_at is not None
    assert result.parts == (ToolResult("c1", (Text("a!"),), "view"),)
    assert (developer.role, developer.name) == ("developer", "rules")
    assert events(found) == [
        "session.start",
        "session.model_change",
        "assistant.turn_start",
        "tool.execution_start",
        "system.message",
    ]


def test_a_tool_that_failed_says_why() -> None:
    failed = event(
        "tool.execution_complete",
        toolCallId="c",
        success=False,
        error={"message": "No."},
    )
    [found] = read(asked("Look."), failed)

    assert messages(found)[1].parts == (ToolResult("c", (Text("No."),), None, True),)


def test_reasoning_that_only_its_provider_can_read_is_kept() -> None:
    [found] = read(
        event(
            "assistant.message", content="", reasoningOpaque="o", encryptedContent="e"
        )
    )

    assert messages(found)[0].parts == (Thinking("", data="o"), Thinking("", data="e"))


def test_the_chunks_of_one_answer_are_one_message() -> None:
    first = event(
        "assistant.message",
        apiCallId="1",
        content="One.",
        chunkIndex=0,
        chunkCount=2,
        outputTokens=3,
    )
    last = event(
        "assistant.message", apiCallId="1", content="Two.", chunkIndex=1, chunkCount=2
    )
    [found] = read(asked("Go."), first, last, first, asked("On."), first)

    said = messages(found)
    assert [message.text for message in said] == [
        "Go.",
        "One.\n\nTwo.",
        "One.",
        "On.",
        "One.",
    ]
    assert len(said[1].records) == 2
    assert said[1].usage == Usage(output_tokens=3)


def test_pictures_come_in_place_or_from_an_event_of_their_own() -> None:
    blob = {"type": "blob", "mimeType": "image/png", "data": PNG}
    paper = {
        "type": "blob",
        "mimeType": "text/plain",
        "data": PNG,
        "displayName": "a.txt",
    }
    path = {"type": "file", "path": "/a", "displayName": "a"}
    shown = [{"assetId": "sha256:1"}, {"assetId": "sha256:2"}]
    [found] = read(
        event(
            "session.binary_asset", assetId="sha256:1", data=PNG, mimeType="image/png"
        ),
        event("user.message", content="See.", attachments=[blob, paper, path]),
        event(
            "tool.execution_complete",
            toolCallId="c",
            result={"binaryResultsForLlm": shown},
        ),
    )
    user, result = messages(found)

    assert user.parts[1:] == (
        Image("image/png", data=b"PNG"),
        File("text/plain", "a.txt", data=b"PNG"),
        Opaque("file", path),
    )
    assert result.parts == (ToolResult("c", (Image("image/png", data=b"PNG"),)),)


def test_a_tool_that_the_user_ran_is_the_user_s_call() -> None:
    [found] = read(
        event("tool.user_requested", toolCallId="c", toolName="sh", arguments={})
    )

    assert messages(found)[0].parts == (ToolCall("c", "sh", {}),)
    assert messages(found)[0].role == "user"


def test_a_compaction_hides_the_oldest_messages_and_its_own_summary_later() -> None:
    def done(removed: int) -> dict[str, Any]:
        return event(
            "session.compaction_complete",
            success=True,
            summaryContent="So far.",
            messagesRemoved=removed,
        )

    [found] = read(
        event("system.message", role="system", content="Be brief."),
        asked("1"),
        asked("2"),
        asked("3"),
        done(2),
        asked("4"),
        done(0),
        event("session.compaction_complete", success=False, summaryContent="No."),
    )
    first, second = [item for item in found.items if isinstance(item, Compaction)]

    assert first.replaces == (1, 2)
    assert "<summary>\nSo far.\n</summary>" in first.messages[0].text
    assert second.replaces == (1, 2, 3, 4)
    assert events(found)[-1] == "session.compaction_complete"


def test_an_answer_still_held_counts_among_what_a_compaction_replaces() -> None:
    chunk = event(
        "assistant.message", apiCallId="1", content="2", chunkIndex=0, chunkCount=2
    )
    done = event("session.compaction_complete", success=True, summaryContent="So far.")

    [found] = read(asked("1"), chunk, done, asked("3"))

    [made] = [item for item in found.items if isinstance(item, Compaction)]
    assert made.replaces == (0, 1)


def shortened(*records: Any) -> tuple[tuple[int, ...], str]:
    """What a compaction at the end of a session replaces, and the words that stand there."""
    done = event("session.compaction_complete", success=True, summaryContent="Done.")
    [found] = read(*records, done)
    [made] = [item for item in found.items if isinstance(item, Compaction)]
    assert [message.role for message in made.messages] == ["user"]
    return made.replaces, made.messages[0].text


BEGUN = event("session.compaction_start")


def test_the_model_reads_a_summary_with_the_requests_before_it() -> None:
    sent = event("user.message", content="Two.", transformedContent="<now/>Two.")

    assert shortened(asked("One."), sent) == (
        (0, 1),
        "Some of the conversation history has been summarized to free up context.\n\n"
        "You were originally given instructions from a user over one or more turns."
        " Here were the user messages:\n"
        "<user_message>\nOne.\n</user_message>\n<user_message>\nTwo.\n</user_message>\n\n"
        "Here is a summary of the prior context:\n<summary>\nDone.\n</summary>\n",
    )


def test_many_or_long_requests_are_cut_in_the_middle() -> None:
    _, many = shortened(*(asked(f"Q{number}") for number in range(30)))
    assert re.findall(r"Q\d+", many) == [
        *("Q0", "Q1", "Q2"),
        *(f"Q{number}" for number in range(14, 30)),
    ]
    assert "... 11 messages omitted ..." in many

    _, alone = shortened(asked("x" * 40_000))
    assert alone.count("x") > 29_900 and "...<truncated>..." in alone

    _, long = shortened(asked("a" * 20_000), asked("b"), asked("c" * 30_000))
    assert (long.count("a" * 5_000), long.count("c" * 23_000)) == (1, 1)
    assert "... 1 messages omitted ..." in long

    _, late = shortened(asked("a"), asked("c" * 40_000))
    assert "<user_message>\na\n" in late and "omitted" not in late


def test_skills_stand_behind_a_summary() -> None:
    def used(name: str) -> dict[str, Any]:
        return event(
            "skill.invoked", name=name, path=f"/{name}.md", content=f"Do {name}."
        )

    _, words = shortened(asked("One."), used("mend"), used("look"), used("mend"))

    assert words.endswith(
        "\n\n<invoked_skills>\n## Most recent skill: mend\nPath: /mend.md\n\n"
        "Continue to follow these instructions:\n\nDo mend.\n\n"
        "## Previously used skills\n"
        "These skills were used earlier in the session."
        " Re-read the skill file if you need to reactivate one:\n"
        "- look: /look.md\n</invoked_skills>"
    )


def test_what_was_said_while_a_compaction_ran_stays() -> None:
    call = {"toolCallId": "c1", "name": "look", "arguments": {}}
    answer = event("assistant.message", content="So:", toolRequests=[call])
    two = event("assistant.message", content="So:", toolRequests=[call, call])
    result = event(
        "tool.execution_complete", toolCallId="c1", result={"content": "Dark."}
    )
    chunk = event(
        "assistant.message", apiCallId="1", content="2", chunkIndex=0, chunkCount=2
    )

    assert shortened(asked("1"), BEGUN, asked("2"))[0] == (0,)
    assert shortened(asked("1"), answer, BEGUN, result)[0] == (0,)
    assert shortened(asked("1"), two, result, BEGUN, result)[0] == (0,)
    assert shortened(asked("1"), asked("2"), BEGUN, result)[0] == (0, 1)
    assert shortened(asked("1"), chunk, BEGUN)[0] == (0, 1)


def test_a_sub_agent_is_a_conversation_of_its_own() -> None:
    main, agent, old = read(
        event("session.title_changed", title="The lamp"),
        asked("Look."),
        event("subagent.started", "a-1", toolCallId="c1", agentName="helper"),
        event("user.message", "a-1", content="Look there."),
        event("assistant.message", content="Old.", parentToolCallId="c2"),
    )

    assert main.title == "The lamp"
    assert [message.text for message in messages(main)] == ["Look."]
    assert (agent.title, agent.external_id) == ("helper", "s-1/agent-a-1")
    assert agent.parent == Parent(
        external_id="s-1", relation=Relation.SUBAGENT, call_id="c1"
    )
    assert old.parent is not None
    assert old.parent.call_id == "c2"
    assert events(agent) == ["subagent.started"]


def test_a_line_that_cannot_be_read_is_an_event_and_a_warning() -> None:
    call = {"toolCallId": "c1"}
    raw = lines(START, event("assistant.message", toolRequests=[call]), asked("Go."))
    [found] = copilot_cli.read(io.BytesIO(raw + b"{broken\n[1]\n"), "")

    assert events(found)[1:] == ["unreadable", "unreadable", "unreadable"]
    assert [warning.line for warning in found.warnings] == [2, 4, 5]


def test_a_session_without_messages_is_refused() -> None:
    with pytest.raises(Invalid, match="a Copilot CLI session"):
        read()


def test_a_session_is_known_without_its_first_line() -> None:
    raw = lines(asked("Go."), event("assistant.turn_start"))

    assert formats.detect(lines(START, asked("Go.")))[0].score == 0.95
    assert formats.detect(raw)[0].format == "copilot_cli"
    assert [found.format for found in formats.detect(lines(asked("Go.")))] == []


def test_a_sub_agent_whose_name_would_be_too_long_has_none() -> None:
    begin = {**START, "data": {**START["data"], "sessionId": "s" * 250}}
    there = event("user.message", "a-123", content="There.")
    _, agent = copilot_cli.read(io.BytesIO(lines(begin, asked("Look."), there)), "")
    assert agent.external_id is None
