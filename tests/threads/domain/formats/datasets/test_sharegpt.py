"""ShareGPT's data sets: turns, calls without ids, columns beside them."""

import io
from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support import readings
from tests.threads.support.readings import messages, read
from tests.threads.support.transcripts import lines
from threads.domain.formats.datasets import sharegpt
from threads.domain.part import Image, Part, Text, ToolCall, ToolResult
from threads.domain.transcript import Event


def turn(from_: str, value: Any) -> dict[str, Any]:
    return {"from": from_, "value": value}


def parts(from_: str, value: Any) -> tuple[Part, ...]:
    message = sharegpt.read_turn(turn(from_, value))
    assert message is not None
    return message.parts


ROW = {
    "id": "r1",
    "system": "Be brief.",
    "tools": '[{"name": "boil"}]',
    "conversations": [
        turn("human", "Make tea."),
        turn("function_call", '{"name": "boil", "arguments": {"c": 90}}'),
        turn("observation", "Hot."),
        turn("gpt", "Ready."),
        turn("narrator", "Steam rises."),
    ],
}


def test_a_row_is_a_conversation() -> None:
    [transcript] = read([ROW])
    system, human, call, result, answer = messages(transcript)

    assert (transcript.format, transcript.title) == ("sharegpt", "Make tea.")
    assert transcript.external_id == "r1"
    assert (system.role, system.text) == ("system", "Be brief.")
    assert (human.role, answer.role, answer.text) == ("user", "assistant", "Ready.")
    assert call.parts == (ToolCall("call_1", "boil", {"c": 90}),)
    assert result.parts == (ToolResult("call_1", (Text("Hot."),)),)
    assert [i.type for i in transcript.items if isinstance(i, Event)] == [
        "narrator",
        "tools",
    ]


@pytest.mark.parametrize("number", [7, "7", ""])
def test_the_number_of_a_row_names_no_conversation(number: Any) -> None:
    [found] = read([ROW | {"id": number}])

    assert found.external_id is None


def test_rows_come_one_a_line_too() -> None:
    rows = read(lines(ROW, {**ROW, "id": 7}, {"conversations": [turn("x", "y")]}))

    assert [row.external_id for row in rows] == ["r1", None]


def test_one_row_may_stand_alone_and_hold_roles() -> None:
    said = [{"role": "assistant", "content": "Hi"}, {"role": 3}, "odd"]
    [transcript] = read({"conversation": said, "conversations": None, "system": 3})

    assert [m.text for m in messages(transcript)] == ["Hi"]
    assert (transcript.title, transcript.external_id) == ("ShareGPT conversation", None)


def test_calls_as_hermes_writes_them_are_calls() -> None:
    text = (
        "Two things.\n<tool_call>\n"
        '{"name": "boil", "arguments": {"c": 90}}\n</tool_call>\n'
        '<tool_call>{"name": "pour", "parameters": "{}"}</tool_call>'
    )
    answers = "<tool_response>\nHot.\n</tool_response><tool_response></tool_response>"
    [transcript] = read([{"conversations": [turn("gpt", text), turn("tool", answers)]}])
    call, result = messages(transcript)

    assert call.parts == (
        Text("Two things."),
        ToolCall("call_1", "boil", {"c": 90}),
        ToolCall("call_2", "pour", {}),
    )
    assert result.parts == (
        ToolResult("call_1", (Text("Hot."),)),
        ToolResult("call_2", ()),
    )


@pytest.mark.parametrize(
    ("from_", "value", "found"),
    [
        ("gpt", "", ()),
        (
            "gpt",
            '<tool_call>{"a": 1}</tool_call>',
            (Text('<tool_call>{"a": 1}</tool_call>'),),
        ),
        ("function_call", "boil()", (Text("boil()"),)),
        (
            "function_call",
            [{"name": "boil"}, {"name": "pour", "arguments": "{}"}],
            (ToolCall("", "boil", {}), ToolCall("", "pour", {})),
        ),
        ("observation", {"c": 90}, (ToolResult("", (Text('{"c": 90}'),)),)),
        ("human", {"c": 90}, (Text('{"c": 90}'),)),
        (
            "human",
            [{"type": "image_url", "image_url": {"url": "https://a.example/b.png"}}],
            (Image("image/*", url="https://a.example/b.png"),),
        ),
    ],
)
def test_values_of_every_kind_are_read(
    from_: str, value: Any, found: tuple[Part, ...]
) -> None:
    assert parts(from_, value) == found


def test_a_set_without_turns_is_refused() -> None:
    with pytest.raises(Invalid, match="holds no messages"):
        sharegpt.read(io.BytesIO(b'[{"conversations": []}, 3]'), "")


def test_turns_of_role_and_content_may_name_a_bot() -> None:
    turns = [{"role": "user", "content": "Hi."}, {"role": "bot", "content": "Ho."}]
    [found] = readings.read({"conversation": [*turns, {"role": "?", "content": "No."}]})
    assert readings.told(found) == ["user: Hi.", "assistant: Ho.", "?"]


def test_words_around_a_marked_answer_are_not_lost() -> None:
    text = "It says:\n<tool_response>90</tool_response>"

    assert parts("tool", text) == (ToolResult("", (Text(text),)),)


@pytest.mark.parametrize("from_", ["gpt", "tool"])
def test_elements_that_nobody_closes_are_text_and_take_no_time(from_: str) -> None:
    text = ("<tool_call>{" if from_ == "gpt" else "<tool_response>") * 200_000

    [part] = parts(from_, text)

    assert Text(text) in (part, *getattr(part, "content", ()))
