"""What a client did to its messages, as operations: the thread is what the client sends."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operations.domain.forwarding.alignment import Unit, UnitCounts
from operations.domain.forwarding.client_entries import TITLES, RequestDecision
from operations.domain.forwarding.plan import extension, plan
from operations.domain.log.entry import CLIENT
from operations.domain.log.operation import Insert
from operations.domain.thread.replay import sent_keys
from operations.domain.tree.leaf import MadeMessage
from threads.domain.message import Role

from .talk import HISTORY, Talk, begun, says


def test_the_first_request_of_a_session_is_its_beginning() -> None:
    talk = Talk()
    messages = [says("u1")]
    sent, units = talk.align(messages)
    made = plan(sent, [], talk.log, units, quotes=False)
    assert made.decision is RequestDecision.FIRST and made.records
    talk.send("u1")
    sent, units = talk.align(messages)
    again = plan(sent, [Role.USER], talk.log, units, quotes=False)
    assert again.decision is RequestDecision.REPEATED and not again.records


def test_a_talk_that_grows_needs_no_entries():
    talk = begun(*HISTORY[:3])
    for end in range(4, 8):
        made = talk.send(*HISTORY[:end])
        assert (made.decision, made.operations) == (RequestDecision.EXTENDED, [])
        assert (made.known, len(made.appended)) == (end - 1, 1)
    assert talk.send(*HISTORY).decision is RequestDecision.REPEATED
    assert len(talk.originals) == len(HISTORY)


@pytest.mark.parametrize(
    ("request_", "edits", "decision", "appended"),
    [
        pytest.param(
            "s a3 u4 a5", ["snip"], RequestDecision.TRIMMED, 0, id="head cut off"
        ),
        pytest.param(
            "s u0 a1", ["snip"], RequestDecision.REGENERATED, 0, id="gone back"
        ),
        pytest.param(
            "s u0 a1 u2 a3x",
            ["snip"],
            RequestDecision.REGENERATED,
            1,
            id="another tail",
        ),
        pytest.param(
            "s usum u4 a5 u6", ["revise"], RequestDecision.COMPACTED, 1, id="compaction"
        ),
        pytest.param(
            "s u0 a1 u2x a3 u4 a5",
            ["revise"],
            RequestDecision.EDITED,
            0,
            id="edited inside",
        ),
        pytest.param(
            "s2 u0 a1 u2 a3 u4 a5", ["revise"], RequestDecision.PROMPT, 0, id="prompt"
        ),
        pytest.param(
            "u0 a1 u2 a3 u4 a5", ["snip"], RequestDecision.PROMPT, 0, id="no prompt"
        ),
        pytest.param(
            "s u0 a1 ux u2 a3 u4 a5",
            ["insert"],
            RequestDecision.EDITED,
            0,
            id="put between",
        ),
        pytest.param(
            "s2 usum u4 a5",
            ["revise", "revise"],
            RequestDecision.COMPACTED,
            0,
            id="prompt and compaction",
        ),
    ],
)
def test_what_a_client_did_is_said_by_as_few_edits_as_can_be(
    request_, edits, decision, appended
):
    talk = begun(*HISTORY)
    made = talk.send(*request_.split())
    assert (talk.edits, made.decision, len(made.appended)) == (
        edits,
        decision,
        appended,
    )
    assert made.titles == [TITLES[change.cause] for change in made.changes]
    assert talk.sent == request_.split()
    assert talk.send(*request_.split()).operations == []
    back = talk.send(*HISTORY)
    assert talk.sent == [*HISTORY]
    if not appended:
        assert (back.decision, talk.edits) == (RequestDecision.RESUMED, [])
        assert [one.act for one in back.changes] == ["reverted"] * len(edits)


def test_a_prompt_that_a_session_never_had_stands_at_its_top():
    talk = begun("u0", "a1")
    talk.send("s", "u0", "a1", "u2")
    assert talk.sent == ["s", "u0", "a1", "u2"]
    assert len(talk.originals) == 3


@pytest.mark.parametrize(
    "requests",
    [
        pytest.param("u0 | s u1 u0", id="at once"),
        pytest.param("u0 | s | s u0 u0", id="behind a prompt that stood alone"),
        pytest.param("u0 | u1 u0 | s u1 u0", id="before what was put in"),
        pytest.param("u0 | s u1 u0 | s u0 | s2 u2 u0", id="gone and back"),
        pytest.param("u0 a1 | ux a1 | s a1 | s u1 ux a1", id="before an edit"),
        pytest.param("s0 | s s0 | s u0 s0", id="before the old prompt"),
    ],
)
def test_a_new_prompt_and_what_is_put_in_behind_it_are_one_insert(requests):
    talk = Talk()
    for texts in map(str.split, requests.split(" | ")):
        talk.send(*texts)
        assert talk.sent == texts
        assert talk.send(*texts).operations == []
    assert talk.edits.count("insert") == 1


def test_of_two_inserts_in_one_place_one_stays():
    """Logs have them of which the prompt was recorded by itself."""
    talk = begun("u0")
    new = [[MadeMessage(one.role, one.parts)] for one in (says("s"), says("u1"))]
    talk.record(*(Insert(after=None, messages=tuple(one)) for one in new), actor=CLIENT)
    assert talk.send("s", "u1", "u0").operations == []
    for texts in (["s", "u2", "u0"], ["s2", "u2", "u0"]):
        talk.send(*texts)
        assert (talk.sent, talk.edits) == (texts, ["insert"])


def test_what_changes_again_is_amended_and_what_comes_back_restored():
    talk = begun(*HISTORY)
    talk.send("s2", *HISTORY[1:])
    (change,) = talk.send("s3", *HISTORY[1:]).changes
    assert (change.key, change.act) == ("o1", "amended")
    assert talk.sent[0] == "s3"
    talk.send(*HISTORY)
    (change,) = talk.send("s3", *HISTORY[1:]).changes
    assert (change.key, change.act) == ("o1", "restored")
    talk.send(*HISTORY)
    made = talk.send("s4", *HISTORY[1:])
    assert [type(one).__name__ for one in made.operations] == ["Toggle", "Amend"]
    assert talk.sent[0] == "s4"


def test_the_tail_of_before_is_a_branch_to_which_a_client_can_go_back():
    talk = begun(*HISTORY)
    other = (*HISTORY[:5], "u4x")
    talk.send(*other)
    assert talk.send(*other, "a5x").operations == []
    talk.send(*HISTORY, "u6")
    assert talk.sent == [*HISTORY, "u6"]
    assert len(talk.originals) == len(HISTORY) + 3


@pytest.mark.parametrize("first", ["a1x u2 a2", "a1 u2 a2x"])
def test_edits_are_met_again_beside_one_another_where_all_between_them_changes(
    first: str,
) -> None:
    talk = begun("u1", "a1", "u2", "a2", "u3")
    talk.send("u1", *first.split(), "u3")
    talk.send("u1", "a1x", "u2", "a2x", "u3")
    made = talk.send("u1", "a1x", "u2x", "a2x", "u3")
    assert talk.sent == ["u1", "a1x", "u2x", "a2x", "u3"]
    assert [one.kind for one in made.operations] == ["revise"]
    assert talk.edits == ["revise"] * 3


def test_two_compactions_in_a_row():
    talk = begun(*HISTORY)
    talk.send("s", "usum", "u4", "a5", "u6")
    talk.send("s", "usum", "u4", "a5", "u6", "a7", "u8")
    made = talk.send("s", "usum2", "a7", "u8", "a9")
    assert made.decision is RequestDecision.COMPACTED
    assert talk.edits == ["revise"]
    assert talk.sent == ["s", "usum2", "a7", "u8", "a9"]


def test_a_compaction_that_keeps_nothing_goes_on_behind_what_it_sums_up():
    talk = begun(*HISTORY)
    made = talk.send("s", "usum", quotes=True)
    assert (made.decision, talk.edits) == (RequestDecision.COMPACTED, ["snip"])
    assert talk.originals[-1].text.startswith("usum")
    assert talk.send("s", "usum", "a8").operations == []


def test_what_says_the_same_under_another_name_is_not_amended():
    """Results are named as their calls are held; the digest is of what the client sent."""
    talk = begun(*HISTORY)
    edited = [HISTORY[0], "uother", *HISTORY[2:]]
    talk.send(*edited)
    sent, units = talk.align([says(text) for text in edited])
    named = sent._replace(
        digest=lambda place: b"its own" if place == 1 else sent.digest(place)
    )
    roles = [one.role for one in talk.originals]
    assert not plan(named, roles, talk.log, units).records


def test_an_extension_has_the_same_plan_as_if_all_were_looked_at():
    talk = begun(*HISTORY)
    messages = [says(text) for text in (*HISTORY, "u6")]
    sent, units = talk.align(messages)
    full = plan(sent, [one.role for one in talk.originals], talk.log, units)
    quick = extension(units, held=len(HISTORY), known=len(HISTORY), count=8)
    assert (quick.units, quick.decision) == (full.units, full.decision)
    assert (quick.appended, quick.known) == (full.appended, full.known)
    counts = UnitCounts().extended(units[:3]).extended(units[3:])
    counted = extension(units, held=7, known=7, count=8, counts=counts)
    assert (counted, quick.counts) == (quick, full.counts)
    assert extension([], held=0, known=0, count=2).decision is RequestDecision.FIRST
    assert (
        extension(units, held=7, known=7, count=7).decision is RequestDecision.REPEATED
    )


def test_an_edit_that_its_client_cuts_in_two_counts_as_two_of_its_messages():
    units = [Unit(0, 1, 0, 1), Unit(0, 0, 1, 3, made=("o1.0",))]
    made = extension(units, held=1, known=3, count=4)
    assert (made.known, made.unknown, len(made.appended)) == (1, 2, 1)


def test_a_plan_says_what_its_units_come_to():
    talk = begun(*HISTORY)
    for texts in (("s", "u0"), ("s", "u0", "u7", "u8"), (*HISTORY, "u9")):
        made = talk.send(*texts)
        assert made.counts == UnitCounts().extended(made.units)


TEXTS = st.sampled_from(["s", "s2", *(f"{who}{n}" for n in range(6) for who in "ua")])
REQUESTS_OF_A_CLIENT = st.lists(
    st.lists(TEXTS, min_size=1, max_size=9), min_size=1, max_size=6
)


@given(REQUESTS_OF_A_CLIENT)
def test_the_log_says_what_the_client_sends_whatever_it_sends(requests):
    talk = Talk()
    for texts in requests:
        made = talk.send(*texts)
        assert talk.sent == texts
        assert [key for unit in made.units for key in unit.keys] == sent_keys(
            len(talk.originals), talk.log
        )
        assert made.known + made.unknown + len(made.appended) == len(texts)
        again = talk.send(*texts)
        assert (again.operations, len(again.appended)) == ([], 0)


@given(REQUESTS_OF_A_CLIENT)
def test_of_what_acts_in_one_place_there_is_one_edit(requests):
    talk = Talk()
    for texts in requests:
        talk.send(*texts)
    places = [
        (one.edit.kind, getattr(one.edit, "targets", getattr(one.edit, "after", None)))
        for one in talk.log.client_edits
    ]
    assert len(places) == len(set(places))
