"""How much of a file's text is in messages, in events, and nowhere."""

import io
import json
from typing import Any

import pytest

from tests.threads.support.streams import as_sse, chat, chunk
from tests.threads.support.transcripts import lines
from threads.domain import formats, leaves
from threads.domain.leaves import LeafCount, count_leaves, is_text
from threads.domain.message import Message, Role
from threads.domain.part import File, Opaque, Text, Thinking, ToolCall, ToolResult
from threads.domain.transcript import Compaction, Event, Transcript


def counted(data: bytes) -> LeafCount:
    file = io.BytesIO(data)
    return count_leaves(formats.read(file), file)


def of_items(data: bytes, *items: Any) -> LeafCount:
    made = Transcript(format="x", title="", items=items)
    return count_leaves([made], io.BytesIO(data))


def said(*parts: Any, record: str = "") -> Message:
    return Message(role=Role.USER, parts=parts, records=(record,))


def placed(value: Any) -> tuple[bytes, str]:
    data = json.dumps(value).encode()
    return data, f"bytes:0-{len(data)}"


def test_what_is_said_what_is_kept_and_what_is_neither() -> None:
    asked = {"role": "user", "content": "Which lamp is broken?", "note": "not read"}
    found = counted(
        json.dumps(
            {"messages": [asked], "title": "Two lamps", "tools": "an event"}
        ).encode()
    )
    # The title is what the conversation is called.
    assert (found.messages, found.events, found.nowhere) == (30, 8, 8)
    assert found.report()["members"] == {"note": 8}


@pytest.mark.parametrize(
    ("parts", "record"),
    [
        ([Text("two words")], {"x": " two words "}),
        ([Text("one two words more")], {"x": "two words"}),
        ([Thinking("two words")], {"x": "two words"}),
        ([ToolCall("c", "f", {"a": ["two words"]})], {"x": '{"a": ["two words"]}'}),
        ([ToolCall("c", "f", "two words")], {"x": "two words"}),
        ([ToolResult("c", (Text('{"a": "two words"}'),))], {"x": {"a": "two words"}}),
        ([Opaque("y", {"a": "two words"})], {"x": "two words"}),
        ([File("text/plain", "a", data=b"two words")], {"x": "two words"}),
        ([File("text/plain", "two words.txt")], {"x": "two words.txt"}),
    ],
)
def test_a_leaf_is_in_a_message_however_it_is_said(parts: Any, record: Any) -> None:
    data, place = placed(record)
    found = of_items(data, said(*parts, record=place))
    assert (found.events, found.nowhere) == (0, 0)
    assert found.messages > 0


def test_a_text_taken_apart_is_counted_by_its_pieces(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data, place = placed({"x": "lamp one <call> lamp two"})
    found = of_items(data, said(Text("lamp one"), Text("lamp two"), record=place))
    assert (found.messages, found.nowhere) == (16, 8)
    monkeypatch.setattr(leaves, "MAX_SEARCHED", 1)
    found = of_items(data, said(Text("lamp one"), Text("lamp two"), record=place))
    assert (found.messages, found.nowhere) == (0, 24)


CALL = chunk(
    {"tool_calls": [{"index": 0, "id": "t", "function": {"name": "look"}}]}, "c-2"
)
PIECE = chunk(
    {"tool_calls": [{"index": 0, "function": {"arguments": '{"at": "the old pier"}'}}]},
    "c-2",
)


def test_what_a_stream_says_in_pieces_is_in_its_message() -> None:
    events = [*chat("Where the night ferry lands is not known."), CALL, PIECE]
    objects = [one for one in events if isinstance(one, dict)]
    asked = [{"role": "user", "content": "Where does it land?"}]
    logged = {"messages": asked, "response": as_sse(*events[:6]).decode()}
    for data in (as_sse(*events), lines(*objects), json.dumps(logged).encode()):
        found = counted(data)
        assert (found.events, found.nowhere) == (0, 0)
        assert found.messages > 30


def test_json_in_a_text_is_counted_by_its_own_members() -> None:
    data, place = placed({"x": '{"a": "not read", "b": "two words", "c": "id"}'})
    found = of_items(data, said(Text("two words"), record=place))
    assert (found.messages, found.members) == (9, {"x.a": 8})


def test_a_summary_is_a_message_and_an_event_within_it_keeps_its_own_text() -> None:
    data, place = placed({"x": "two words", "y": "not read", "z": {"a": "an event"}})
    summary = Compaction(
        replaces=(0,), messages=(said(Text("two words")),), record=place
    )
    inner = data.index(b'{"a"')
    event = Event("z", f"bytes:{inner}-{len(data) - 1}")
    assert of_items(data, summary).nowhere == 16
    found = of_items(data, summary, event)
    assert (found.messages, found.events, found.members) == (9, 8, {"y": 8})
    assert of_items(data, Event("x", "file#bytes:0-3"), Event("y", "row:a/1")).members


def test_lines_of_text_are_leaves() -> None:
    story = b"#### Look at it\n\nIt is dark.\n\n> Tokens: 1.2k sent, 30 received.\n"
    found = counted(story)
    assert (found.messages, found.events, found.nowhere) == (21, 31, 0)
    assert of_items(story + b"more of it").members == {"text": 74}


def test_a_line_of_a_stream_is_counted_by_its_members() -> None:
    data = b'data: {"a": "two words", "b": "not read"}\n'
    message = said(Text("two words"), record=f"bytes:0-{len(data)}")
    assert of_items(data, message).members == {"b": 8}


def test_what_is_broken_off_is_text_too() -> None:
    assert of_items(b'{"x": "\xff y", "a": "\\x y", "z').members == {
        "x": 3,
        "a": 4,
    }
    assert of_items(b'["two words').nowhere == 0
    assert of_items(b'{"x": "two words"').members == {"x": 9}
    assert of_items(b'["two words"').members == {"member": 9}
    broken = b'{"x": two words}'
    assert of_items(broken, Event("x", "bytes:0-16")).events == 16


def test_members_past_the_most_are_counted_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(leaves, "MAX_MEMBERS", 1)
    found = of_items(b'{"a": "two words", "b": "two words"}')
    assert found.members == {"a": 9, "other members": 9}
    both = LeafCount(messages=1, events=2)
    both.join(found)
    assert (both.messages, both.events, both.nowhere) == (1, 2, 18)


def test_what_lies_beyond_the_most_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaves, "MAX_BYTES", 20)
    data, place = placed({"x": "two words", "y": "two words"})
    assert of_items(data, said(Text("two words"), record=place)).messages == 0


def test_a_record_that_the_most_cuts_is_left_out_and_what_is_before_it_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, last = b'{"x": "two words"}\n', b'{"y": "in part", "z": "to the end"}'
    size = len(first) + len(last)
    monkeypatch.setattr(leaves, "MAX_BYTES", size - 5)
    cut = said(Text("in part"), record=f"bytes:{len(first)}-{size}")
    assert of_items(first + last, cut).members == {"x": 9}


def test_a_record_that_is_no_json_is_one_text() -> None:
    deep: Any = "two words"
    for _ in range(250):
        deep = [deep]
    data, place = placed({"x": deep})
    assert of_items(data, Event("x", place)).events == len(data)
    data, place = placed({"y": "{two words"})
    assert of_items(data, Event("x", place)).events == 10


def test_words_are_two_or_more() -> None:
    assert is_text("two words") and is_text(" a b ")
    assert not is_text("word") and not is_text("") and not is_text("  ")
