"""Claude Code's sessions: one message of the API is one message, in the order of the graph."""

import json
import random
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.readings import events, messages
from tests.threads.support.transcripts import (
    SESSION,
    answer,
    call,
    claude_lines,
    lines,
    record,
    result,
    text,
    user,
)
from threads.domain.formats.claude_code import lines as session_lines
from threads.domain.message import Message, Usage
from threads.domain.part import Image, Opaque, Text, Thinking, ToolCall, ToolResult
from threads.domain.transcript import Parent, Relation

from .sessions import WHOLE, read, shape


def test_lines_of_one_answer_are_one_message_and_results_follow_it() -> None:
    transcript = read(*claude_lines())

    assert shape(transcript) == WHOLE
    assert events(transcript) == ["mode", "progress/bash_progress"]


def test_a_message_has_the_last_usage_and_all_its_lines() -> None:
    raw = lines(*claude_lines())
    _, message, *_ = [item for item in read(raw=raw).items if isinstance(item, Message)]

    assert message.usage == Usage(input_tokens=7, output_tokens=9, cached_tokens=2)
    assert (message.source_id, message.model) == ("msg_1", "claude-test")
    assert message.created_at == datetime(2026, 3, 1, 10, tzinfo=UTC)
    spans = [record.removeprefix("bytes:").split("-") for record in message.records]
    assert [json.loads(raw[int(a) : int(b)])["uuid"] for a, b in spans] == ["a1", "a2"]


@settings(deadline=None)
@given(st.randoms(use_true_random=False))
def test_the_order_is_the_graph_s_and_not_the_file_s(chance: random.Random) -> None:
    records = [
        user("u1", None, "One."),
        answer("a1", "u1", text("Two.")),
        record("system", "s1", "a1", subtype="turn_duration"),
        user("u2", "s1", "Three."),
        answer("a2", "u2", text("Four.")),
    ]
    chance.shuffle(records)

    assert shape(read(*records)) == [
        "user: One.",
        "assistant: Two.",
        "user: Three.",
        "assistant: Four.",
    ]


def test_the_clock_is_not_asked() -> None:
    records = claude_lines()
    for hour, found in enumerate(records[1:]):
        found["timestamp"] = f"2026-03-01T{20 - hour}:00:00Z"

    assert shape(read(*records)) == WHOLE


def test_a_late_result_stands_behind_its_call() -> None:
    records = claude_lines()
    records.append(records.pop(5))

    assert shape(read(*records)) == WHOLE


def test_an_orphan_hangs_on_the_message_before_it() -> None:
    records = claude_lines()
    records[5]["parentUuid"] = records[7]["parentUuid"] = "gone"

    assert shape(read(*records)) == WHOLE


def test_lines_of_the_tool_s_own_may_stand_between_messages() -> None:
    transcript = read(
        user("u1", None, "Look."),
        record("progress", "p1", "u1", data={"type": "hook_progress"}),
        answer("a1", "p1", text("Seen.")),
    )

    assert shape(transcript) == ["user: Look.", "assistant: Seen."]


def test_a_call_is_answered_once() -> None:
    records = claude_lines()
    again = user("r9", "a1", [*result("c1"), text("Again.")])
    records.insert(5, again)

    assert shape(read(*records)) == [
        *WHOLE[:2],
        "user: result c1, Again.",
        *WHOLE[3:],
    ]


def test_a_cycle_is_cut_where_it_begins() -> None:
    records = [
        user("u1", "a2", "One."),
        answer("a1", "u1", text("Two.")),
        answer("a2", "a1", text("Three.")),
    ]

    assert shape(read(*records)) == [
        "user: One.",
        "assistant: Two.",
        "assistant: Three.",
    ]


def test_of_duplicates_the_first_counts() -> None:
    transcript = read(
        *claude_lines(), user("u1", None, "Again."), user("u9", "a3", "Bye.")
    )

    assert shape(transcript) == [*WHOLE, "user: Bye."]
    assert "duplicate/user" in events(transcript)


def test_what_the_tool_says_itself_is_an_event() -> None:
    transcript = read(
        *claude_lines(),
        answer("e1", "a3", text("API Error"), isApiErrorMessage=True),
        user("v1", "e1", "Shown, not sent.", isVirtual=True),
        record("attachment", "t1", "v1", attachment={"type": "task_reminder"}),
        user("u2", "t1", "Go on.", isVirtual=False),
    )

    assert shape(transcript) == [*WHOLE, "user: Go on."]
    assert events(transcript)[2:] == [
        "assistant/api_error",
        "user/virtual",
        "attachment/task_reminder",
    ]


