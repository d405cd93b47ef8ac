"""Texts in which patterns would go astray: what is read of them takes time in step with length.

While a pattern searches, the whole process stands still. In 200,000 characters each of these
kept it for minutes, and in a megabyte for hours.
"""

from collections.abc import Callable

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support import readings
from threads.domain.formats.agents import specstory
from threads.domain.formats.codex import writing
from threads.domain.formats.datasets.sharegpt import read_turn
from threads.domain.formats.documents import role_headings
from threads.domain.formats.exports import open_webui
from threads.domain.formats.format import Heading
from threads.domain.formats.io import base64_text, json_text
from threads.domain.formats.kit import transcripts
from threads.domain.message import Message, Role
from threads.domain.part import Text, ToolCall

N = 200_000


def refused(data: bytes) -> None:
    with pytest.raises(Invalid):
        json_text.parse(data)


def in_codex(text: str) -> None:
    said = Message(role=Role.USER, parts=(Text(text),))
    assert [*writing.write([said], Heading())]


def in_open_webui(text: str) -> None:
    for _ in open_webui._content(text, Role.ASSISTANT):
        pass


def under_headings(text: str) -> None:
    assert role_headings._STYLES[0].match(text) is None


def in_specstory(text: str) -> None:
    said = f"{specstory.MARK} -->\n\n_**User**_\n\nHello.\n{text}"
    assert len(readings.read(said.encode())) == 1


@pytest.mark.parametrize(
    ("reads", "given"),
    [
        (base64_text.split_data_uri, "data:" + "a" * N),
        (base64_text.split_data_uri, "data:" + ";a" * N),
        (refused, b"[" * 300 + b'\\"' * N),
        (transcripts.command_in, "<command-name>a" + " " * N + "b"),
        (
            transcripts.command_in,
            "<command-name>a</command-name><command-args>" + " " * N,
        ),
        (in_codex, "<cwd>/" + " " * N),
        (in_open_webui, '<details type="reasoning">' + "\n" * N + "</details>"),
        (in_open_webui, '<details type="tool_calls" ' + "a" * N + "></details>"),
        (in_open_webui, '<details type="reasoning"' * (N // 25)),
        (in_open_webui, '<details type="reasoning">' * (N // 26)),
        (under_headings, "# 1" + " " * N),
        (in_specstory, ("_**User -" + " " * 4000 + "\n") * 200),
        (read_turn, {"from": "gpt", "value": "<tool_call>{" * (N // 12)}),
        (read_turn, {"from": "gpt", "value": "<tool_call>" + " " * N}),
        (read_turn, {"from": "tool", "value": "<tool_response>" * (N // 15)}),
        (read_turn, {"from": "tool", "value": "<tool_response>" + " " * N}),
    ],
    ids=lambda value: "",
)
def test_no_text_keeps_a_reader(
    reads: Callable[[object], object], given: object
) -> None:
    reads(given)  # it came back


@pytest.mark.parametrize(
    ("address", "type_"),
    [
        ("data:image/png;base64,AAAA", "image/png"),
        ("data:;base64,AAAA", "application/octet-stream"),
        ("data:text/plain;charset=utf-8;x=1;base64,AAAA", "text/plain"),
        ("data:text/x=y;base64,AAAA", "text/x"),
    ],
)
def test_addresses_are_read_as_ever(address: str, type_: str) -> None:
    assert base64_text.split_data_uri(address) == (type_, b"\0\0\0")


def test_calls_and_results_are_found_as_ever() -> None:
    call = '{"name": "a", "arguments": {"b": "</tool_call> c"}}'
    turn = read_turn(
        {"from": "gpt", "value": f"So: <tool_call>\n{call}\n</tool_call> Then."}
    )
    assert turn is not None
    text, made, rest = turn.parts
    assert isinstance(made, ToolCall)
    assert (text, made.arguments, rest) == (
        Text("So:"),
        {"b": "</tool_call> c"},
        Text("Then."),
    )


def test_a_command_of_any_length_names_a_session_only_where_it_is_short() -> None:
    name = "<command-name> /init </command-name>"
    assert transcripts.command_in(name) == "/init"
    assert transcripts.command_in(f"{name}<command-args> now </command-args>") == (
        "/init now"
    )
    long = f"{name}<command-args>{'a' * 401}</command-args>"
    assert transcripts.command_in(long) == "/init"
    assert transcripts.command_in(f"<command-name>{'a' * 81}</command-name>") == ""
    assert transcripts.command_in("<command-name>a\nb</command-name>") == ""
