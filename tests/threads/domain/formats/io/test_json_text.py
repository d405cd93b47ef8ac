"""JSON of others: every text gives a value that can be kept, or a refusal."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.strategies import json_values, texts
from threads.domain.formats.io import json_text

json_texts = json_values.map(json.dumps)


@given(json_values)
def test_what_is_dumped_is_parsed_again(value: Any) -> None:
    raw = json_text.dump(value)
    raw.decode()

    assert json_text.parse(raw) == value


@given(json_values)
def test_what_is_dumped_is_what_the_standard_library_writes(value: Any) -> None:
    written = json.dumps(value, ensure_ascii=False)

    assert json_text.dump(value) == written.encode("utf-8", "backslashreplace")


@given(texts)
def test_a_key_may_be_any_text(key: str) -> None:
    assert json_text.parse(json_text.dump({key: 1})) == {key: 1}


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b"\xef\xbb\xbf[1]", [1]),
        (b'{"a": 1, "a": 2}', {"a": 2}),
        (b"[NaN, Infinity, -Infinity, 1e999, 1.5]", [None, None, None, None, 1.5]),
        (b"[" + b"9" * 5000 + b", 7]", ["9" * 5000, 7]),
        (b'"\xed\xa0\xbd\xed\xb8\x80 \xed\xa0\x80"', "\U0001f600 \ud800"),
        (b'"\\ud83d\\ude00"', "\U0001f600"),
    ],
)
def test_what_json_is_not_is_read_all_the_same(raw: bytes, value: Any) -> None:
    assert json_text.parse(raw) == value


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"", "json_invalid"),
        (b"{'a': 1}", "json_invalid"),
        (b"9" * 5000 + b"x", "json_invalid"),
        (b'"\xff"', "json_invalid"),
        (b"[" * 201 + b"]" * 201, "json_too_deep"),
        (b'{"a":' * 100_000, "json_too_deep"),
    ],
)
def test_what_is_no_json_is_refused(raw: bytes, code: str) -> None:
    with pytest.raises(Invalid) as refusal:
        json_text.parse(raw)

    assert refusal.value.code == code


PIECES = [
    *(
        "[",
        "]",
        "{",
        "}",
        ",",
        ":",
        " ",
        "\n",
        "null",
        "true",
        "NaN",
        "-Infinity",
        "-0",
    ),
    *("1", "-1", "1.5", "1E5", "1e999", "-1e999", "0.1e-999", "01", "1.", "1e400"),
    *(str(1 << 63), str(-(1 << 63) - 1), str(1 << 64), "9" * 400, "9" * 5000, "1e30"),
    *(
        '"a"',
        '"b"',
        '"\\ud800"',
        '"\\ud83d\\ude00"',
        '"\\u0000"',
        '"\x7f"',
        '"\t"',
        '"\\x"',
    ),
]


def outcome(read: Callable[[bytes], Any], raw: bytes) -> str:
    try:
        return repr(read(raw))
    except Invalid as refusal:
        return refusal.code


@given(st.lists(st.sampled_from(PIECES), max_size=9).map("".join) | json_texts)
def test_the_value_does_not_depend_on_the_reader(text: str) -> None:
    raw = text.encode("utf-8", "surrogatepass")

    assert outcome(json_text.parse, raw) == outcome(json_text.parse_slowly, raw)


@pytest.mark.parametrize("levels", [199, 200, 201, 1030])
@pytest.mark.parametrize("core", [b"", b"1e30", b"NaN"])
def test_the_depth_does_not_depend_on_the_reader(levels: int, core: bytes) -> None:
    raw = b'{"a":' * (levels - 1) + b"[" + core + b"]" + b"}" * (levels - 1)

    assert outcome(json_text.parse, raw) == outcome(json_text.parse_slowly, raw)
    assert (outcome(json_text.parse, raw) == "json_too_deep") == (levels > 200)


def test_brackets_in_strings_are_no_nesting() -> None:
    value = ["[" * 5_000, '\\"[' * 5_000]

    assert json_text.parse(json.dumps(value).encode()) == value


@given(st.lists(st.sampled_from(["[", "]", "{", "}", '"[', '"', "\\"]), max_size=400))
def test_depth_is_measured_without_parsing(tokens: list[str]) -> None:
    assert json_text.is_deep("".join(tokens).encode()) in (True, False)


def test_what_orjson_would_read_otherwise_is_read_strictly_too() -> None:
    long = "[123456789012345678901234567890, 1.5]"

    assert json_text.parse_strictly(long) == [123456789012345678901234567890, 1.5]
    for text in ("[1e999]", "NaN", "[" * 300 + "]" * 300, ""):
        with pytest.raises(ValueError, match=r"."):
            json_text.parse_strictly(text)


@pytest.mark.parametrize(
    ("value", "is_exact"),
    [
        (1.5, True),
        ({"a": [1e30]}, False),
        ([-float(1 << 63)], False),
        ([[], {"a": None}, "1e30", True, 1 << 63], True),
        ([[[[]]]], False),
    ],
)
def test_what_orjson_may_have_read_otherwise_is_known(
    value: Any, is_exact: bool
) -> None:
    assert json_text.is_exact(value, 3) == is_exact


def test_the_first_text_without_utf_8_is_found() -> None:
    value = {"a": ["b", 1, None], "c": [{"d": "e"}, {"d": "\ud83d"}], "f": "\ud83d"}
    assert json_text.place_without_utf8(value) == ("c", 1, "d")
    assert json_text.place_without_utf8({"a": ["é", {"\ud83d": "b"}]}) == ()


def test_the_first_number_that_json_lacks_is_found() -> None:
    value = {"a": ["b", 1, 1.5], "c": [{"d": 1 << 2000}, {"d": float("nan")}]}
    assert json_text.place_not_finite(value) == ("c", 1, "d")
    assert json_text.place_not_finite([0.0, [-float("inf")]]) == (1, 0)
    assert json_text.place_not_finite({"a": ["nan", 1e308, None, True]}) == ()
