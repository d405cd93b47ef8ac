"""What becomes of other people's operations when a client changes its messages."""

import pytest

from operations.domain.forwarding.client_entries import RequestDecision
from operations.domain.log.operation import Redact, Snip
from operations.domain.thread.replay import replay
from operations.domain.tree.status import Status
from tests.operations.support.builders import digest as digest_of_range
from tests.operations.support.builders import span

from .talk import HISTORY, begun


def test_operations_of_others_stand_aside_and_come_back():
    talk = begun(*HISTORY)
    talk.record(digest_of_range(1, 3))
    talk.send("s", "usum", "u4", "a5")
    thread = replay(talk.leaves, talk.log)
    assert thread.report(1).status == "suspended"
    talk.send(*HISTORY)
    assert replay(talk.leaves, talk.log).report(1).status == "applied"


@pytest.mark.parametrize(
    ("history", "back"),
    [
        (("u0", "a1"), ("u0",)),
        (("s", "u0", "u1", "a2"), ("s", "u0", "u1")),
        (HISTORY, HISTORY[:4]),
    ],
    ids=["the first", "with a message before it", "a later one"],
)
def test_a_question_that_is_asked_anew_is_not_what_a_fold_tells_of_its_answer(
    history: tuple[str, ...], back: tuple[str, ...]
) -> None:
    talk = begun(*history)
    first = len([one for one in history if one == "s"])
    talk.record(digest_of_range(first, len(history) - 1))
    assert talk.send(*back).decision is RequestDecision.REGENERATED
    assert (talk.sent, talk.shown[-1]) == ([*back], back[-1])
    assert talk.send(*back).operations == []
    talk.send(*back, "a9")
    assert talk.send(*back).decision is RequestDecision.REGENERATED
    assert (talk.sent, talk.shown[-1]) == ([*back], back[-1])
    talk.send(*history)
    assert replay(talk.leaves, talk.log).report(1).status is Status.APPLIED


def test_a_question_asked_anew_is_meant_wherever_the_request_goes_on_from_it() -> None:
    talk = begun("s", "u0", "a1")
    talk.record(digest_of_range(1, 2))
    talk.send("s", "u0")
    talk.send("s", "u0", "a2", "u0")
    assert talk.shown == ["s", "u0", "a2", "u0"]
    assert talk.send("s2", "u0", "a2", "u0", "a3").decision is RequestDecision.PROMPT
    assert talk.shown == ["s2", "u0", "a2", "u0", "a3"]


def test_a_question_whose_answer_the_client_writes_itself_is_folded_as_before() -> None:
    talk = begun("s", "u0", "a1", "u2")
    talk.record(digest_of_range(1, 2))
    talk.send("s", "u0", "a9", "u2")
    assert talk.shown[-1] == "u2"
    assert "u0" not in talk.shown


def test_a_question_that_is_folded_without_its_answer_stays_folded() -> None:
    talk = begun(*HISTORY)
    talk.record(digest_of_range(1, 3))
    talk.send(*HISTORY[:4])
    assert "u2" not in talk.shown


@pytest.mark.parametrize(
    ("first", "then", "key"),
    [
        pytest.param("ux", "uy ux", "o1.0", id="put in before it"),
        pytest.param("ux uy", "uy", "o1.1", id="gone before it"),
    ],
)
def test_an_operation_never_acts_on_words_that_moved_under_its_key(first, then, key):
    talk = begun(*HISTORY)
    before, after = (
        [*HISTORY[:3], *put_in.split(), *HISTORY[3:]] for put_in in (first, then)
    )
    talk.send(*before)
    talk.record(Snip(targets=(key,)))
    words = talk.words(key)
    assert words not in talk.shown
    made = talk.send(*after)
    assert [one.act for one in made.changes] == ["reverted", "made"]
    assert (talk.sent, talk.shown) == (after, after)
    assert replay(talk.leaves, talk.log).status(2) is Status.VOID
    assert talk.send(*after).operations == []
    back = talk.send(*before)
    assert [one.act for one in back.changes] == ["restored", "reverted"]
    assert talk.sent == before
    assert words not in talk.shown


def test_nor_on_words_that_moved_in_what_stands_in_place_of_messages():
    talk = begun(*HISTORY)
    talk.send("s", "ux", "uy", "u4", "a5")
    talk.record(Redact(spans=(span("o1.1", 0, 2, "uy"),)))
    made = talk.send("s", "uy", "u4", "a5")
    assert [one.act for one in made.changes] == ["reverted", "made"]
    assert talk.sent == ["s", "uy", "u4", "a5"]


def test_words_that_nobody_works_on_are_amended_wherever_they_move():
    talk = begun(*HISTORY)
    talk.send("s", "ux", *HISTORY[1:])
    talk.record(Snip(targets=("m2",)))
    (change,) = talk.send("s", "uy", "ux", *HISTORY[1:]).changes
    assert (change.key, change.act) == ("o1", "amended")
    assert talk.sent == ["s", "uy", "ux", *HISTORY[1:]]


def test_a_summary_is_known_again_when_all_behind_it_is_gone():
    """An operation on it would be lost if it became an original."""
    talk = begun(*HISTORY)
    talk.send("s", "usum", "u4", "a5")
    talk.record(Redact(spans=(span("o1.0", 0, 4, "usum"),)))
    made = talk.send("s", "usum", "u6")
    assert [change.act for change in made.changes] == ["made"]
    assert talk.sent == ["s", "usum", "u6"]
    assert "o1" in {unit.made[0][:2] for unit in made.units if unit.made}
    talk.send("s", "usum2", "usum", "u6")
    assert talk.sent == ["s", "usum2", "usum", "u6"]