def queued(id_: str, parent: str | None, prompt: Any) -> dict[str, Any]:
    """What was said while the model was working."""
    said = {"type": "queued_command", "prompt": prompt, "commandMode": "prompt"}
    return record("attachment", id_, parent, attachment=said)


def test_what_was_said_while_the_model_worked_is_the_user_s() -> None:
    transcript = read(
        user("u1", None, "Look."),
        answer("a1", "u1", call("c1"), turn="t"),
        answer("a2", "a1", call("c2"), turn="t"),
        user("r1", "a1", [*result("c1")]),
        queued("q1", "r1", "Leave the wick."),
        user("r2", "a2", [*result("c2")]),
        queued("q2", "r2", [text("And the oil.")]),
        queued("q3", "q2", ""),
        answer("a3", "q3", text("Left.")),
    )

    assert shape(transcript) == [
        "user: Look.",
        "assistant: c1, c2",
        "user: result c1",
        "user: Leave the wick.",
        "user: result c2",
        "user: And the oil.",
        "assistant: Left.",
    ]
    assert transcript.title == "Look."
    assert messages(transcript)[3].source_id == "q1"
    assert events(transcript) == ["attachment/queued_command"]


def test_what_the_tool_put_in_and_sent_is_a_message() -> None:
    transcript = read(
        user("m1", None, "Base directory for this skill", isMeta=True),
        *claude_lines(),
    )

    assert shape(transcript) == ["user: Base directory for this skill", *WHOLE]
    assert transcript.title == "Please look."


def test_a_sub_agent_s_file_is_a_session_of_its_own() -> None:
    transcript = read(
        user("x1", None, "Do this.", isSidechain=True, agentId="a7"),
        answer("x2", "x1", text("Done."), isSidechain=True, agentId="a7"),
    )

    assert shape(transcript) == ["user: Do this.", "assistant: Done."]
    assert transcript.external_id == f"{SESSION}/agent-a7"
    assert transcript.parent == Parent(external_id=SESSION, relation=Relation.SUBAGENT)
    assert (transcript.title, transcript.model) == ("Do this.", "claude-test")


def test_blocks_become_parts() -> None:
    picture = {"type": "base64", "media_type": "image/png", "data": "UE5H"}
    [asked, answered] = read(
        user("u1", None, [text("See."), {"type": "image", "source": picture}]),
        answer("a1", "u1", {"type": "thinking", "thinking": "Hm.", "signature": "s"}),
    ).items

    assert isinstance(asked, Message)
    assert isinstance(answered, Message)
    assert asked.parts == (Text("See."), Image("image/png", data=b"PNG"))
    assert answered.parts == (Thinking("Hm.", "s"),)


def test_broken_lines_are_reported_and_kept() -> None:
    good = lines(*claude_lines()).splitlines(keepends=True)
    bad = lines(answer("a9", "a3", {"text": "No type."}), user("u9", "a9", 5))
    raw = b"".join([*good[:2], b'{"type": "user", \r\n', b"5\n", *good[2:], bad])
    transcript = read(raw=raw)

    assert shape(transcript) == WHOLE
    assert [(w.code, w.line) for w in transcript.warnings] == [
        ("json_invalid", 3),
        ("invalid", 11),
        ("invalid", 12),
    ]
    assert sorted(events(transcript)) == [
        "mode",
        "progress/bash_progress",
        "record",
        "unreadable",
        "unreadable/assistant",
        "unreadable/user",
    ]


@pytest.mark.parametrize(
    ("heads", "title"),
    [
        ([{"type": "custom-title", "customTitle": "Mine"}], "Mine"),
        ([{"type": "ai-title", "aiTitle": "Its"}], "Its"),
        (
            [{"type": "summary", "summary": "Another's", "leafUuid": "elsewhere"}],
            "Please look.",
        ),
        ([user("u0", None, "<command-name>/clear</command-name>")], "Please look."),
        ([user("u0", None, [text("Look here."), text("Now.")])], "Look here."),
    ],
)
def test_the_title_is_the_session_s_own(heads: list[Any], title: str) -> None:
    assert read(*heads, *claude_lines()).title == title


def test_a_summary_of_this_session_names_it() -> None:
    summary = {"type": "summary", "summary": "Looking around", "leafUuid": "a3"}

    assert read(*claude_lines(), summary).title == "Looking around"


def test_a_summary_may_stand_before_its_leaf() -> None:
    summary = {"type": "summary", "summary": "Looking around", "leafUuid": "a3"}

    assert read(summary, *claude_lines()).title == "Looking around"


def test_a_session_without_words_is_named_by_its_id() -> None:
    transcript = read(answer("a1", None, text("Hello.")))

    assert transcript.title == f"Claude Code session {SESSION[:8]}"


