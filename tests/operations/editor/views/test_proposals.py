"""What waits is read in the thread before it is decided on, one by one or as a bundle."""

import re

from contextstudio.accounts.models import User
from operations.domain.log.operation import Digest, Edit, Insert, Redact, Revise, Snip
from operations.domain.tree.leaf import New
from operations.domain.tree.span import Span, fingerprint
from operations.edits.services import record_bundle, record_edit
from tests.operations.conftest import Page
from tests.people import caller
from threads.domain.part import Text


def said(text: str, role: str = "user") -> tuple[New, ...]:
    return (New(role, (Text(text),)),)


SUM = Digest(targets=("m2", "m3"), messages=said("What *mattered*", "system"))


def propose(page: Page, editor: User, *edits: Edit) -> None:
    for edit in edits:
        record_edit(caller(editor), page.session.pk, edit, propose=True)


def propose_together(page: Page, editor: User, *edits: Edit) -> None:
    record_bundle(
        caller(editor), page.session.pk, edits, propose=True, title="Spring cleaning"
    )


def notes(page: Page) -> list[str]:
    """What the notes of the thread say, a line each."""
    html = page.client.get(page.url).content.decode()
    found = re.findall(r'<div class="flat .*?(?=<header|<div class="flat )', html, re.S)
    return [" ".join(re.sub(r"<[^>]*>", " ", note).split()) for note in found]


def test_a_proposal_shows_what_the_model_would_read(page: Page, editor: User) -> None:
    insert = Insert(after="m5", messages=said("Keep the logo."))
    revise = Revise(targets=("m8",), messages=said("Shorter.", "assistant"))
    propose(page, editor, SUM, insert, revise, Snip(targets=("m12",)))
    digest, inserted, revised, snipped = notes(page)
    assert digest.endswith("Accept digest o1 Reject digest o1 What mattered")
    assert "after #5" in inserted
    assert inserted.endswith("User Keep the logo.")
    assert "Assistant" in revised
    assert "Shorter." in revised
    assert snipped.endswith("Reject snip o4")


def test_a_long_proposal_begins_with_its_first_lines(page: Page, editor: User) -> None:
    lines = "\n\n".join(f"Line {number}" for number in range(30))
    propose(page, editor, Digest(targets=("m2",), messages=said(lines, "system")))
    assert "Line 5 Show all 30 lines" in notes(page)[0]


def test_the_words_of_a_proposal_are_masked(page: Page, editor: User) -> None:
    propose(page, editor, SUM)
    assert "mattered" in notes(page)[0]
    digest = fingerprint("mattered")
    span = Span(key="o1.0", part=0, start=6, end=14, sha256=digest, text="[redacted]")
    mask = Redact(spans=(span,))
    record_edit(caller(editor), page.session.pk, mask)
    assert "mattered" not in notes(page)[0]


def test_proposals_of_one_bundle_are_one_in_the_thread(
    page: Page, editor: User
) -> None:
    later = Snip(targets=("m10", "m11"))
    propose_together(page, editor, later, SUM, Insert(after="m6", messages=said("A")))
    head, first, second, third = notes(page)
    assert head.startswith("Spring cleaning proposed 3 operations")
    assert head.endswith(
        "Accept all 3 of Spring cleaning Reject all of Spring cleaning"
    )
    assert first.startswith("Digest o2")
    assert "1 of 3" in first
    assert "Insert o3" in second
    assert "Spring cleaning 2 of 3" in second
    assert "Spring cleaning 3 of 3" in third
    assert not any("Accept" in note for note in (first, second, third))


def test_the_parts_of_a_bundle_lead_to_each_other(page: Page, editor: User) -> None:
    propose_together(page, editor, *(Snip(targets=(f"m{at}",)) for at in (12, 4, 8)))
    html = page.client.get(page.url).content.decode()
    links = re.findall(r'data-to="(o\d)" aria-label="(Part before|Next part)', html)
    assert links == [
        ("o3", "Next part"),
        ("o2", "Part before"),
        ("o1", "Next part"),
        ("o3", "Part before"),
    ]


def test_what_is_left_of_a_bundle_is_decided_on_alone(page: Page, editor: User) -> None:
    propose_together(page, editor, Snip(targets=("m4",)), Snip(targets=("m8",)))
    patch = page.post("operations/o1/accept").content.decode()
    assert 'Accept<span class="vh"> snip o2' in patch
    (left,) = notes(page)
    assert left.endswith("Accept snip o2 Reject snip o2")


def test_the_outline_names_a_bundle_once(page: Page, editor: User) -> None:
    propose_together(page, editor, Snip(targets=("m8",)), Snip(targets=("m4",)))
    html = page.get("outline").content.decode()
    assert html.count("Spring cleaning, proposed") == 1
    assert 'data-to="o2"' in html
    assert 'data-to="o1"' not in html
    assert "2 proposed" in html
