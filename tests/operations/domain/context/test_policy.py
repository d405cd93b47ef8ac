"""Policies: presets, and what is refused in others."""

from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from operations.domain.context.policy import (
    NEXORA,
    PRESETS,
    REPLAY,
    SLOP,
    Memos,
    Policy,
    Pruning,
    encode_policy,
    encode_pruning,
    read_policy,
    read_pruning,
)
from operations.domain.context.truncation import Keep, Tiers


def test_replay_changes_nothing() -> None:
    assert Policy() == REPLAY
    assert (REPLAY.window, REPLAY.isolation, REPLAY.truncation) == (0, False, None)
    assert (REPLAY.guidelines, REPLAY.memos, REPLAY.pruning) == (False, "own", None)


def test_slop_has_the_figures_of_document_2() -> None:
    assert SLOP.truncation == Tiers(
        recent_results=5, recent=5000, older=1000, inactive=300, keep=Keep.HEAD_TAIL
    )
    assert (SLOP.window, SLOP.isolation, SLOP.guidelines) == (0, True, True)
    assert SLOP.memos is Memos.RELEVANT


def test_nexora_has_the_figures_of_document_1() -> None:
    assert NEXORA.pruning == Pruning(
        large_window=200_000,
        remaining_tokens=20_000,
        remaining_share=0.2,
        keep_last_n=10,
        condense_after_n=5,
        remove_errors_after=5,
        condense_above=500,
    )


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_what_is_written_is_read_again(preset: Policy) -> None:
    assert read_policy(encode_policy(preset)) == preset
    changed = encode_policy(preset) | {"window": 7}
    assert read_policy(changed).preset == "custom"
    assert read_policy(encode_policy(read_policy(changed))).window == 7


def test_a_preset_is_changed_by_what_is_named_beside_it() -> None:
    found = read_policy({"preset": "slop", "truncation": {"inactive": 100}})
    assert found.truncation == Tiers(inactive=100)
    assert (found.preset, found.guidelines) == ("custom", True)
    assert read_policy({"truncation": True}).truncation == Tiers()
    assert read_policy({"preset": "slop", "truncation": None}).truncation is None
    assert read_policy({"truncation": {"keep": "head"}}).truncation == Tiers(
        keep=Keep.HEAD
    )
    assert read_policy({"pruning": {"remaining_share": 1}}).pruning == Pruning(
        remaining_share=1
    )
    assert read_policy({"memos": "none"}).memos is Memos.NONE
    assert read_policy({}) == REPLAY


@pytest.mark.parametrize(
    ("given", "at"),
    [
        ({"preset": "fast"}, ("preset",)),
        ({"preset": ["slop"]}, ("preset",)),
        ({"size": 3}, ("size",)),
        ({"window": -1}, ("window",)),
        ({"window": "3"}, ("window",)),
        ({"window": True}, ("window",)),
        ({"window": 1.5}, ("window",)),
        ({"isolation": 1}, ("isolation",)),
        ({"memos": "all"}, ("memos",)),
        ({"memos": []}, ("memos",)),
        ({"truncation": 3}, ("truncation",)),
        ({"truncation": {"inactive": -3}}, ("truncation", "inactive")),
        ({"truncation": {"longest": 3}}, ("truncation", "longest")),
        ({"truncation": {"keep": "tail"}}, ("truncation", "keep")),
        ({"pruning": {"remaining_share": 1.5}}, ("pruning", "remaining_share")),
        ({"pruning": {"remaining_share": "x"}}, ("pruning", "remaining_share")),
        *(
            (
                {"pruning": {"keep_relevant_above": bad}},
                ("pruning", "keep_relevant_above"),
            )
            for bad in (1.5, -0.1, "x", True)
        ),
        ({"pruning": {"keep_last_n": -1}}, ("pruning", "keep_last_n")),
    ],
)
def test_what_can_be_no_policy_is_refused_with_its_place(
    given: dict[str, Any], at: tuple[str, ...]
) -> None:
    with pytest.raises(Invalid) as refused:
        read_policy(given)
    assert refused.value.at == at


def test_rules_of_pruning_are_read_as_changes_to_others() -> None:
    base = Pruning(keep_last_n=3)
    found = read_pruning({"condense_above": 80, "protect_tools": ["Bash"] * 2}, base)
    assert found == Pruning(keep_last_n=3, condense_above=80, protect_tools=("Bash",))
    assert read_pruning(encode_pruning(found), Pruning()) == found


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"protect_paths": "src"}, "protect_paths must be a list of strings."),
        ({"protect_paths": ["src", ""]}, "protect_paths must be a list of strings."),
        ({"keep_last": 3}, "There is no setting keep_last; the settings are "),
    ],
)
def test_rules_that_can_not_be_are_refused_with_their_place(
    given: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(Invalid, match=sentence) as refused:
        read_pruning(given, Pruning())
    assert refused.value.at == ("rules", *given)


@pytest.mark.parametrize("odd", ["a\0b", "a\ud800b"])
def test_names_that_no_database_takes_are_refused_with_their_place(odd: str) -> None:
    with pytest.raises(Invalid, match="must not hold NUL") as refused:
        read_policy({"pruning": {"protect_paths": ["src", odd]}})
    assert refused.value.at == ("pruning", "protect_paths", 1)


def test_what_is_relevant_stays_only_where_a_share_is_given() -> None:
    assert Pruning().keep_relevant_above is None
    for share in (None, 0, 0.3, 1):
        policy = read_policy({"pruning": {"keep_relevant_above": share}})
        assert policy.pruning == Pruning(keep_relevant_above=share)


@pytest.mark.parametrize(
    ("given", "leaves_out"),
    [
        ({}, False),
        ({"preset": "nexora"}, False),
        ({"guidelines": True}, False),
        ({"preset": "slop"}, True),
        ({"window": 3}, True),
        ({"isolation": True}, True),
    ],
)
def test_a_policy_knows_whether_a_request_may_hold_less_than_the_thread(
    given: dict[str, object], leaves_out: bool
) -> None:
    assert read_policy(given).leaves_out is leaves_out
