"""Whatever the bytes: conversations or a refusal with a sentence, never anything else."""

import io
import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.transcripts import (
    answer,
    claude_lines,
    lines,
    record,
    text,
    user,
)
from threads.domain import formats
from threads.domain.body import encode_parts
from threads.domain.message import Message
from threads.domain.transcript import Compaction, Event, Transcript

CHAT = json.dumps(
    {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "Hi \ud800 \u0000"}]},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "c",
                        "function": {"name": "f", "arguments": '{"a": [1, 2.5]}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "c", "content": "done"},
        ],
        "response": {
            "choices": [{"message": {"role": "assistant", "content": "Yes."}}]
        },
    },
    indent=1,
).encode()
CLAUDE = lines(
    *claude_lines(),
    user("x1", None, "Aside.", isSidechain=True),
    record("system", "b1", "a3", subtype="compact_boundary"),
    user("s1", "b1", "In short.", isCompactSummary=True),
    user("u2", "a3", "Left."),
    answer("a4", "u2", text("Left, too.")),
    user("u3", "s1", "Taken."),
)
ROWS = b"\n".join(
    json.dumps({"messages": [{"role": "user", "content": str(n)}]}).encode()
    for n in range(3)
)
SEEDS = (CHAT, CLAUDE, ROWS, CHAT.replace(b"\n", b""), b"[%b,%b]" % (CHAT, CHAT))
PIECES = st.sampled_from(
    [
        *(
            b"",
            b"\0",
            b"\xed\xa0\x80",
            b"\xff",
            b"NaN",
            b"1e999",
            b"9" * 5000,
            b"[" * 300,
        ),
        *(b"[", b"]", b"{", b"}", b'"', b"\\", b",", b":", b"\n", b"\r\n", b"null"),
        *(b"{}", b"[]", b"0", b'"x"', b'"role"', b'"content"', b'"type"', b'"uuid"'),
        *(b'"system"', b'"response"', b'"parentUuid"', b'"a1"', b'"isSidechain": true'),
    ]
)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A good file with a few places cut, doubled or overwritten."""
    data = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = draw(st.integers(start, min(len(data), start + 200)))
        data = data[:start] + draw(PIECES | st.just(data[start:end] * 2)) + data[end:]
    return data


def outcome(data: bytes, format: str = "auto") -> list[Transcript] | Invalid:
    """What reading came to, with every item read and everything in it writable."""
    try:
        found = formats.read(io.BytesIO(data), format)
    except Invalid as refusal:
        assert refusal.message.endswith(".") and refusal.code
        return refusal
    for transcript in found:
        items = list(transcript.items)
        assert transcript.parent or any(isinstance(item, Message) for item in items)
        for item in items:
            assert isinstance(item, Message | Event | Compaction)
        messages = [item for item in items if isinstance(item, Message)]
        for message in messages:
            encode_parts(message.parts)
        for name in formats.WRITERS:
            assert b"".join(
                formats.write(name, messages, formats.Heading(title=transcript.title))
            )
    return found


@settings(max_examples=200, deadline=None)
@given(
    mutated(),
    st.sampled_from(["auto", "openai", "anthropic", "claude_code", "contextstudio"]),
)
def test_a_mutated_file_is_read_or_refused(data: bytes, format: str) -> None:
    outcome(data, format)


@settings(deadline=None)
@given(st.binary(max_size=300), st.sampled_from(["auto", "openai", "claude_code"]))
@example(b"\xff\xfe{\0}\0", "auto")
@example(b'{"messages": [', "openai")
def test_any_bytes_are_read_or_refused(data: bytes, format: str) -> None:
    outcome(data, format)


@pytest.mark.parametrize(
    ("data", "code", "words"),
    [
        (b"", "format_unknown", "an empty file"),
        (b" \n\r\n ", "format_unknown", "an empty file"),
        ("{}".encode("utf-16"), "format_unknown", "UTF-16"),
        ('{"a": 1}'.encode("utf-16-le"), "format_unknown", "UTF-16"),
        ("{}".encode("utf-32"), "format_unknown", "UTF-32"),
        (b"\0\0\xfe\xff\0\0\0[", "format_unknown", "UTF-32"),
        ('{"a": 1}'.encode("utf-32-le"), "format_unknown", "UTF-32"),
        ("[1]".encode("utf-32-be"), "format_unknown", "UTF-32"),
        (b'[{"role": "user", "content": "caf\xe9"}]', "format_unknown", "at byte 33"),
        (b"caf\xc3\xa9 caf\xe9", "format_unknown", "save it as UTF-8"),
        pytest.param(
            b"a" + "é".encode() * 40_000,
            *("format_unknown", "text, but not a transcript"),
            id="text whose first 64 KiB end inside a character",
        ),
        (b'{\n"role": "user", "content": "a"\n}\n' * 2, "another_document", "byte 35"),
        (b"[" + b"9" * 5_000 + b"]", "format_unknown", "text"),
        (b'{"a": 1}\n{"b": 2}\n', "format_unknown", "JSON, but not a transcript"),
        (b'["a", {}]\n\n["b", {}]\n', "format_unknown", "JSON, but not a transcript"),
        pytest.param(
            b'["a", "' + b"b" * 900 + b'"]\n' + b'["a"]\n' * 20_000,
            *("format_unknown", "JSON, but not a transcript"),
            id="more lines that are lists than are looked at",
        ),
        (b'["a"]\n]', "format_unknown", "line 2, column 1"),
        (b'[\n{"role": "user"},\n,]', "format_unknown", "line 3, column 1"),
        (b"[{'role': 'user'}]", "format_unknown", "a Python list"),
        (b"{\n 'messages': []}", "format_unknown", "json.dumps"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "format_unknown", "an image (PNG)"),
        (b"\x89PNG\n\x1a\nIHDR\x08\x06\xe5", "format_unknown", "an image (PNG)"),
        (b"RIFF\x24\x9a\x01\x01WEBPVP8 ", "format_unknown", "an image (WebP)"),
        (b"\x7fELF\x02\x01\x01\0", "format_unknown", "a binary file"),
        (b"\x7fELF\x02\x01\x01\xe5\xff", "format_unknown", "a binary file"),
        (b"Just a note.", "format_unknown", "text, but not a transcript"),
        (b'{"a": 1}', "format_unknown", "JSON, but not a transcript"),
        (b'{"a": [{"b": 1}, {"b', "format_unknown", "JSON that ends before"),
        (b'[{"a": 1}, {"a": 2}', "format_unknown", "JSON that ends before"),
        (b"[" * 100_000, "json_too_deep", "200 levels"),
        (b'{"messages": ' + b"[" * 100_000, "json_too_deep", "200 levels"),
    ],
)
def test_what_is_no_transcript_is_refused_with_its_name(
    data: bytes, code: str, words: str
) -> None:
    refusal = outcome(data)

    assert isinstance(refusal, Invalid)
    assert (refusal.code, words in refusal.message) == (code, True)


def test_a_deep_message_is_left_out_with_its_place() -> None:
    deep = b'{"role": "user", "content": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    found = outcome(b'{"role": "user", "content": "Hi"}\n' + deep)

    assert isinstance(found, list)
    assert [(w.code, w.line) for w in found[0].warnings] == [("json_too_deep", 2)]


def test_a_line_of_50_mb_is_read_to_the_beginning_of_its_text() -> None:
    row = b'{"role": "user", "content": "' + b"x" * (50 << 20) + b'"}'
    found = outcome(row + b'\n{"role": "assistant", "content": "Long."}\n')

    assert isinstance(found, list)
    assert [w.code for w in found[0].warnings] == ["text_in_file"]
    first, second = (item for item in found[0].items if isinstance(item, Message))
    assert first.text.startswith("x" * (60 << 10))
    assert len(first.text) < 70 << 10
    assert second.text == "Long."


@pytest.mark.parametrize("format", ["openai", "claude_code"])
def test_a_line_above_64_mb_is_refused_with_its_number(format: str) -> None:
    first = CLAUDE.splitlines()[1] if format == "claude_code" else b'{"role": "user"}'
    short = b",".join([b'"%b"' % (b"x" * (1 << 20))] * 65)  # none that could be cut
    row = b'{"role": "user", "type": "user", "content": [' + short + b"]}"
    found = outcome(b"\n".join([first, row, first]), format)

    assert isinstance(found, list)
    assert [(w.code, w.line) for w in found[0].warnings] == [("line_too_long", 2)]
