"""Strict at the door: what recording refuses, warns of, and resolves."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextstudio.accounts.domain.errors import Conflict, DomainError, Invalid
from operations.domain.log.log import fold
from operations.domain.log.operation import (
    Amend,
    Condense,
    Condition,
    Digest,
    Insert,
    Redact,
    Replace,
    Resequence,
    Revert,
    Revise,
    Snip,
    Tag,
    Toggle,
    named_keys,
)
from operations.domain.thread.check import check, check_amend
from operations.domain.thread.replay import replay
from operations.domain.tree.leaf import MadeMessage
from tests.operations.support.builders import (
    digest,
    insert,
    keys,
    new,
    proposal,
    resequence,
    revise,
    shape,
    snip,
    span,
    thread,
)
from tests.operations.support.strategies import edits, sessions, targets
from threads.domain.part import Image, Text


def invalid(edit, count=6, *before):
    with pytest.raises(Invalid) as refusal:
        check(thread(count, *before), [edit])
    return refusal.value.code, refusal.value.at


def conflict(made, *edits, **options):
    with pytest.raises(Conflict) as refusal:
        check(made, edits, **options)
    return refusal.value


@pytest.mark.parametrize(
    ("edit", "code", "at"),
    [
        (Snip(targets=("m0", "m6")), "unknown_key", ("targets", 1)),
        (Snip(targets=("nonsense",)), "unknown_key", ("targets", 0)),
        (Snip(targets=("o1.0",)), "unknown_key", ("targets", 0)),
        (Snip(targets=()), "empty", ("targets",)),
        (Tag(targets=("m0",), tags=()), "empty", ("tags",)),
        (Tag(targets=("m0",), tags=("a", " ")), "empty", ("tags",)),
        (Digest(targets=("m0",), messages=()), "empty", ("messages",)),
        (Digest(targets=("m0",), messages=(new(), new())), "count", ("messages",)),
        (Digest(targets=("m0",), messages=(new(" \n"),)), "empty", ("messages", 0)),
        (
            Digest(
                targets=("m0",),
                messages=(MadeMessage("system", (Image("image/png"),)),),
            ),
            "empty",
            ("messages", 0),
        ),
        (Revise(targets=("m0",), messages=()), "empty", ("messages",)),
        (Condense(targets=keys(0, 1), messages=(new(),)), "count", ("targets",)),
        (Condense(targets=("m0",), messages=(new(), new())), "count", ("messages",)),
        (
            Condense(targets=("m0",), messages=(new(role="tool"),)),
            "role",
            ("messages", 0),
        ),
        (Insert(after="m6", messages=(new(),)), "unknown_key", ("after",)),
        (Insert(after="m0", messages=()), "empty", ("messages",)),
        (Resequence(order=()), "empty", ("order",)),
        (Resequence(order=("m0", "m1", "m0")), "duplicate", ("order", 2)),
        (Resequence(order=("m0", "x")), "unknown_key", ("order", 1)),
        (Replace(spans=()), "empty", ("spans",)),
        (Replace(spans=(span("m6", 0, 1),)), "unknown_key", ("spans", 0)),
        (Replace(spans=(span("m0", 0, 0),)), "range", ("spans", 0)),
        (Redact(spans=(span("m0", 0, 1, part=-1),)), "range", ("spans", 0)),
        (Redact(spans=(span("m0", 0, 3), span("m0", 2, 4))), "overlap", ("spans", 1)),
    ],
)
def test_what_is_malformed_is_refused_with_its_place(edit, code, at):
    assert invalid(edit) == (code, at)


@pytest.mark.parametrize(
    ("edit", "code", "at"),
    [
        (Snip(targets=("o1.1",)), "unknown_key", ("targets", 0)),
        (Snip(targets=("o2.1",)), "unknown_key", ("targets", 0)),
        (Snip(targets=("o3",)), "unknown_key", ("targets", 0)),
        (Insert(after="o3", messages=(new(),)), "unknown_key", ("after",)),
        (Resequence(order=("o1", "m2")), "duplicate", ("order", 1)),
        (Replace(spans=(span("o1", 0, 1),)), "unknown_key", ("spans", 0)),
        (Replace(spans=(span("o1.0", 0, 3, "not"),)), "text", ("spans", 0)),
        (Replace(spans=(span("o2.0", 90, 91, "i"),)), "text", ("spans", 0)),
        (
            Condense(targets=("o2.0",), messages=(new(role="tool"),)),
            "role",
            ("messages", 0),
        ),
    ],
)
def test_what_operations_made_is_named_as_strictly(edit, code, at):
    before = (digest(1, 2), insert("m4"), Tag(targets=("m0",), tags=("a",)))
    assert invalid(edit, 6, *before) == (code, at)


def test_a_redaction_may_name_what_a_message_read_before_it_was_amended():
    amended = Amend(operation="o1", edit=insert("m0", "Other words."))
    made = thread(3, insert("m0", "The secret."), amended)
    old = span("o1.0", 4, 10, "secret")
    checked = check(made, [Redact(spans=(old,))])
    assert checked.thread.log.masks.mask_edit(1, insert("m0", "The secret.")) == insert(
        "m0", "The [redacted]."
    )
    for edit in (Replace(spans=(old,)), Redact(spans=(span("o1.0", 4, 10, "never"),))):
        with pytest.raises(Invalid) as refusal:
            check(made, [edit])
        assert refusal.value.code == "text"


def test_all_malformed_edits_of_a_bundle_are_named():
    made = thread(3)
    with pytest.raises(Invalid) as refusal:
        check(made, [snip(0, 0), snip(2, 3), Snip(targets=())], bundle=True)
    assert refusal.value.at == ("operations", 1, "targets", 1)
    assert [error.at for error in refusal.value.errors] == [
        ("operations", 1, "targets", 1),
        ("operations", 2, "targets"),
    ]


def test_a_fold_as_target_means_all_its_leaves():
    made = thread(8, insert("m1"), digest(2, 4), Snip(targets=("o1.0", "m1")))
    (edit,) = check(made, [Snip(targets=("o2", "o2.0", "m5"))]).edits
    assert edit.targets == ("m2", "m3", "m4", "m5")
    (edit,) = check(made, [resequence("m6", "o3")]).edits
    assert edit.order == ("m6", "m1", "o1.0")


def test_a_fold_that_is_off_means_its_targets():
    made = thread(6, digest(2, 4), Toggle(operations=("o1",), active=False))
    (edit,) = check(made, [Snip(targets=("o1",))]).edits
    assert edit.targets == ("m2", "m3", "m4")


def test_an_insert_as_target_or_anchor_means_its_messages():
    made = thread(3, insert("m0", "one", "two"))
    (edit,) = check(made, [Snip(targets=("o1",))]).edits
    assert edit.targets == ("o1.0", "o1.1")
    (edit,) = check(made, [insert("o1")]).edits
    assert edit.after == "o1.1"


def test_an_anchor_at_what_a_fold_shows_is_the_fold():
    made = thread(4, digest(1, 2))
    assert [
        check(made, [insert(after)]).edits[0].after
        for after in ("o1.0", "o1", "m1", None)
    ] == ["o1", "o1", "m1", None]


def test_an_edit_may_name_what_the_bundle_made_before_it():
    made = thread(6, snip(0, 0))
    bundle = [
        insert("m2", "one"),
        digest(3, 4),
        Snip(targets=("o2.0", "o3")),
        insert("o3"),
    ]
    checked = check(made, bundle, bundle=True)
    assert checked.edits[2].targets == ("o2.0", "m3", "m4")
    assert shape(checked.thread) == "o1(m0) m1 m2 o4(o2.0 o3(m3 m4)) o5.0 m5"


def test_a_conflict_names_what_is_in_the_way_and_what_would_do():
    refusal = conflict(thread(12, revise(4, 5), digest(3, 8)), snip(7, 10))
    assert refusal.facts == {
        "operations": ["o2"],
        "needs": {"keys": [*keys(3, 10)], "first": 3, "last": 10},
    }
    assert refusal.at == ()


def test_what_would_do_is_an_index_range_only_where_it_is_one():
    scattered = Snip(targets=("m0", "m4"))
    refusal = conflict(thread(12, digest(3, 8)), scattered)
    assert refusal.facts["needs"] == {"keys": ["m0", *keys(3, 8)]}
    inserts = conflict(
        thread(4, insert(None, "a", "b"), Snip(targets=("o1.0", "o1.1")), insert("m3")),
        Snip(targets=("o1.0", "o3.0")),
    )
    assert inserts.facts["needs"] == {"keys": ["o1.0", "o1.1", "o3.0"]}


def test_a_conflict_in_a_bundle_names_its_place():
    refusal = conflict(thread(12), digest(3, 8), snip(7, 10), bundle=True)
    assert (refusal.at, refusal.facts["operations"]) == (("operations", 1), [])
    assert refusal.message == "It covers only part of a fold, made by operations[0]."


def test_a_conflict_in_a_bundle_names_recorded_operations_by_their_keys():
    made, middle = thread(12, digest(0, 2)), digest(5, 7)
    refusal = conflict(made, middle, snip(2, 6), bundle=True)
    assert refusal.facts["operations"] == ["o1"]
    assert refusal.facts["needs"] == {"keys": list(keys(0, 7)), "first": 0, "last": 7}
    assert refusal.message == "It covers only part of a fold, made by operations[0]."


def test_an_operation_with_a_condition_is_checked_as_if_it_held():
    held = Condition(tags=("a",))
    conflict(thread(12, digest(3, 8)), digest(7, 10, condition=held))
    unmet = thread(12, digest(3, 8, condition=held))
    assert check(unmet, [snip(7, 10)]).warnings == ()


def test_a_proposal_may_be_recorded_in_conflict():
    checked = check(thread(12, digest(3, 8)), [snip(7, 10)], proposed=True)
    assert [(w.code, w.operation) for w in checked.warnings] == [("conflict", "o2")]


def test_text_that_another_operation_changes_is_not_changed_twice():
    first = Replace(spans=(span("m0", 0, 4),))
    second = Replace(spans=(span("m0", 3, 5),))
    off = Toggle(operations=("o1",), active=False)
    assert conflict(thread(2, first), second).facts == {"operations": ["o1"]}
    assert conflict(thread(2, first, off), second).code == "overlap"
    inner = Redact(spans=(span("m0", 1, 2), span("m0", 2, 3)))
    assert conflict(thread(2, first), inner).facts == {"operations": ["o1"]}
    assert conflict(thread(2), first, second, bundle=True).facts == {"operations": []}
    check(thread(2, first, Revert(operations=("o1",))), [second])


def test_warnings():
    def codes(made, edit):
        return [warning.code for warning in check(made, [edit]).warnings]

    longer = Digest(
        targets=("m0",), messages=(MadeMessage("system", (Text("long"),), 11),)
    )
    assert codes(thread(2), longer) == ["longer"]
    assert codes(thread(2), digest(0, 0)) == []
    assert codes(thread(6, digest(1, 4)), resequence("m3", "m2")) == ["inside_fold"]
    off = Toggle(operations=("o1",), active=False)
    assert codes(thread(2, insert("m0"), off), Snip(targets=("o1.0",))) == ["void"]


def test_amending_checks_words_and_condition():
    held = Condition(tags=("a",))
    made = thread(12, digest(7, 10, condition=held), digest(3, 8))
    with pytest.raises(Invalid):
        check_amend(
            made, Amend(operation="o1", edit=Digest(targets=keys(7, 10), messages=()))
        )
    checked = check_amend(made, Amend(operation="o1", edit=digest(7, 10)))
    assert checked.thread.report(2).status == "conflict"
    early = thread(12, digest(3, 8), digest(7, 10, condition=held))
    with pytest.raises(Conflict):
        check_amend(early, Amend(operation="o2", edit=digest(7, 10)))


def test_amending_what_is_off_or_waits_is_not_checked_for_conflict():
    off = Toggle(operations=("o2",), active=False)
    made = thread(12, digest(3, 8), proposal(digest(7, 10)), proposal(snip(9, 10)))
    words = Amend(
        operation="o2", edit=Digest(targets=keys(7, 10), messages=(new("x"),))
    )
    assert check_amend(made, words).warnings == ()
    held = Condition(tags=("a",))
    made = thread(12, digest(3, 8), digest(7, 10, condition=held), off)
    assert check_amend(made, words).thread.report(2).status == "off"


@pytest.mark.parametrize("named", [("o1",), ("o1.0",), ("o1", "o1.0")])
def test_a_fold_that_names_one_taken_back_means_its_leaves(named):
    back = Revert(operations=("o1",))
    outer = Digest(targets=named, messages=(new("x"),))
    made = thread(2, digest(0, 0), back, digest(0, 0), outer)
    checked = check(made, [Digest(targets=("o4",), messages=(new("y"),))])
    assert checked.edits[0].targets == ("m0",)


@given(sessions(), st.data())
def test_what_is_recorded_names_leaves_and_is_not_in_conflict(session, data):
    leaves, entries = session
    made = replay(leaves, fold(entries))
    edit = data.draw(edits(len(leaves), entries))
    try:
        checked = check(made, [edit])
    except DomainError:
        return
    (recorded,) = checked.edits
    assert checked.thread.report(made.head + 1).status in ("applied", "void")
    if not isinstance(recorded, Insert | Replace | Redact):
        assert not [
            key for key in named_keys(recorded) if key[0] == "o" and "." not in key
        ]
    assert check(made, [recorded]).edits == (recorded,)


@settings(max_examples=30)
@given(sessions(), st.data())
def test_what_a_conflict_needs_would_do(session, data):
    leaves, entries = session
    made = replay(leaves, fold(entries))
    edit = Snip(targets=data.draw(targets(len(leaves), entries, malformed=False)))
    try:
        check(made, [edit])
    except Conflict as refusal:
        needs = refusal.facts["needs"]
        wider = Snip(targets=tuple(needs["keys"]))
        assert check(made, [wider]).thread.report(made.head + 1).status == "applied"
        if "first" in needs:
            resolved = made.resolve_range(needs["first"], needs["last"])
            assert set(resolved) == set(needs["keys"])
    except Invalid:
        return
