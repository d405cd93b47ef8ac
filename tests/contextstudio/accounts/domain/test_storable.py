"""What no database holds is written otherwise, and the rest as it is."""

from contextstudio.accounts.domain.storable import storable, storable_json


def test_text_that_can_be_stored_stays() -> None:
    for text in ("", "plain", "nächste 🚢"):
        assert storable(text) == text


def test_nul_and_lone_surrogates_are_replaced() -> None:
    assert storable("a\x00b\ud83dc") == "a\ufffdb?c"


def test_every_text_in_a_value_is_stored() -> None:
    value = {"a\x00": ["\x00", ("\ud83d", 1)], "b": {"c": None, "d": True}, "e": 1.5}
    expected = {"a\ufffd": ["\ufffd", ["?", 1]], "b": {"c": None, "d": True}, "e": 1.5}
    assert storable_json(value) == expected