def test_the_session_s_id_is_the_file_s_or_the_first() -> None:
    records = claude_lines()
    records[-1]["sessionId"] = "other"

    assert read(*records).external_id == SESSION
    assert read(*records, name="some/other.jsonl").external_id == "other"
    assert read({"type": "user", "message": {"content": "Hi"}}).external_id is None


def test_a_file_without_messages_is_refused() -> None:
    with pytest.raises(Invalid, match="holds no messages"):
        read({"type": "mode", "sessionId": SESSION})
    with pytest.raises(Invalid, match="Line 1"):
        read(raw=b'{"type": "user"')


@pytest.mark.parametrize("held", [0, 8 << 20])
def test_lines_are_read_again_as_they_were_read_first(
    monkeypatch: pytest.MonkeyPatch, held: int
) -> None:
    monkeypatch.setattr(session_lines, "HELD", held)
    great = {"type": "tool_use", "id": "c9", "name": "f", "input": {"n": 1 << 70}}
    plain, *strange = lines(
        user("u1", None, "One."),
        answer("a1", "u1", great),
        user("u2", "a1", "A \ud800 alone."),
    ).splitlines()
    raw = b"\x0c" + plain + b"\x0b\r\n" + b"\n".join(strange)
    first, second, third = [m for m in read(raw=raw).items if isinstance(m, Message)]

    assert first.text == "One."
    assert second.parts == (ToolCall("c9", "f", {"n": 1 << 70}),)
    assert third.text == "A \ud800 alone."


def test_a_session_may_be_read_as_often_as_one_likes() -> None:
    transcript = read(*claude_lines())

    assert list(transcript.items) == list(transcript.items)


def test_counts_of_nothing_are_no_usage() -> None:
    message = answer("a1", None, text("Hello."))
    message["message"]["usage"] = {"input_tokens": 0, "output_tokens": 0}
    [found] = read(message).items

    assert isinstance(found, Message)
    assert found.usage is None


def nested(levels: int) -> Any:
    return json.loads("[" * levels + "]" * levels)


@pytest.mark.parametrize("held", [0, 8 << 20])
def test_numbers_stay_what_they_are_however_long(
    held: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_lines, "HELD", held)
    long = 123456789012345678901234567890
    asked = {"type": "tool_use", "id": "c1", "name": "Sum", "input": {"of": [long]}}
    other = {"type": "number", "value": -long}
    found = {"type": "tool_result", "tool_use_id": "c1", "content": [other]}
    transcript = read(
        user("u1", None, "Go."), answer("a1", "u1", asked), user("u2", "a1", [found])
    )

    _, called, answered = (m for m in transcript.items if isinstance(m, Message))
    assert called.parts == (ToolCall("c1", "Sum", {"of": [long]}),)
    assert answered.parts == (ToolResult("c1", (Opaque("number", other),)),)


def test_of_a_message_of_several_lines_those_that_can_be_read_are() -> None:
    deep = {"type": "tool_use", "id": "c1", "name": "Dig", "input": nested(250)}
    transcript = read(
        user("u1", None, "Go."),
        answer("a1", "u1", {"type": "text", "text": "Words."}, turn="t"),
        answer("a2", "a1", deep, turn="t"),
    )
    assert shape(transcript) == ["user: Go.", "assistant: Words."]
    assert [(w.code, w.line) for w in transcript.warnings] == [("json_too_deep", 3)]


def test_a_call_that_is_nested_too_deep_is_named_with_its_line() -> None:
    deep = {"type": "tool_use", "id": "c1", "name": "Dig", "input": nested(250)}
    whole = {"type": "tool_use", "id": "c2", "name": "Dig", "input": nested(190)}
    transcript = read(
        user("u1", None, "Go."), answer("a1", "u1", deep), answer("a2", "a1", whole)
    )

    assert shape(transcript) == ["user: Go.", "assistant: c2"]
    assert events(transcript) == ["unreadable/assistant"]
    assert [(w.code, w.line) for w in transcript.warnings] == [("json_too_deep", 2)]


def test_a_result_without_the_id_of_its_call_is_that_of_the_calls_line() -> None:
    bare = {"type": "tool_result", "content": "Dark."}
    known = {"type": "tool_result", "tool_use_id": "t2", "content": "It glows."}

    found = read(
        user("u1", None, "Look."),
        user("u2", "u1", [bare, known], sourceToolUseID="t1"),
    )

    said = [item.parts for item in found.items if isinstance(item, Message)]
    assert said[1] == (
        ToolResult("t1", (Text("Dark."),)),
        ToolResult("t2", (Text("It glows."),)),
    )
