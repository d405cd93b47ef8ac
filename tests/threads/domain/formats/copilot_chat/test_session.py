"""Sessions of VS Code's chat: exported, stored, and as a log of changes."""

import base64
from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support import readings
from tests.threads.support.agent_specimens import document, lines
from tests.threads.support.editor_specimens import REQUEST, VSCODE_LOG, VSCODE_SESSION
from threads.domain.message import Message, Role, Usage
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
from threads.domain.transcript import Transcript

PIXEL = base64.b64encode(b"PNG").decode()


def read(*requests: Any, **members: Any) -> Transcript:
    [found] = readings.read({**VSCODE_SESSION, "requests": [*requests], **members})
    assert found.format == "copilot_chat"
    return found


def answered(*response: Any, **members: Any) -> list[Message]:
    """What comes of a request that no round of is known."""
    return readings.messages(
        read({"message": "Look.", "response": [*response], **members})
    )[1:]


def with_result(*content: Any) -> tuple[Part, ...]:
    """What a tool answered in a round."""
    rounds = [{"response": "", "toolCalls": [{"id": "c1", "name": "look"}]}]
    results = {"c1": {"content": [*content]}}
    metadata = {"toolCallRounds": rounds, "toolCallResults": results}
    found = answered(result={"metadata": metadata})
    [result] = found[-1].parts
    assert isinstance(result, ToolResult)
    return result.content


def test_a_request_is_what_was_sent_and_the_rounds_that_came_of_it() -> None:
    found = read(REQUEST)
    before, asked, called, result, told = readings.messages(found)

    assert (found.title, found.external_id, found.model) == (
        "Lamps",
        "5e55-70",
        "copilot/m-1",
    )
    assert before.parts == (Text("Linux."),)
    assert asked.parts == (Text("<userRequest>Which lamp is broken?</userRequest>"),)
    assert called.parts == (
        Thinking("I shall look."),
        Text("I look."),
        ToolCall("c1", "look", {"lamp": 2}),
    )
    assert result.parts == (ToolResult("c1", (Text("It is\ndark."),), "look"),)
    assert told.parts == (Text("The second one."),)
    assert told.usage == Usage(input_tokens=30, output_tokens=9)
    assert before.created_at is not None
    assert called.source_id == "response_1"


def test_an_export_has_no_title_but_what_was_typed() -> None:
    found = read(REQUEST, customTitle=None, sessionId=None)
    assert (found.title, found.external_id) == ("Which lamp is broken?", None)


def test_a_log_of_changes_is_the_session_that_it_makes() -> None:
    [found] = readings.read(lines(VSCODE_LOG))
    whole = readings.messages(read(REQUEST))

    assert (found.title, found.external_id) == ("Lamps of the house", "5e55-70")
    assert readings.parts(found) == [message.parts for message in whole]
    assert len(readings.messages(found)[0].records) == 3
    assert readings.events(found) == [
        "session",
        "customTitle",
        "inputState",
        "inputState",
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"kind": 9, "k": ["x"], "v": 1},
        {"kind": 1, "k": [], "v": 1},
        {"kind": 1, "k": [None], "v": 1},
        {"kind": 1, "k": ["requests", 7, "x"], "v": 1},
        {"kind": 1, "k": ["requests", "x"], "v": 1},
        {"kind": 1, "k": ["version", "x", 0], "v": 1},
        {"kind": 0, "v": None},
        7,
    ],
)
def test_a_change_that_fits_nothing_is_an_event_with_a_warning(change: Any) -> None:
    [found] = readings.read(lines([*VSCODE_LOG, change, VSCODE_LOG[1]]))
    assert readings.events(found)[-2:] == ["unreadable", "customTitle"]
    assert [warning.line for warning in found.warnings] == [len(VSCODE_LOG) + 1]


def test_a_list_may_be_cut_and_a_place_in_it_be_set() -> None:
    asked = {"requestId": "r2", "message": "And?", "response": "Well."}
    [found] = readings.read(
        lines(
            [
                *VSCODE_LOG,
                {"kind": 2, "k": ["requests"], "i": 0, "v": [asked]},
                {"kind": 1, "k": ["requests", 1], "v": asked},
                {"kind": 2, "k": ["requests"], "v": None},
            ]
        )
    )
    assert readings.texts(found) == ["And?", "Well.", "And?", "Well."]


def test_a_line_that_cannot_be_read_is_reported() -> None:
    [found] = readings.read(lines(VSCODE_LOG) + b"{...\nnull\n")
    assert [warning.code for warning in found.warnings] == ["json_invalid", "invalid"]
    assert readings.events(found)[-2:] == ["unreadable", "unreadable"]
    assert len(readings.messages(found)) == 5


def test_without_rounds_the_page_s_own_parts_are_read() -> None:
    reference = {
        "kind": "inlineReference",
        "inlineReference": {"location": {"uri": {"path": "/home/x/lamp.txt"}}},
    }
    call = {
        "kind": "toolInvocationSerialized",
        "toolCallId": "c1",
        "toolId": "look",
        "invocationMessage": "Looking",
        "pastTenseMessage": {"value": "Looked at 2 lamps"},
        "toolSpecificData": {"kind": "terminal", "command": "look"},
    }
    edit = {"kind": "textEditGroup", "edits": []}
    found = answered(
        {"kind": "thinking", "value": "Hm."},
        {"value": "I look at "},
        reference,
        call,
        {"kind": "undoStop"},
        {"kind": "markdownContent", "content": {"value": "It is dark."}},
        edit,
        "Done.",
    )
    assert [message.parts for message in found] == [
        (
            Thinking("Hm."),
            Text("I look at `lamp.txt`"),
            ToolCall("c1", "look", {"kind": "terminal", "command": "look"}),
        ),
        (ToolResult("c1", (Text("Looked at 2 lamps"),), "look"),),
        (Text("It is dark."), Opaque("textEditGroup", edit), Text("Done.")),
    ]


