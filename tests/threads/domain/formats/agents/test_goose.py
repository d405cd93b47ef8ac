"""Sessions of Goose: exported, of a run, and of before its database."""

import base64
from typing import Any

import pytest

from tests.threads.support import readings
from tests.threads.support.agent_specimens import lines
from tests.threads.support.editor_specimens import (
    GOOSE_CHAT,
    GOOSE_LINES,
    GOOSE_SESSION,
)
from threads.domain.message import Usage
from threads.domain.part import (
    File,
    Image,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from threads.domain.transcript import Parent, Relation

SAID: list[tuple[Part, ...]] = [
    (Text("Look."),),
    (ToolCall("c1", "look", {"lamp": 1}),),
    (ToolResult("c1", (Text("It is dark."),)),),
]
REQUESTED = {"type": "toolRequest", "id": "c2"}
BOTH = ["user", "assistant"]
FOR_USERS = {"audience": ["user"], "priority": 0.0}


def parts_of(*content: Any) -> tuple[Part, ...]:
    """The parts of a message beside one that is Goose's for sure."""
    chat = [*GOOSE_CHAT, {"role": "assistant", "content": [*content]}]
    [found] = readings.read({"messages": chat})
    assert (found.format, found.warnings) == ("goose", [])
    return readings.messages(found)[-1].parts


def answered(**result: Any) -> ToolResult:
    [part] = parts_of({"type": "toolResponse", "id": "c1", "toolResult": result})
    assert isinstance(part, ToolResult)
    return part


def test_an_export_is_read() -> None:
    [found] = readings.read(GOOSE_SESSION)
    assert (found.format, found.title, found.external_id) == (
        "goose",
        "Lamps",
        "20260302_1",
    )
    assert readings.parts(found) == SAID


def test_a_file_of_before_the_database_is_read() -> None:
    [found] = readings.read(lines(GOOSE_LINES))
    assert (found.format, found.title) == ("goose", "Lamps")
    assert readings.parts(found) == SAID
    assert readings.events(found) == ["session"]


def test_the_output_of_a_run_is_read() -> None:
    printed = [{"type": "message", "message": message} for message in GOOSE_CHAT]
    [found] = readings.read(lines([*printed, {"type": "complete"}]))
    assert readings.parts(found) == SAID
    assert readings.events(found) == ["complete"]


def test_a_session_of_plain_words_is_known_by_its_folder() -> None:
    chat = [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]
    [found] = readings.read({"working_dir": "/", "conversation": chat})
    assert (found.format, readings.texts(found)) == ("goose", ["Hi"])


@pytest.mark.parametrize(
    ("result", "words", "failed"),
    [
        ({"status": "success", "value": [{"type": "text", "text": "x"}]}, "x", False),
        ({"Ok": {"content": [{"type": "text", "text": "x"}]}}, "x", False),
        ({"status": "success", "value": {"content": "x", "isError": True}}, "x", True),
        ({"status": "error", "error": "No lamp."}, "No lamp.", True),
        ({"Err": "No lamp."}, "No lamp.", True),
        ({"status": "success", "value": {"x": 1}}, '{"x": 1}', False),
        ({"status": "success", "value": None}, "", False),
    ],
)
def test_a_result_says_what_came_of_the_call(
    result: dict[str, Any], words: str, failed: bool
) -> None:
    content = (Text(words),) if words else ()
    assert answered(**result) == ToolResult("c1", content, None, failed)


def test_the_bytes_of_a_resource_are_what_the_model_reads_of_them() -> None:
    blobs = [
        {"blob": base64.b64encode("Öl".encode()).decode()},
        {"blob": base64.b64encode(b"\xff\xfe").decode(), "mimeType": "a/b"},
        {"blob": base64.b64encode(b"\xff").decode()},
        {"blob": "not base64"},
    ]
    content = [{"type": "resource", "resource": one} for one in blobs]

    assert answered(status="success", value=content).content == (
        Text("Öl"),
        Text("[Binary content (a/b) - 2 bytes]"),
        Text("[Binary content (application/octet-stream) - 1 bytes]"),
        Text("not base64"),
    )


def test_a_result_holds_pictures_and_resources() -> None:
    content = [
        {"type": "image", "data": "UE5H", "mimeType": "image/png"},
        {"type": "image", "data": "?"},
        {"type": "resource", "resource": {"uri": "a", "text": "Lamps."}},
        {"type": "resource", "resource": {"uri": "a"}},
    ]
    assert answered(status="success", value=content).content == (
        Image("image/png", data=b"PNG"),
        Opaque("image", content[1]),
        Text("Lamps."),
        Opaque("resource", content[3]),
    )


def test_a_call_that_was_misspelled_is_kept_whole() -> None:
    failed = {**REQUESTED, "toolCall": {"status": "error", "error": "x"}}
    called = {**REQUESTED, "toolCall": {"Ok": {"name": "look"}}}
    assert parts_of(failed, called) == (
        Opaque("toolRequest", failed),
        ToolCall("c2", "look", {}),
    )


def test_what_goose_only_shows_its_user_is_an_event() -> None:
    note = {"type": "systemNotification", "msg": "Compacting."}
    asked = {"type": "actionRequired", "data": {}}
    chat = [
        *GOOSE_CHAT,
        {"role": "assistant", "created": 1, "content": [note, asked]},
        {"role": "assistant", "content": []},
    ]
    [found] = readings.read({"messages": chat})
    assert readings.parts(found) == [*SAID, ()]
    assert readings.events(found) == ["systemNotification"]


def test_other_blocks_are_read() -> None:
    note = {"type": "systemNotification", "msg": "Compacted."}
    assert parts_of(
        {"type": "thinking", "thinking": "Hm.", "signature": "s"},
        {"type": "redactedThinking", "data": "zzz"},
        {"type": "reasoning", "text": "Hm, hm."},
        {"type": "image", "data": "UE5H", "mimeType": "image/png"},
        {
            "type": "document",
            "data": "UERG",
            "mimeType": "application/pdf",
            "name": "a",
        },
        {"type": "document", "data": "TUQ="},
        note,
    ) == (
        Thinking("Hm.", "s"),
        Thinking("", data="zzz"),
        Thinking("Hm, hm."),
        Image("image/png", data=b"PNG"),
        File("application/pdf", "a", data=b"PDF"),
        File("application/octet-stream", data=b"MD"),
        Opaque("systemNotification", note),
    )


def test_what_a_tool_says_to_the_user_alone_is_no_part_of_its_result() -> None:
    content = [
        {"type": "text", "text": "dark", "annotations": {"audience": ["assistant"]}},
        {"type": "text", "text": "It is **dark**.", "annotations": FOR_USERS},
        {"type": "text", "text": "Both.", "annotations": {"audience": BOTH}},
        {"type": "text", "text": "Anyone.", "annotations": {"priority": 0.5}},
    ]
    said = (Text("dark"), Text("Both."), Text("Anyone."))
    assert answered(status="success", value={"content": content}).content == said
    assert answered(status="success", value=content[1:2]).content == ()


def test_text_for_the_user_alone_is_no_part_of_its_message() -> None:
    aside = {"type": "text", "text": "Hello, user.", "annotations": FOR_USERS}
    told = {"type": "text", "text": "Hello, model."}
    chat = [
        *GOOSE_CHAT,
        {"role": "assistant", "content": [aside, told]},
        {"role": "assistant", "content": [aside]},
        {
            "role": "assistant",
            "content": [{"type": "conversationCompacted", "msg": ""}],
        },
    ]
    [found] = readings.read({"messages": chat})
    assert readings.parts(found) == [*SAID, (Text("Hello, model."),)]
    assert readings.events(found) == ["text", "conversationCompacted"]
    assert found.warnings == []


def test_an_answer_has_the_model_and_the_tokens_of_its_inference() -> None:
    inference = {"provider": "a", "requestedModel": "m", "resolvedModel": "m-2"}
    usage = {"inputTokens": 9, "outputTokens": 4, "cacheReadTokens": 3}
    metadata = {"inference": inference, "usage": usage}
    answer = {"role": "assistant", "content": [{"type": "text", "text": "Yes."}]}
    chat = [*GOOSE_CHAT, {**answer, "metadata": metadata}, answer]
    [found] = readings.read({"messages": chat})
    *_, told, untold = readings.messages(found)
    assert (told.model, told.usage) == (
        "m-2",
        Usage(input_tokens=9, output_tokens=4, cached_tokens=3),
    )
    assert (untold.model, untold.usage) == (None, None)


def test_a_sub_agent_s_session_names_its_parent() -> None:
    [found] = readings.read({**GOOSE_SESSION, "parent_session_id": "20260302_0"})
    assert found.parent == Parent(external_id="20260302_0", relation=Relation.SUBAGENT)
