"""A chat of Kiro's command line, or of Amazon Q's, as it saves it."""

import json
from typing import Any

import pytest

from tests.threads.support.readings import events, messages, parts, read, told
from threads.domain.message import Role
from threads.domain.part import Opaque, Text, ToolCall, ToolResult

ID = "9f2a1b34-0000-4000-8000-1234567890ab"
ABOUT = {"model_id": "claude-opus-4.5", "request_start_timestamp_ms": 1_765_209_536_000}


def asked(content: dict[str, Any], **members: Any) -> dict[str, Any]:
    return {"additional_context": "", "content": content, "images": None, **members}


def answer(words: str, *calls: dict[str, Any]) -> dict[str, Any]:
    if not calls:
        return {"Response": {"message_id": "m-2", "content": words}}
    return {
        "ToolUse": {"message_id": "m-1", "content": words, "tool_uses": list(calls)}
    }


PROMPT = asked(
    {"Prompt": {"prompt": "How many boats?"}}, timestamp="2025-12-09T00:05:58+08:00"
)
CALL = {
    "id": "t1",
    "name": "dummy",
    "orig_name": "count",
    "args": {"of": "boats"},
    "orig_args": {"of": "boats"},
}
GIVEN = {"tool_use_id": "t1", "content": [{"Text": "14"}, {"Json": {"n": 14}}]}
RESULT = asked(
    {"ToolUseResults": {"tool_use_results": [{**GIVEN, "status": "Success"}]}}
)
HISTORY = [
    {"user": PROMPT, "assistant": answer("", CALL), "request_metadata": ABOUT},
    {"user": RESULT, "assistant": answer("There are 14."), "request_metadata": None},
]


def chat(history: list[Any], **members: Any) -> bytes:
    held = {"conversation_id": ID, "next_message": None, "history": history, **members}
    return json.dumps(held).encode()


@pytest.mark.parametrize("is_pairs", [False, True])
def test_an_entry_is_a_message_and_its_answer(is_pairs: bool) -> None:
    pairs = [[one["user"], one["assistant"]] for one in HISTORY]
    [found] = read(chat(pairs if is_pairs else HISTORY))
    assert (found.format, found.external_id) == ("kiro", ID)
    assert found.title == "How many boats?"
    question, call, result, last = messages(found)
    assert question.created_at and question.created_at.hour == 0
    assert call.parts == (ToolCall("t1", "count", {"of": "boats"}),)
    assert call.source_id == "m-1"
    assert call.model == (None if is_pairs else "claude-opus-4.5")
    assert (call.created_at is None) is is_pairs
    assert result.role is Role.TOOL
    assert result.parts == (ToolResult("t1", (Text("14"), Text('{"n": 14}'))),)
    assert last.text == "There are 14."
    assert events(found) == ["conversation_id"]


def test_a_call_that_was_cancelled_is_answered_before_what_was_said_instead() -> None:
    held = {"prompt": "Wait.", "tool_use_results": [{**GIVEN, "status": "Error"}]}
    entry = {"user": asked({"CancelledToolUses": held}), "assistant": answer("I wait.")}
    [found] = read(chat([HISTORY[0], entry]))
    assert [one.role for one in messages(found)][2:] == ["tool", "user", "assistant"]
    [result] = messages(found)[2].parts
    assert isinstance(result, ToolResult) and result.is_error


def test_what_hooks_add_is_before_the_words_and_names_nothing() -> None:
    added = "--- CONTEXT ENTRY BEGIN ---\nMind the tide.\n--- CONTEXT ENTRY END ---\n\n"
    picture = {"format": "png", "source": {"Bytes": [1]}}
    user = {**PROMPT, "additional_context": added, "images": [picture]}
    [found] = read(chat([{"user": user, "assistant": answer("14.")}]))
    assert found.title == "How many boats?"
    assert parts(found)[0] == (
        Text(added),
        Text("How many boats?"),
        Opaque("image", {"type": "image", "image": picture}),
    )


def test_a_summary_comes_first_and_a_message_without_an_answer_last() -> None:
    waiting = asked({"Prompt": {"prompt": "And ferries?"}})
    [found] = read(
        chat(HISTORY, latest_summary=["They count.", {}], next_message=waiting)
    )
    assert told(found)[:2] == ["user: They count.", "latest_summary"]
    assert told(found)[-2:] == ["user: And ferries?", "conversation_id"]

    [found] = read(chat(HISTORY, latest_summary="They count."))
    assert told(found)[0] == "user: They count."
    [found] = read(chat(HISTORY, latest_summary=None))
    assert told(found)[0] == "user: How many boats?"


def test_what_is_of_no_known_kind_is_kept_whole() -> None:
    user, said = asked({"Voice": {"words": "Hi"}}), {"Song": {"notes": "Do"}}
    entry = {"user": user, "assistant": said}
    [found] = read(chat([HISTORY[0], entry, {"user": {}}, "x"]))
    assert parts(found)[2:] == [
        (Opaque("Voice", {"type": "Voice", "Voice": {"words": "Hi"}}),),
        (Opaque("Song", {"type": "Song", "Song": {"notes": "Do"}}),),
    ]
    assert events(found) == ["entry", "unreadable", "conversation_id"]
    assert len(found.warnings) == 1
