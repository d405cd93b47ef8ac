"""What kind of container a file of messages is, without reading a long line whole."""

import io
import json

import pytest

from threads.domain.formats.io import source
from threads.domain.formats.kit.chats import chat
from threads.domain.formats.openai import messages as openai
from threads.domain.message import Message

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
