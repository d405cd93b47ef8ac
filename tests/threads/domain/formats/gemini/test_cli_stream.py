"""What Gemini CLI prints with `stream-json`: pieces joined, calls linked to their results."""

from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.readings import events, messages, parts, read, told
from tests.threads.support.transcripts import lines
from threads.domain.formats.kit import stream_runs
from threads.domain.message import Usage
from threads.domain.part import Part, Text, ToolCall, ToolResult
from threads.domain.transcript import Transcript

SESSION = "0b6e1d3c-0000-4000-8000-000000000003"


def event(type_: str, **members: Any) -> dict[str, Any]:
    return {"type": type_, "timestamp": "2026-03-01T10:00:00.000Z", **members}


def asked(words: str) -> dict[str, Any]:
    return event("message", role="user", content=words)


def piece(words: str) -> dict[str, Any]:
    return event("message", role="assistant", content=words, delta=True)


def used(id_: str) -> dict[str, Any]:
    return event("tool_use", tool_name="look", tool_id=id_, parameters={"lamp": 1})


def brought(id_: str, status: str = "success", **members: Any) -> dict[str, Any]:
    return event("tool_result", tool_id=id_, status=status, **members)


def ids(said: tuple[Part, ...]) -> list[str]:
    """The ids of calls, and of those that results answer."""
    calls = [one.id for one in said if isinstance(one, ToolCall)]
    return calls + [one.call_id for one in said if isinstance(one, ToolResult)]


INIT = event("init", session_id=SESSION, model="gemini-test")
END = event(
    "result",
    status="success",
    stats={"total_tokens": 9, "input_tokens": 5, "output_tokens": 3, "cached": 2},
)
CALL = {"lamp": 1}


def of(*records: Any) -> Transcript:
    [found] = read(lines(INIT, *records))
    return found


def test_a_run_is_its_messages_and_all_else_are_events() -> None:
    found = of(
        asked("Which lamp?"),
        piece("I "),
        piece("look."),
        used("c1"),
        used("c2"),
        brought("c1", output="It glows."),
        brought("c2", output="It is dark."),
        piece("The second."),
        END,
    )

    assert parts(found) == [
        (Text("Which lamp?"),),
        (Text("I look."), ToolCall("c1", "look", CALL), ToolCall("c2", "look", CALL)),
        (ToolResult("c1", (Text("It glows."),), "look"),),
        (ToolResult("c2", (Text("It is dark."),), "look"),),
        (Text("The second."),),
    ]
    assert events(found) == ["init", "result/success"]
    assert (found.format, found.strategy) == ("gemini_cli_stream", "gemini")
    assert (found.title, found.external_id) == ("Which lamp?", SESSION)
    assert {one.model for one in messages(found)} == {None, "gemini-test"}


def test_a_message_names_every_line_that_it_was_told_by() -> None:
    data = lines(INIT, piece("a"), piece("b"), used("c1"))
    [found] = read(data)
    [answer] = messages(found)
    spans = [one.removeprefix("bytes:").split("-") for one in answer.records]

    assert [data[int(start) : int(end)] for start, end in spans] == [
        line + b"\n" for line in data.splitlines()[1:]
    ]
    assert answer.created_at is not None


def test_the_tokens_of_a_run_are_those_of_its_last_answer() -> None:
    found = of(asked("Look."), piece("a"), used("c"), brought("c"), piece("b"), END)

    assert [one.usage for one in messages(found)] == [
        *[None] * 3,
        Usage(input_tokens=5, output_tokens=3, cached_tokens=2),
    ]


def test_a_run_that_ends_on_a_result_has_its_tokens_too() -> None:
    found = of(piece("a"), used("c"), brought("c"), END)

    assert [bool(one.usage) for one in messages(found)] == [True, False]


