"""What nothing touches goes out as its client gave it, beside what is compiled."""

from collections.abc import Sequence

from operations.domain.forwarding.alignment import Unit
from operations.domain.forwarding.passthrough import pass_through

GIVEN = [{"given": place} for place in range(6)]
ONE_BY_ONE = [Unit(place, place + 1, place, place + 1) for place in range(6)]


def passed(
    *origins: Sequence[str],
    units: Sequence[Unit] = ONE_BY_ONE,
    touched: Sequence[str] = (),
    framed: Sequence[str] = (),
) -> list[object]:
    """What goes out for compiled messages of these origins: a number where it was given."""
    compiled = [{"compiled": place} for place in range(len(origins))]
    sent = pass_through(
        compiled, origins, units, GIVEN, touched.__contains__, set(framed)
    )
    return [form.get("given", "compiled") for form in sent.messages]


def test_untouched_messages_are_the_clients_own() -> None:
    assert passed(["m0"], ["m1"], ["m2"]) == [0, 1, 2]


def test_what_is_touched_made_or_a_bridge_is_compiled() -> None:
    assert passed(["m0"], [], ["o1.0"], ["m4"], ["m9"], touched=["m4"]) == [
        *(0, "compiled", "compiled", "compiled", "compiled"),
    ]


def test_messages_that_compiling_joins_stay_as_they_came() -> None:
    assert passed(["m0", "m1"], ["m2"]) == [0, 1, 2]
    assert passed(["m0", "m1"], ["m2"], touched=["m1"]) == ["compiled", 2]


def test_an_original_that_becomes_several_messages_is_given_whole() -> None:
    units = [Unit(0, 1, 0, 1), Unit(1, 2, 1, 4), Unit(2, 3, 4, 5)]
    assert passed(["m0"], ["m1"], ["m1"], ["m1"], ["m2"], units=units) == [
        *(0, 1, 2, 3, 4),
    ]


def test_a_unit_that_is_not_whole_is_compiled() -> None:
    units = [Unit(0, 2, 0, 1), Unit(2, 3, 1, 2)]
    assert passed(["m0"], ["m1"], ["m2"], units=units) == [0, 1]
    assert passed(["m0"], ["m2"], units=units) == ["compiled", 1]
    assert passed(["m0"], ["m1"], units=units, touched=["m1"]) == [
        *("compiled", "compiled"),
    ]
    assert passed(["m0"], units=units) == ["compiled"]


def test_what_may_not_go_out_as_given_is_compiled() -> None:
    units = [Unit(0, 1, 0, 1, as_given=False), Unit(1, 2, 1, 2)]
    assert passed(["m0"], ["m1"], units=units) == ["compiled", 1]


def test_words_of_the_system_stay_at_the_end_of_a_users_turn_alone() -> None:
    assert passed(["m0", "m1"], ["m2"], framed=["m1"]) == [0, 1, 2]
    assert passed(["m0", "m1", "m2"], framed=["m1"]) == ["compiled"]
    assert passed(["m0"], ["m1"], ["m2"], framed=["m1"]) == [0, "compiled", 2]
    assert passed(["o1.0", "m1"], ["m2"], framed=["m1"]) == ["compiled", 2]


def test_the_system_prompt_beside_the_messages_is_no_message() -> None:
    given = [None, {"given": 1}]
    sent = pass_through(
        [{"compiled": 0}], [["m1"]], ONE_BY_ONE, given, lambda key: False
    )
    assert sent.messages == [{"given": 1}]
    assert sent.given == {"m1"}
    prompt = pass_through(
        [{"compiled": 0}], [["m0"]], ONE_BY_ONE, given, lambda key: False
    )
    assert prompt.messages == []
