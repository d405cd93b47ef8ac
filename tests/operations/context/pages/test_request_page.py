"""Messages of requests as people read them, in the form of each provider."""

from typing import Any

import pytest

from operations.context.pages.request_page import pieces_of

COMMAND = "for one in *; do\n  cat $one\ndone"


def read(message: dict[str, Any]) -> list[tuple[str, str]]:
    return [(piece.label, piece.text) for piece in pieces_of(message)]


def test_words_have_no_line_above_them() -> None:
    blocks = [{"type": "text", "text": "Look."}, {"text": "And again."}]
    assert read({"role": "user", "content": "Look."}) == [("", "Look.")]
    assert read({"role": "user", "content": blocks}) == [
        *(("", "Look."), ("", "And again.")),
    ]


@pytest.mark.parametrize(
    ("message", "line"),
    [
        (
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "c1",
                        "type": "function",
                        "function": {"name": "bash", "arguments": '{"a": 1}'},
                    }
                ],
            },
            "function: id c1, name bash",
        ),
        (
            {
                "type": "function_call",
                "call_id": "c1",
                "name": "bash",
                "arguments": '{"a": 1}',
            },
            "call_id c1, name bash",
        ),
        (
            {
                "role": "assistant",
                "content": [
                    {"type": "tool_use", "id": "c1", "name": "bash", "input": {"a": 1}}
                ],
            },
            "tool_use: id c1, name bash",
        ),
        (
            {
                "role": "model",
                "parts": [{"functionCall": {"name": "bash", "args": {"a": 1}}}],
            },
            "functionCall: name bash",
        ),
        (
            {
                "role": "assistant",
                "content": [
                    {
                        "toolUse": {
                            "toolUseId": "c1",
                            "name": "bash",
                            "input": {"a": 1},
                        }
                    }
                ],
            },
            "toolUse: toolUseId c1, name bash",
        ),
    ],
    ids=["openai", "responses", "anthropic", "gemini", "bedrock"],
)
def test_a_call_is_a_line_and_what_is_given_to_the_tool(
    message: dict[str, Any], line: str
) -> None:
    [(label, text)] = read(message)
    assert label == line
    assert text.split() in (["{", '"a":', "1", "}"], ['{"a":', "1}"])


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ({"role": "tool", "tool_call_id": "c1", "content": COMMAND}, "tool_call_id c1"),
        (
            {"type": "function_call_output", "call_id": "c1", "output": COMMAND},
            "call_id c1",
        ),
        (
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c1", "content": COMMAND}
                ],
            },
            "tool_result: tool_use_id c1",
        ),
        (
            {
                "role": "user",
                "content": [
                    {"toolResult": {"toolUseId": "c1", "content": [{"text": COMMAND}]}}
                ],
            },
            "toolResult: toolUseId c1",
        ),
    ],
    ids=["openai", "responses", "anthropic", "bedrock"],
)
def test_a_result_reads_line_by_line_as_the_tool_printed_it(
    message: dict[str, Any], line: str
) -> None:
    assert read(message) == [(line, COMMAND)]


def test_a_short_result_is_a_block_too() -> None:
    [(_, text)] = read({"role": "tool", "tool_call_id": "c1", "content": "ok"})
    assert text == "ok"


def test_bytes_are_cut_and_a_line_stands_alone_where_nothing_is_said() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "A" * 500}
    image = {"type": "image", "source": source}
    assert read({"role": "user", "content": [image]}) == [
        ("image: media_type image/png, data", f"{'A' * 60}… (500 characters)"),
    ]
    link = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    assert read({"role": "user", "content": [link]}) == [
        ("image_url: url https://example.org/a.png", ""),
    ]


def test_an_object_in_an_object_is_shown_whole() -> None:
    response = {"name": "bash", "response": {"output": "ok", "exit": 0}}
    [(label, text)] = read({"role": "user", "parts": [{"functionResponse": response}]})
    assert label == "functionResponse: name bash"
    assert '"exit": 0' in text


def test_what_can_not_be_seen_is_made_visible() -> None:
    [(label, text)] = read({"role": "tool", "name": "a\u202eb", "content": "c\u202ed"})
    assert "\u202e" not in label + text


def test_a_list_of_other_things_is_named_and_written() -> None:
    assert read({"role": "user", "content": ["one", 2]}) == [
        ("", "one"),
        ("content", "2"),
    ]
