"""Redactions mask words outside of the thread too: scratchpad, state and layers."""

import json

import pytest

from operations.domain.log.mask import mask_json, mask_title, mask_words
from operations.domain.log.operation import Redact
from tests.operations.support.builders import insert, log, span
from threads.domain.part import Text, ToolCall

ORIGINALS = {"m1": (Text("The key is abc."),), "m2": (Text("gone"),)}


def test_masked_texts_are_found_wherever_they_stand() -> None:
    masks = log(
        insert("m0", "pass word"),
        Redact(
            spans=(
                span("m1", 11, 14, "abc"),
                span("o1.0", 0, 4, "pass", text="***"),
                span("m2", 2, 9, "?"),
            )
        ),
    ).masks
    texts = masks.texts(ORIGINALS.__getitem__)
    assert texts == {"abc": "[redacted]", "pass": "***"}
    assert sorted(masks.keys) == ["m1", "m2", "o1.0"]
    assert mask_words("abc, pass, abc", texts) == "[redacted], ***, [redacted]"


def test_a_text_of_several_pieces_is_found_piece_by_piece() -> None:
    """But for what is too short to tell anything, and might stand for something else."""
    call = ToolCall(
        "c1", "save", {"a": "the key: BEGIN-abc", "b": "yes", "c": "xyz-END!"}
    )
    said = {"m1": (call,), "o1.0": (call,)}
    whole = "BEGIN-abc\nyes\nxyz-END"
    redact = Redact(spans=(span("m1", 9, 30, whole), span("m1", 0, 3, "the")))
    texts = log(redact).masks.texts(said.__getitem__)
    assert list(texts) == [whole, "BEGIN-abc", "xyz-END", "the"]
    assert mask_words("It is BEGIN-abc, xyz-END, yes", texts).endswith("yes")


def test_the_longest_text_is_masked_first() -> None:
    texts = {"ab": "1", "abc": "2"}
    assert mask_words("abcab", texts) == "21"
    assert mask_words("abcab", {}) == "abcab"


def test_strings_within_json_are_masked_and_nothing_else() -> None:
    value = {"pass": ["a pass", 1, None, {"deep": "pass"}], "so": True}
    masked = {"pass": ["a ***", 1, None, {"deep": "***"}], "so": True}
    assert mask_json(value, {"pass": "***"}) == masked
    assert mask_json(value, {}) is value


@pytest.mark.parametrize("escaped", [True, False])
def test_strings_that_hold_json_are_masked_in_what_they_hold(escaped: bool) -> None:
    """As the arguments of a call do in what some providers are sent."""
    texts = {'a "pass"\nö': "***"}
    deep = json.dumps({"note": 'a "pass"\nö, kept'}, ensure_ascii=escaped)
    words = json.dumps({"line": 'of a "pass"\nö', "deep": deep}, ensure_ascii=escaped)
    masked = json.loads(mask_json([words], texts)[0])  # type: ignore[index,arg-type]
    assert masked == {"line": "of ***", "deep": '{"note": "***, kept"}'}


@pytest.mark.parametrize("words", ['{"a": "\\n"}', '{"a \\ b', '["\\u00f6"', "\\"])
def test_strings_that_hold_nothing_masked_stay_as_they_came(words: str) -> None:
    assert mask_json(words, {"ö\n": "***"}) == words


def test_json_that_nobody_would_nest_is_masked_as_words() -> None:
    nested = "[" * 100_000 + '"\\n pass"'
    assert mask_json(nested, {"pass": "***"}) == nested.replace("pass", "***")


@pytest.mark.parametrize(
    ("title", "masked"),
    [
        ("Use hunter2-and-more here", "Use *** here"),
        ("Two lines of it stay one", "[redacted] stay one"),
        ("Log in with hunter2-a…", "Log in with ***…"),
        ("Log in with hunt…", "Log in with hunt…"),
        ("Nothing to hide", "Nothing to hide"),
    ],
)
def test_a_title_is_masked_also_where_it_breaks_off(title: str, masked: str) -> None:
    texts = {"hunter2-and-more": "***", "Two\nlines of it": "[redacted]", " \n": "?"}
    assert mask_title(title, texts) == masked
