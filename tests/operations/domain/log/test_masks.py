"""What redactions mask beside the thread: originals, and all words of an operation."""

from operations.domain.log.operation import (
    Amend,
    Condition,
    Digest,
    Redact,
    Replace,
    Toggle,
)
from operations.domain.thread.replay import replay
from operations.domain.tree.span import SpanChange, apply_span_changes
from tests.operations.support.builders import (
    insert,
    keys,
    log,
    new,
    originals,
    proposal,
    snip,
    span,
)
from threads.domain.part import Text

ORIGINAL = span("m1", 0, 6)
MADE = span("o1.0", 4, 10, "secret")


def words(text: str) -> tuple[Text]:
    return (Text(text),)


def test_a_redaction_that_is_on_masks_an_original_by_its_place() -> None:
    masks = log(Redact(spans=(ORIGINAL,))).masks
    assert masks.mask_parts("m1", words("secret!")) == words("[redacted]!")
    assert masks.mask_parts("m2", words("secret!")) == words("secret!")


def test_one_that_waits_or_is_off_masks_nothing() -> None:
    redact = Redact(spans=(ORIGINAL,))
    assert log(proposal(redact)).masks.changes_on("m1") == []
    off = Toggle(operations=("o1",), active=False)
    assert log(redact, off).masks.changes_on("m1") == []


def test_a_condition_does_not_lift_a_mask() -> None:
    redact = Redact(spans=(ORIGINAL,), condition=Condition(tags=("public",)))
    thread = replay(originals(3), log(redact))
    assert [change.redacted for change in thread.spans("m1")] == [True]
    assert thread.spans("m0") == ()


def test_all_words_that_an_operation_ever_had_are_masked() -> None:
    first = insert(None, "The secret.")
    amended = insert(None, "secret, secretly; no more")
    after = log(first, Redact(spans=(MADE,)), Amend(operation="o1", edit=amended))
    masks = after.masks
    assert [edit.messages[0].parts for edit in after.wordings(1)] == [
        words("The secret."),
        words("secret, secretly; no more"),
    ]
    for edit, masked in (
        (first, "The [redacted]."),
        (amended, "[redacted], [redacted]ly; no more"),
    ):
        assert masks.mask_edit(1, edit).messages[0].parts == words(masked)
    shown = replay(originals(2), after).spans("o1.0")
    assert apply_span_changes(amended.messages[0].parts, shown) == words(
        "[redacted], [redacted]ly; no more"
    )


def test_what_a_replacement_says_is_masked_in_it() -> None:
    """A mask's own words stay."""
    told = Replace(spans=(span("m0", 0, 5, text="The secret."),))
    redact = Redact(spans=(span("m1", 0, 6, text="no secret"),))
    after = log(told, redact)
    after.masks.set_texts({"secret": "***"})
    masked = after.masks.mask_edit(1, told)
    assert isinstance(masked, Replace) and masked.spans[0].text == "The ***."
    assert after.masks.mask_edit(2, redact) == redact
    thread = replay(originals(2), after)
    shown = [change.text for key in keys(0, 1) for change in thread.spans(key)]
    assert shown == ["The ***.", "no secret"]


def test_what_makes_no_messages_has_nothing_to_mask() -> None:
    masks = log(insert(None, "The secret."), Redact(spans=(MADE,))).masks
    assert masks.mask_edit(3, snip(0, 1)) == snip(0, 1)
    other = Digest(targets=keys(0, 1), messages=(new("The secret."),))
    assert masks.mask_edit(3, other) == other
    assert log().masks.mask_edit(1, other) is other


def test_a_span_of_words_that_nobody_recorded_masks_nothing() -> None:
    redact = Redact(spans=(span("o1.0", 0, 6, "other"), span("o1.5", 0, 6)))
    masks = log(insert(None, "The secret."), redact).masks
    assert masks.changes_on("o1.0", words("The secret.")) == []
    assert masks.changes_on("o1.5", words("The secret.")) == []


def test_masks_that_would_overlap_are_laid_one_beside_the_other() -> None:
    spans = (MADE, span("o1.0", 5, 7, "ec"))
    after = log(insert(None, "The secret."), *(Redact(spans=(one,)) for one in spans))
    found = after.masks.changes_on("o1.0", words("The secret."))
    assert [(change.start, change.end) for change in found] == [(4, 10)]


def test_a_change_gives_way_to_the_mask_over_it() -> None:
    from operations.domain.log.mask import merge_masks

    replaced = [
        SpanChange(0, 2, 5, "x", 1, False, 0),
        SpanChange(0, 20, 25, "y", 1, False, 0),
    ]
    mask = SpanChange(0, 4, 10, "[redacted]", 2, True, 0)
    assert merge_masks(replaced, [mask]) == [mask, replaced[1]]


def test_the_originals_of_which_something_may_be_masked_are_named() -> None:
    masks = log(insert("m0", "a secret"), Redact(spans=(MADE, ORIGINAL))).masks
    assert masks.indexes == [1]
    assert not log(insert("m0", "a secret")).masks
