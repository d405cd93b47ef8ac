"""What of a part is counted."""

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
from threads.domain.tokens import FILE, IMAGE, total, words

PICTURE = Image("image/png", data=b"PNG")


def texts(part: Part) -> list[str]:
    """The texts that are counted."""
    found: list[str] = []
    total(words([part])[0], lambda text: found.append(text) or 0)  # type: ignore[func-returns-value]
    return found


def estimate(part: Part) -> int:
    """What is not counted."""
    return total(words([part])[0], lambda _: 0)


def test_words_are_counted_as_they_stand() -> None:
    assert texts(Text("Hi")) == ["Hi"]
    assert texts(Thinking("Hm.", "signature")) == ["Hm."]
    assert texts(ToolCall("1", "f", {"é": 1})) == ["f", '{"é": 1}']
    assert texts(ToolCall("1", "f", {"b": 1, "a": 2}, '{"b":1}')) == ["f", '{"b":1}']
    assert texts(ToolCall("1", "f", "verbatim")) == ["f", "verbatim"]
    assert texts(ToolResult("1", (Text("a"), PICTURE, Text("b")))) == ["a", "b"]
    assert texts(Opaque("x", [1])) == ["[1]"]
    assert texts(PICTURE) == []


def test_images_and_files_are_estimated() -> None:
    assert estimate(PICTURE) == IMAGE
    assert estimate(File("application/pdf")) == FILE
    assert estimate(ToolResult("1", (PICTURE, PICTURE, Text("x")))) == 2 * IMAGE
    assert estimate(Text("x")) == 0


def test_what_is_estimated_is_added_to_what_is_counted() -> None:
    result = ToolResult("1", (PICTURE, Text("abc"), Text("de")))
    assert total(words([result])[0], len) == IMAGE + 5
