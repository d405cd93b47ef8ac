"""What kind of container a file of messages is, without reading a long line whole."""

import io
import json
from typing import Any

import pytest

from tests.threads.support import readings
from tests.threads.support.transcripts import lines
from threads.domain.formats.io import source
from threads.domain.formats.kit.chats import chat
from threads.domain.formats.openai import messages as openai
from threads.domain.message import Message
from threads.domain.part import Text, Thinking

SAID = [{"role": "user", "content": f"message {number}"} for number in range(6)]


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "CHUNK", 64)


def texts(data: bytes) -> list[list[str]]:
    found = chat.read(io.BytesIO(data), openai.DIALECT)
    return [
        [item.text for item in one.items if isinstance(item, Message)] for one in found
    ]


@pytest.mark.parametrize("end", [b"", b"\n", b" \n \n" + b" " * 100])
def test_a_document_on_one_long_line_is_one_conversation(end: bytes) -> None:
    expected = [[f"message {number}" for number in range(6)]]
    assert texts(json.dumps(SAID).encode() + end) == expected
    assert texts(json.dumps({"messages": SAID}).encode() + end) == expected


def test_long_lines_with_others_behind_them_are_json_lines() -> None:
    row = json.dumps({"messages": SAID}).encode()
    assert [len(one) for one in texts(row + b"\n" + row + b"\n")] == [6, 6]


def test_a_list_of_messages_a_line_is_a_conversation_a_line() -> None:
    said = [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Ho."}]
    for count in (2, 3):
        found = readings.read(lines(*[said] * count))
        assert [len(readings.messages(one)) for one in found] == [2] * count
        assert [list(one.items) and one.warnings for one in found] == [[]] * count


@pytest.mark.parametrize("more", [{}, {"request": {"messages": SAID[:1]}}])
def test_a_reply_of_ollama_s_answers_what_it_is_logged_with(more: Any) -> None:
    said = {"role": "assistant", "content": "Ho.", "thinking": "Hm."}
    log = {"response": {"model": "m", "message": said, "done": True}}
    [found] = readings.read(log | (more or {"messages": SAID[:1]}))
    assert readings.texts(found)[1:] == ["Ho."]
    assert readings.parts(found)[1] == (Thinking("Hm."), Text("Ho."))


@pytest.mark.parametrize("name", ["response", "model_response", "output"])
def test_a_reply_in_words_alone_answers_the_user_that_waits(name: str) -> None:
    asked, told = {"role": "user", "content": "Hi."}, "assistant: Ho."
    [found] = readings.read({"messages": [asked], name: "Ho.", "n": 1})
    assert readings.told(found) == ["user: Hi.", told, "n"]
    said = [asked, {"role": "assistant", "content": "Ho."}]
    for messages, words in ((said, "Ha."), ([asked], " "), ([asked], "data: {}")):
        [found] = readings.read({"messages": messages, name: words})
        assert readings.events(found) == [name]
