"""Threads of Amp."""

from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support import readings
from tests.threads.support.editor_specimens import AMP_THREAD
from threads.domain.message import Usage
from threads.domain.part import (
    File,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)


def parts_of(*content: Any, role: str = "user", **members: Any) -> tuple[Part, ...]:
    message = {"role": role, "content": [*content], **members}
    [found] = readings.read({"id": "T-1", "v": 1, "messages": [message]})
    return readings.messages(found)[0].parts


def test_a_thread_is_read() -> None:
    [found] = readings.read(AMP_THREAD)
    asked, called, result = readings.messages(found)

    assert (found.format, found.title, found.strategy) == ("amp", "Lamps", "anthropic")
    assert found.external_id == AMP_THREAD["id"]
    assert asked.parts == (
        Text("Look at @lamp.txt."),
        File("text/plain", "lamp.txt", data=b"Two lamps."),
    )
    assert called.parts == (
        Thinking("Hm.", "c2VhbA=="),
        ToolCall("c1", "look", {"lamp": 1}),
    )
    assert (called.model, called.usage) == (
        "m-1",
        Usage(input_tokens=9, output_tokens=3),
    )
    assert result.parts == (ToolResult("c1", (Text('{"light": false}'),)),)
    assert asked.created_at is not None


@pytest.mark.parametrize(
    ("run", "words", "failed"),
    [
        ({"status": "done", "result": "Dark."}, "Dark.", False),
        ({"status": "error", "error": {"message": "No lamp."}}, "No lamp.", True),
        ({"status": "rejected-by-user", "reason": "No."}, "No.", True),
        ({"status": "in-progress"}, "", False),
    ],
)
def test_a_run_says_what_it_came_to(run: Any, words: str, failed: bool) -> None:
    content = (Text(words),) if words else ()
    assert parts_of({"type": "tool_result", "toolUseID": "c1", "run": run}) == (
        ToolResult("c1", content, None, failed),
    )


def test_a_summary_is_its_words() -> None:
    summary = {"type": "summary", "summary": {"type": "message", "summary": "Dark."}}
    assert parts_of(summary, role="info") == (Text("Dark."),)
    odd = {"type": "summary", "summary": {"thread": "T-2"}}
    assert parts_of(odd, role="info") == (Opaque("summary", odd),)


def test_sealed_reasoning_and_images_that_were_mentioned_are_kept() -> None:
    sealed = {"thinking": "", "openAIReasoning": {"encryptedContent": "zzz"}}
    image = {"uri": "a.png", "isImage": True, "content": "x"}
    assert parts_of(
        {"type": "thinking", **sealed}, fileMentions={"files": [image]}
    ) == (Thinking("", data="zzz"), Opaque("file_mention", image))


def test_text_alone_is_a_message_too_and_what_is_none_is_reported() -> None:
    [found] = readings.read(
        {
            "id": "T-1",
            "v": 1,
            "messages": [{"role": "user", "content": "Hi"}, {"role": "x"}],
        }
    )
    assert readings.texts(found) == ["Hi"]
    assert len(found.warnings) == 1


def test_a_thread_without_its_id_is_known_by_its_results() -> None:
    [found] = readings.read({"messages": AMP_THREAD["messages"]})
    assert found.format == "amp"
    with pytest.raises(Invalid):
        readings.read({"id": "T-1", "v": 1, "messages": []})
