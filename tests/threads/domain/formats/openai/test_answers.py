"""Results in OpenAI's messages that don't say which call they answer."""

from typing import Any

import pytest

from tests.threads.support import readings
from tests.threads.support.transcripts import lines
from threads.domain import formats
from threads.domain.message import Message, Role
from threads.domain.part import Text, ToolCall, ToolResult

ASKED = {"role": "user", "content": "Look at both."}
DONE = {"role": "assistant", "content": "Both are there."}


def calling(*calls: tuple[str, str]) -> dict[str, Any]:
    made = [
        {"id": id_, "type": "function", "function": {"name": name, "arguments": "{}"}}
        for id_, name in calls
    ]
    return {"role": "assistant", "content": None, "tool_calls": made}


def gave(words: str, **members: Any) -> dict[str, Any]:
    return {"role": "tool", "content": words, **members}


def text_of(result: ToolResult) -> str:
    return "".join(part.text for part in result.content if isinstance(part, Text))


def answered(*messages: dict[str, Any], kept: bool = False) -> dict[str, str]:
    """By what a tool gave the call that it answers."""
    data: Any = [ASKED, *messages, DONE] if kept else lines(ASKED, *messages, DONE)
    [found] = readings.read(data, "openai")
    return {
        text_of(part): part.call_id
        for item in found.items
        if isinstance(item, Message)
        for part in item.parts
        if isinstance(part, ToolResult)
    }


BOTH = calling(("c1", "list"), ("c2", "read"))
TWICE = calling(("c1", "read"), ("c2", "read"))


@pytest.mark.parametrize("kept", [True, False])
def test_as_many_as_there_are_calls_answer_them_in_their_order(kept: bool) -> None:
    assert answered(BOTH, gave("A"), gave("B"), kept=kept) == {"A": "c1", "B": "c2"}


def test_those_with_names_answer_the_calls_of_these_names() -> None:
    told = answered(BOTH, gave("B", name="read"), gave("A", name="list"))
    assert told == {"A": "c1", "B": "c2"}
    assert answered(TWICE, gave("A", name="read"), gave("B", name="read")) == {
        "A": "c1",
        "B": "c2",
    }


def test_one_of_several_answers_the_one_call_of_its_name() -> None:
    assert answered(BOTH, gave("B", name="read")) == {"B": "c2"}


def test_those_that_name_their_calls_are_passed_over() -> None:
    first = gave("A", tool_call_id="c1")
    assert answered(BOTH, first, gave("B")) == {"A": "c1", "B": "c2"}
    assert answered(BOTH, gave("B"), first) == {"A": "c1", "B": "c2"}


def test_what_is_no_message_stands_between_them() -> None:
    note = {"type": "note", "about": "nothing"}
    assert answered(BOTH, gave("A"), note, gave("B")) == {"A": "c1", "B": "c2"}


@pytest.mark.parametrize(
    "messages",
    [
        (BOTH, gave("A")),
        (TWICE, gave("A", name="read")),
        (BOTH, gave("A", name="read"), gave("B", name="read")),
        (BOTH, gave("A", name="write"), gave("B", name="list and read")),
        (calling(("c1", "list")), ASKED, gave("A")),
        (calling(("c1", "list"), ("", "read")), gave("A"), gave("B")),
        (gave("A"),),
    ],
)
def test_those_of_which_nobody_knows_stay_without_a_call(
    messages: tuple[dict[str, Any], ...],
) -> None:
    assert set(answered(*messages).values()) == {""}


def test_calls_without_ids_are_answered_as_before() -> None:
    assert answered(calling(("", "list")), gave("A")) == {"A": ""}


def test_our_own_form_gives_what_it_was_given() -> None:
    said = [
        Message(role=Role.ASSISTANT, parts=(ToolCall("c1", "list", {}),)),
        Message(role=Role.TOOL, parts=(ToolResult("", (), "list"),)),
    ]
    written = b"".join(formats.write("contextstudio", said, formats.Heading()))
    [found] = readings.read(written)
    assert readings.parts(found) == [message.parts for message in said]
