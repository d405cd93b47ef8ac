"""Messages in files that are nearly of the published form."""

import base64
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.readings import events, messages, read, texts
from tests.threads.support.transcripts import lines
from threads.domain.formats.openai import messages as openai
from threads.domain.part import Image, Opaque, Text, Thinking, ToolCall, ToolResult

ASKED = {"role": "user", "content": "Count the lakes."}


def calling(*calls: Any, content: str = "I look.") -> dict[str, Any]:
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


@pytest.mark.parametrize(
    "said",
    [
        {"message": {"content": [{"type": "text", "text": "Count the lakes."}]}},
        {"message": "Count the lakes."},
        {"text": "Count the lakes."},
        {"content": {"type": "text", "text": "Count the lakes."}},
    ],
)
def test_words_are_found_wherever_beside_the_role_they_stand(said: Any) -> None:
    [found] = read(lines({"role": "user", **said}, {"role": "assistant", **said}))

    assert found.format == "openai"
    assert texts(found) == ["Count the lakes."] * 2


@pytest.mark.parametrize("name", ["timestamp", "createdAt", "time", "date"])
def test_a_time_is_found_under_the_names_that_programs_give_to_it(name: str) -> None:
    noted = {"id": "1", "role": "assistant", "content": "Nine.", "timestamp": None}
    said = [{**ASKED, name: "2026-03-01T10:00:00Z"}, {**noted, name: 1_772_359_200}]

    for data in (lines(*said), json.dumps(said).encode()):
        [found] = read(data)
        times = [one.created_at for one in messages(found)]
        assert times == [datetime(2026, 3, 1, 10, tzinfo=UTC)] * 2


def test_pictures_and_thoughts_of_ollama_are_parts_of_their_message() -> None:
    data = base64.b64encode(b"PNG").decode()
    shown = {**ASKED, "images": [data, "lake.png", ""]}
    answer = {"role": "assistant", "content": "Nine.", "thinking": "Hm."}

    for file in (lines(shown, answer), json.dumps({"messages": [shown, answer]})):
        [found] = read(file if isinstance(file, bytes) else file.encode())
        assert [one.parts for one in messages(found)] == [
            (Text("Count the lakes."), Image("image/*", data=b"PNG")),
            (Thinking("Hm."), Text("Nine.")),
        ]


def test_notes_on_a_message_are_no_message() -> None:
    notes = {"id": "msg_1", "sessionID": "s", "role": "user", "time": {"created": 1}}
    with pytest.raises(Invalid) as refusal:
        read(json.dumps(notes).encode())

    assert refusal.value.code == "format_unknown"
    [found] = read(lines(ASKED, notes, ASKED))
    assert (texts(found), events(found)) == (["Count the lakes."] * 2, ["record"])


@pytest.mark.parametrize("member", ["arguments", "args", "input", "parameters"])
def test_a_call_may_have_its_name_beside_its_id(member: str) -> None:
    call = {"id": "c1", "name": "count", member: {"of": "lakes"}}
    [found] = read(lines(ASKED, calling(call)))

    assert messages(found)[1].parts == (
        Text("I look."),
        ToolCall("c1", "count", {"of": "lakes"}),
    )
    assert found.warnings == []


def test_a_call_without_a_name_is_kept_whole_with_its_message() -> None:
    named = {"id": "c1", "function": {"name": "count", "arguments": "{}"}}
    [found] = read(
        lines(ASKED, calling({"of": "lakes"}, named), calling(3, content=""))
    )

    _, first, second = messages(found)
    unread = Opaque("tool_call", {"type": "tool_call", "tool_call": {"of": "lakes"}})
    assert first.parts == (Text("I look."), unread, ToolCall("c1", "count", {}))
    assert second.parts == (Opaque("tool_call", {"type": "tool_call", "tool_call": 3}),)


def test_what_a_tool_answered_may_be_an_object() -> None:
    answer = {"role": "tool", "tool_call_id": "c1", "content": {"lakes": "\udcff"}}
    [found] = read(lines(ASKED, answer))

    [result] = messages(found)[1].parts
    assert isinstance(result, ToolResult)
    [words] = result.content
    assert isinstance(words, Text) and words.text.startswith('{"lakes": "')


def test_what_cannot_be_mended_is_still_reported() -> None:
    bad = {"role": "user", "content": 7}
    [found] = read(lines(ASKED, bad, calling("x") | {"role": "?"}))

    assert texts(found) == ["Count the lakes."]
    assert [warning.code for warning in found.warnings] == ["invalid", "invalid"]


def test_a_request_is_read_by_the_published_form_alone() -> None:
    with pytest.raises(Invalid):
        openai.read_messages([calling({"id": "c1", "name": "count", "args": {}})])


def test_what_a_call_holds_of_its_result_is_kept() -> None:
    [found] = read(
        lines(
            ASKED,
            calling(
                {"tool": "look", "input": {}, "output": "Dark."},
                {"tool": "see", "output": ""},
            ),
        )
    )

    assert messages(found)[1].parts == (
        Text("I look."),
        Opaque("tool_output", {"type": "tool_output", "tool_output": "Dark."}),
        ToolCall("", "look", {}),
        ToolCall("", "see", {}),
    )
