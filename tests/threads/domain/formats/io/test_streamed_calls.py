"""Calls of Gemini whose arguments are streamed piece by piece."""

import json
from typing import Any

import pytest

from tests.threads.support import readings
from tests.threads.support.streams import as_sse
from threads.domain.formats.io.streams.gemini import joined_parts
from threads.domain.formats.io.streams.gemini_calls import MAX_SKIPPED, MAX_STEPS
from threads.domain.part import ToolCall


def piece(*values: Any, ends: bool = False, **more: Any) -> dict[str, Any]:
    """A piece of a call: values by their paths."""
    call = dict(more)
    if values:
        call["partialArgs"] = [
            {"jsonPath": path, **({"willContinue": True} if name == "more" else {})}
            | {{"more": "stringValue"}.get(name, name): value}
            for path, name, value in values
        ]
    return {"functionCall": call if ends else {**call, "willContinue": True}}


def joined(*pieces: dict[str, Any]) -> list[Any]:
    return [part.get("functionCall", part) for part in joined_parts(pieces)]


def arguments(path: str, value: Any = 1, *before: Any) -> Any:
    """What one number at a path comes to."""
    given = [*before, (path, "numberValue", value)]
    [call] = joined(piece(name="look"), piece(*given, ends=True))
    return call["args"]


def test_arguments_that_come_in_pieces_are_put_together() -> None:
    first = piece(name="cook") | {"thoughtSignature": "sealed"}
    parts = [
        first,
        piece(("$.dish.of[0].name", "more", "Herr")),
        piece(("$.dish.of[0].name", "stringValue", "ing")),
        piece(),
        piece(("$.dish.of[1].name", "stringValue", "")),
        piece(("$.dish.of[1].count", "numberValue", 2)),
        piece(("$.is_hot", "boolValue", False), ("$.who", "nullValue", None)),
        piece(ends=True),
    ]
    dish = {"of": [{"name": "Herring"}, {"name": "", "count": 2}]}
    args = {"dish": dish, "is_hot": False, "who": None}
    [part] = joined_parts(parts)
    call = {"name": "cook", "args": args}
    assert part == {"functionCall": call, "thoughtSignature": "sealed"}
    assert joined_parts([part]) == [part]


def test_calls_behind_one_another_stay_apart() -> None:
    boston = piece(("$.at", "stringValue", "Boston"), ends=True)
    oslo = piece(("$.at", "stringValue", "Oslo"))
    found = joined(piece(name="look"), boston, piece(name="look"), oslo, {"text": ""})
    named = [{"name": "look", "args": {"at": at}} for at in ("Boston", "Oslo")]
    assert found == [*named, {"text": ""}]


def test_a_text_that_is_said_again_replaces_the_one_before() -> None:
    said = [("$.at", "stringValue", word) for word in ("Oslo", "Bergen")]
    [call] = joined(piece(*said, name="look", ends=True))
    assert call["args"] == {"at": "Bergen"}


def test_a_last_piece_may_have_arguments_as_a_whole() -> None:
    [call] = joined(piece(name="look"), piece(args={"at": 1}, ends=True))
    assert call["args"] == {"at": 1}


@pytest.mark.parametrize(
    ("path", "args"),
    [
        ("at", {}),
        ("$", {}),
        ("$[0]", {}),
        ("$['a b'].c", {"a b": {"c": 1}}),
        ("$.a[1][0]", {"a": [None, [1]]}),
        (f"$.a[{MAX_SKIPPED + 1}]", {"a": []}),
        (f"$.a[{MAX_SKIPPED + 1}].b", {"a": []}),
        ("$" + ".a" * (MAX_STEPS + 1), {}),
    ],
)
def test_a_path_names_a_place_or_nothing(path: str, args: Any) -> None:
    assert arguments(path) == args


def test_a_place_inside_a_number_is_none() -> None:
    assert arguments("$.a.b", 2, ("$.a", "numberValue", 1)) == {"a": 1}


@pytest.mark.parametrize("is_list", [False, True], ids=["events", "list"])
def test_a_file_of_a_stream_has_the_calls_with_their_arguments(is_list: bool) -> None:
    parts = [piece(name="look"), piece(("$.at", "stringValue", "Oslo")), piece()]
    chunks = [
        {"candidates": [{"content": {"role": "model", "parts": [part]}}]}
        for part in [*parts, piece(ends=True)]
    ]
    data = json.dumps(chunks).encode() if is_list else as_sse(*chunks)
    [found] = readings.read(data)
    [message] = readings.messages(found)
    [call] = message.parts
    assert isinstance(call, ToolCall)
    assert (call.name, call.arguments) == ("look", {"at": "Oslo"})