@pytest.mark.parametrize(
    ("models", "model"),
    [({"m-1": {}}, "m-1"), ({"m-1": {}, "m-2": {}}, "gemini-test"), (7, "gemini-test")],
)
def test_the_model_is_the_one_that_was_used(models: Any, model: str) -> None:
    found = of(piece("a"), event("result", status="success", stats={"models": models}))

    assert (found.model, messages(found)[0].model) == (model, model)


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"output": "x", "error": {"message": "gone"}}, ["x", "gone"]),
        ({"output": "gone", "error": {"message": "gone"}}, ["gone"]),
        ({"error": {"message": "gone"}}, ["gone"]),
        ({}, []),
    ],
)
def test_a_call_that_failed_says_why(members: dict[str, Any], words: list[str]) -> None:
    found = of(used("c"), brought("c", "error", **members))
    content = tuple(Text(one) for one in words)

    assert parts(found)[1] == (ToolResult("c", content, "look", True),)


def test_words_that_are_no_piece_are_a_message_of_their_own() -> None:
    whole = event("message", role="assistant", content="Whole.")
    found = of(piece("a"), whole, piece(" More."))

    assert told(found) == ["init", "assistant: a", "assistant: Whole. More."]


def test_warnings_follow_the_answer_that_they_interrupt() -> None:
    warning = event("error", severity="warning", message="Loop detected.")
    found = of(piece("a"), warning, piece("b"))

    assert told(found) == ["init", "assistant: ab", "error/warning"]


def test_an_answer_without_end_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_runs, "MAX_HELD_BYTES", 300)
    found = of(*[piece(str(number)) for number in range(9)])

    assert "".join(one.text for one in messages(found)) == "012345678"
    assert [len(one.records) for one in messages(found)] == [3, 3, 3]


def test_calls_behind_a_result_are_the_next_answer_s() -> None:
    found = of(used("c1"), brought("c1"), used("c2"), brought("c2"))

    assert [str(one.role) for one in messages(found)] == ["assistant", "tool"] * 2
    assert [ids(one) for one in parts(found)] == [["c1"], ["c1"], ["c2"], ["c2"]]


def test_a_result_behind_an_answer_that_was_cut_is_told_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stream_runs, "MAX_HELD_BYTES", 100)
    found = of(used("c1"), brought("c1", output="It glows."), piece("Good."))

    assert [ids(one) for one in parts(found)] == [["c1"], ["c1"], []]
    assert parts(found)[1] == (ToolResult("c1", (Text("It glows."),), "look"),)


@pytest.mark.parametrize("record", [used("c1"), brought("c1"), piece("Good.")])
def test_output_is_known_without_its_beginning(record: dict[str, Any]) -> None:
    [found] = read(lines(record, piece("It glows.")))

    assert (found.format, found.external_id) == ("gemini_cli_stream", None)


def test_a_run_of_another_session_is_another_session() -> None:
    other = event("init", session_id="other", model="m-2")
    first, second = read(
        lines(INIT, asked("One."), END, INIT, asked("Two."), other, piece("Three."))
    )

    assert [one.text for one in messages(first)] == ["One.", "Two."]
    assert (second.external_id, second.model) == ("other", "m-2")
    assert second.title == "Gemini CLI run other"


def test_what_can_not_be_read_is_an_event_and_the_rest_is_read() -> None:
    [found] = read(
        b"Loaded cached credentials.\n"
        + lines(INIT, piece("a"), event("tool_use", tool_name=7))
        + b"[1]\n"
        + lines(event("message", role="system", content="x"), event("new"), piece("b"))
    )

    assert events(found) == [
        "unreadable",
        "init",
        "unreadable",
        "unreadable",
        "message/system",
        "new",
    ]
    assert [one.text for one in messages(found)] == ["ab"]
    assert [one.line for one in found.warnings] == [1, 4, 5]


def test_a_run_without_messages_is_refused() -> None:
    with pytest.raises(Invalid, match="stream-json output of Gemini CLI, but it holds"):
        read(lines(INIT, END))


def test_a_run_of_which_nothing_makes_a_message_has_its_events_beside_others() -> None:
    other = {**INIT, "session_id": "other-run"}
    odd = event("message", role="narrator", content="Meanwhile.")
    spoken, silent = read(lines(INIT, asked("Which lamp?"), other, odd))
    assert [one.text for one in messages(spoken)] == ["Which lamp?"]
    assert not messages(silent)
    assert (silent.external_id, silent.title) == (
        "other-run",
        "Gemini CLI run other-ru",
    )
