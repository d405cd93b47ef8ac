"""Arguments of calls, as values and as the texts in which they came."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.threads.support.strategies import json_values
from threads.domain.formats.arguments import object_of, read_call, text_of
from threads.domain.part import ToolCall


@pytest.mark.parametrize(
    "text",
    [
        '{"b": 1, "a": 2}',
        '{"b":1,"a":2}',
        '{\n  "b": 1.0,\n  "a": 1E5\n}',
        '{"caf\\u00e9":"\\/"}',
        '{"a": "\\ud800"}',
        "[2, 1]",
        "null",
        "7e2",
        "",
        "no JSON",
        '"quoted"',
    ],
)
def test_the_text_of_arguments_goes_out_as_it_came(text: str) -> None:
    assert text_of(read_call("1", "f", text)) == text


@given(json_values, st.sampled_from([None, (",", ":"), (", ", ":")]), st.booleans())
def test_any_text_of_json_goes_out_as_it_came(
    value: object, separators: tuple[str, str] | None, is_ascii: bool
) -> None:
    text = json.dumps(value, separators=separators, ensure_ascii=is_ascii)
    assert text_of(read_call("1", "f", text)) == text


def test_a_text_is_kept_only_where_another_would_be_written() -> None:
    assert read_call("1", "f", '{"b": 1, "a": 2}').text is None
    assert read_call("1", "f", '{"b":1,"a":2}').text == '{"b":1,"a":2}'
    assert read_call("1", "f", "{}").text is None
    assert read_call("1", "f", "[1]").text is None
    assert read_call("1", "f", "[1,2]").text == "[1,2]"
    assert read_call("1", "f", {"b": 1}).text is None


def test_a_name_that_stands_twice_is_sent_as_it_is_shown() -> None:
    for text in ('{"key": "secret", "key": "shown"}', '{"key":"secret","key":"shown"}'):
        call = read_call("1", "f", text)
        assert text_of(call) == '{"key": "shown"}'


def test_a_text_that_is_no_json_stands_under_one_name_where_json_is_wanted() -> None:
    patch = "*** Begin Patch"
    assert json.loads(text_of(ToolCall("1", "apply_patch", patch))) == {"input": patch}
    assert object_of(patch) == {"input": patch}
    assert object_of("") == object_of(None) == {}
    assert object_of({"b": 1}) == {"b": 1}
