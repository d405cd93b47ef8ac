"""Which proposals fit when they are accepted together, and why the others don't."""

from operations.domain.log.operation import Replace
from operations.domain.thread.acceptance import Acceptance, refusal, try_acceptance
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key
from tests.operations.support.builders import (
    digest,
    insert,
    proposal,
    shape,
    snip,
    span,
    thread,
)

WAITING = thread(
    12,
    digest(3, 8),
    proposal(snip(7, 10)),
    proposal(snip(9, 10)),
    proposal(digest(2, 5)),
)


def refused(found: Acceptance) -> dict[object, object]:
    return {one.facts["operation"]: one.facts["operations"] for one in found.refused}


def accepted(made: Thread, *keys: Key) -> Acceptance:
    return try_acceptance(made, keys)


def test_each_that_would_cut_through_a_fold_is_refused_with_its_place() -> None:
    found = accepted(WAITING, "o3", "o2", "o4")
    assert found.fitting == ("o3",)
    assert refused(found) == {"o2": ["o1"], "o4": ["o1"]}
    assert [one.at for one in found.refused] == [("operations", 1), ("operations", 2)]
    assert shape(found.thread).endswith("o3(m9 m10) m11")


def test_the_refusal_names_all_and_keeps_the_facts_of_the_first() -> None:
    conflict = refusal(accepted(WAITING, "o3", "o2", "o4"))
    assert conflict.message == "2 of 3 proposals can't be accepted: o2, o4."
    assert conflict.at == ("operations", 1)
    assert conflict.facts["fitting"] == ["o3"]
    assert conflict.facts["operations"] == ["o1"]
    assert conflict.facts["needs"]["first"] == 3  # type: ignore[index]
    assert [error.facts["operation"] for error in conflict.errors] == ["o2", "o4"]


def test_the_refusal_of_one_alone_says_why() -> None:
    found = accepted(WAITING, "o2")
    conflict = refusal(found)
    assert conflict.message == found.refused[0].message
    assert conflict.facts["fitting"] == []
    assert conflict.errors == ()


def test_of_two_that_cross_each_other_the_later_is_refused() -> None:
    made = thread(9, proposal(snip(4, 6)), proposal(digest(2, 4)))
    found = accepted(made, "o2", "o1")
    assert found.fitting == ("o1",)
    assert refused(found) == {"o2": ["o1"]}


def test_what_acts_on_what_is_refused_is_refused_with_it() -> None:
    made = thread(
        9,
        digest(2, 4),
        proposal(digest(4, 6)),
        proposal(Replace(spans=(span("o2.0", 0, 3),))),
        proposal(insert("o2")),
        proposal(insert("o4.0")),
        proposal(insert("m1")),
    )
    found = accepted(made, "o2", "o3", "o4", "o5", "o6")
    assert found.fitting == ("o6",)
    assert refused(found) == {"o2": ["o1"], "o3": ["o2"], "o4": ["o2"], "o5": ["o4"]}


def test_what_finds_nothing_to_act_on_for_other_reasons_is_no_fault() -> None:
    made = thread(9, proposal(insert("m2")), proposal(insert("o1.0")))
    found = accepted(made, "o2")
    assert found.fitting == ("o2",)
    assert found.thread.report(2).status == "void"
