"""What of a part is counted."""

from threads.domain.part import (
    File,
    Image,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from threads.domain.tokens import FILE, IMAGE, estimate, texts

PICTURE = Image("image/png", data=b"PNG")


def test_words_are_counted_as_they_stand() -> None:
    assert list(texts(Text("Hi"))) == ["Hi"]
    assert list(texts(Thinking("Hm.", "signature"))) == ["Hm."]
    assert list(texts(ToolCall("1", "f", {"é": 1}))) == ["f", '{"é": 1}']
    assert list(texts(ToolCall("1", "f", "verbatim"))) == ["f", "verbatim"]
    assert list(texts(ToolResult("1", (Text("a"), PICTURE, Text("b"))))) == ["a", "b"]
    assert list(texts(Opaque("x", [1]))) == ["[1]"]
    assert list(texts(PICTURE)) == []


def test_images_and_files_are_estimated() -> None:
    assert estimate(PICTURE) == IMAGE
    assert estimate(File("application/pdf")) == FILE
    assert estimate(ToolResult("1", (PICTURE, PICTURE, Text("x")))) == 2 * IMAGE
    assert estimate(Text("x")) == 0