@pytest.mark.parametrize(
    ("details", "arguments", "words"),
    [
        ({"input": '{"lamp": 2}', "output": "Dark."}, {"lamp": 2}, "Dark."),
        ({"input": "{}", "output": [{"value": "x"}]}, {}, '[{"value": "x"}]'),
        ({}, {}, ""),
    ],
)
def test_a_call_of_the_page_says_what_it_was_given(
    details: dict[str, Any], arguments: Any, words: str
) -> None:
    kind = {"kind": "toolInvocationSerialized", "toolId": "look", "toolCallId": "c1"}
    called, *results = answered({**kind, "resultDetails": details})
    assert called.parts == (ToolCall("c1", "look", arguments),)
    told = [result.parts for result in results]
    assert told == [(ToolResult("c1", (Text(words),), "look"),)] * bool(words)


def test_what_is_shown_after_the_last_round_was_said_too() -> None:
    metadata = {
        "toolCallRounds": REQUEST["result"]["metadata"]["toolCallRounds"][:1],
        "toolCallResults": REQUEST["result"]["metadata"]["toolCallResults"],
    }
    found = answered(
        {"value": "So far."}, result={"metadata": metadata}, isCanceled=True
    )
    assert [message.text for message in found][-1] == "So far."
    assert found[-1].partial


def test_a_call_that_broke_off_before_it_became_a_round_is_kept_with_its_thoughts() -> (
    None
):
    rounds = REQUEST["result"]["metadata"]["toolCallRounds"][:1]
    metadata = {
        "toolCallRounds": rounds,
        "toolCallResults": REQUEST["result"]["metadata"]["toolCallResults"],
    }
    shown = [
        {
            "kind": "toolInvocationSerialized",
            "toolCallId": id_,
            "toolId": "copilot_look",
        }
        for id_ in ("page-1", "page-2")
    ]
    shown[1]["pastTenseMessage"] = {"value": "Looked."}
    thought = {"kind": "thinking", "value": "**Planning**", "id": "t"}
    assert len(rounds[0]["toolCalls"]) == 1
    found = answered(
        shown[0], thought, shown[1], result={"metadata": metadata}, isCanceled=True
    )
    *_, said, result = found
    assert said.parts[:1] == (Thinking("**Planning**"),)
    assert isinstance(said.parts[1], ToolCall)
    assert result.role is Role.TOOL
    whole = answered(shown[0], result={"metadata": metadata})
    assert len(whole) == len(found) - 2


def test_an_error_stands_where_no_answer_does() -> None:
    [found] = answered(result={"errorDetails": {"message": "Too long."}})
    assert found.parts == (Opaque("error", {"message": "Too long."}),)
    assert found.partial


def test_a_tool_s_result_is_texts_and_pictures() -> None:
    odd = {"$mid": 9}
    picture = {"mimeType": "image/png", "data": {"$base64": PIXEL}}
    document = {"data": {"$base64": PIXEL}}
    assert with_result({"value": "Dark."}, picture, document, odd, {"value": ""}) == (
        Text("Dark."),
        Image("image/png", data=b"PNG"),
        File("application/octet-stream", data=b"PNG"),
        Opaque("content", odd),
    )


def test_what_was_attached_is_a_file() -> None:
    found = read(
        {
            "message": {"parts": [{"text": "See "}, {"text": "this."}]},
            "variableData": {
                "variables": [{"name": "a.txt", "value": "Lamps."}, {"value": {}}]
            },
        }
    )
    [asked] = readings.messages(found)
    assert asked.parts == (
        Text("See this."),
        File("text/plain", "a.txt", data=b"Lamps."),
    )


def test_pictures_that_were_sent_are_read() -> None:
    rendered = [
        {"type": 2, "imageUrl": {"url": f"data:image/png;base64,{PIXEL}"}},
        {"type": 2, "imageUrl": {"url": "https://x/y.png"}},
    ]
    found = read({"result": {"metadata": {"renderedUserMessage": rendered}}})
    [asked] = readings.messages(found)
    assert asked.role is Role.USER
    assert asked.parts == (
        Image("image/png", data=b"PNG"),
        Image("image/*", url="https://x/y.png"),
    )


def test_a_request_that_says_nothing_is_an_event() -> None:
    found = read(REQUEST, {"requestId": "r2"})
    assert "request" in readings.events(found)


def test_thoughts_may_be_a_list_or_sealed() -> None:
    rounds = [{"thinking": {"text": ["a", "b"], "encrypted": "zzz"}, "response": "x"}]
    [found] = answered(result={"metadata": {"toolCallRounds": rounds}})
    assert found.parts == (Thinking("a\n\nb", data="zzz"), Text("x"))


def test_a_session_without_requests_is_refused() -> None:
    for data in (document({**VSCODE_SESSION, "requests": []}), lines(VSCODE_LOG[:2])):
        with pytest.raises(Invalid, match="holds no messages"):
            readings.read(data)


def test_a_long_first_line_of_a_log_is_known_too() -> None:
    session = {"sessionId": "1", "inputState": "x" * 70_000, "requests": []}
    head = {"kind": 0, "v": session}
    [found] = readings.read(lines([head, *VSCODE_LOG[2:]]))
    assert found.format == "copilot_chat"


def test_requests_of_others_are_not_taken() -> None:
    with pytest.raises(Invalid):
        readings.read({"requests": [{"message": "x"}]})
