"""What waits is read in the thread before it is decided on, one by one or as a bundle."""

import re
from collections.abc import Callable
from html import unescape

from django.http import HttpResponse

from contextstudio.accounts.models import User
from operations.domain.log.operation import (
    Condition,
    Digest,
    Edit,
    Insert,
    Redact,
    Replace,
    Revise,
    Snip,
    Tag,
)
from operations.domain.tree.leaf import MadeMessage
from operations.domain.tree.span import Span, fingerprint
from operations.edits.services import record_bundle, record_edit
from tests.operations.conftest import Page
from tests.people import caller
from threads.domain.part import Text


def said(text: str, role: str = "user") -> tuple[MadeMessage, ...]:
    return (MadeMessage(role, (Text(text),)),)


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


def covering(key: str, text: str, start: int, reads: str = "") -> Span:
    return Span(
        key=key,
        part=0,
        start=start,
        end=start + len(text),
        sha256=fingerprint(text),
        text=reads,
    )


def test_a_replacement_that_waits_shows_what_it_would_change(
    page: Page, editor: User
) -> None:
    spans = tuple(covering(f"m{at}", "Question", 0, "Ask") for at in (0, 5, 10))
    propose(page, editor, Replace(spans=spans))
    (note,) = notes(page)
    assert note.startswith("Replace o1 proposed")
    assert "Reject replace o1 #0 Question Ask 0 #5 Question Ask 5 #10" in note
    html = page.client.get(page.url).content.decode()
    assert "<del>Question</del><ins>Ask</ins> 0" in html


def test_of_many_changes_a_note_prints_the_first(page: Page, editor: User) -> None:
    keys = ("m0", "m5", "m10", "m15")
    spans = tuple(covering(key, "Ques", 0, "A") for key in keys)
    more = tuple(covering(key, "tion", 4, "B") for key in keys)
    propose(page, editor, Replace(spans=spans + more))
    (note,) = notes(page)
    assert note.endswith("and 4 more")


def test_a_redaction_that_waits_shows_its_mask_and_leaves_others_alone(
    page: Page, editor: User
) -> None:
    number = Redact(spans=(covering("m5", "5", 9),))
    record_edit(caller(editor), page.session.pk, number)
    propose(page, editor, Redact(spans=(covering("m5", "Question", 0),)))
    (note,) = notes(page)
    assert note.startswith("Redact o2 proposed #5 1 match")
    assert note.endswith("#5 Question [redacted] [redacted]")


def test_a_tag_that_waits_says_which(page: Page, editor: User) -> None:
    propose(page, editor, Tag(targets=("m2", "m3"), tags=("decision", "later")))
    (note,) = notes(page)
    assert note.startswith("Tag o1 proposed #2–#3 2 messages")
    assert note.endswith("Reject tag o1 decision later")
    assert ", just now . decision later" in said_in(page.get("panel"))


def test_a_proposal_says_when_it_would_apply(page: Page, editor: User) -> None:
    under = Condition(tags=("brief", "short"))
    propose(page, editor, Snip(targets=("m2",), condition=under))
    assert notes(page)[0].endswith("Applies only while brief and short are active")
    assert "Applies only while brief and short are active." in said_in(
        page.get("panel")
    )


def test_a_proposal_without_a_title_does_not_repeat_its_heading(
    page: Page, editor: User
) -> None:
    propose(page, editor, Snip(targets=("m2",)))
    assert "Snip o1 #2 proposed editor , just now . In the thread:" in said_in(
        page.get("panel")
    )
    record_edit(
        caller(editor),
        page.session.pk,
        Snip(targets=("m7",)),
        propose=True,
        title="Seen twice",
    )
    assert "editor , just now : Seen twice. In the thread:" in said_in(
        page.get("panel")
    )
    assert notes(page)[1].endswith("Reject snip o2 Seen twice")


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
    assert left.endswith("Accept snip o2 Reject snip o2 Spring cleaning")


def test_the_outline_names_a_bundle_once(page: Page, editor: User) -> None:
    propose_together(page, editor, Snip(targets=("m8",)), Snip(targets=("m4",)))
    html = page.get("outline").content.decode()
    assert html.count("Spring cleaning, proposed") == 1
    assert 'data-to="o2"' in html
    assert 'data-to="o1"' not in html
    assert "2 proposed" in html


def said_in(answer: HttpResponse) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", answer.content.decode()).split())


def bundle_of(page: Page, key: str = "o1") -> str:
    html = page.client.get(page.url).content.decode()
    found = re.search(rf'data-operation="{key}" data-bundle="([^"]*)"', html)
    return found[1] if found else ""


def crossing(page: Page, editor: User) -> str:
    """A bundle of three proposals; the second and the third can't be accepted."""
    record_edit(caller(editor), page.session.pk, Snip(targets=("m9", "m10", "m11")))
    ends = said("Ends", "system")
    propose_together(
        page,
        editor,
        Snip(targets=("m4",)),
        Digest(targets=("m8", "m9"), messages=ends),
        Digest(targets=("m11", "m12"), messages=ends),
    )
    return bundle_of(page, "o2")


def test_a_bundle_that_can_t_be_accepted_whole_offers_the_others(
    page: Page, editor: User
) -> None:
    bundle = crossing(page, editor)
    refused = page.post(f"bundles/{bundle}/accept")
    assert refused.status_code == 409
    text = said_in(refused)
    assert "2 of 3 can't be accepted" in text
    assert "Digest o3 #8–#9 It would cut through snip o1." in text
    assert "Digest o4 #11–#12 It would cut through snip o1." in text
    assert "Accept the other Cancel" in text
    (field,) = re.findall(r'type="hidden" name="(skip\w+)"', refused.content.decode())
    accepted = page.post(f"bundles/{bundle}/accept", **{field: "1"})
    assert accepted.status_code == 200
    assert "Snip #4 accepted" in said_in(accepted)
    assert "Still waiting: digest o3, digest o4." in said_in(accepted)
    assert notes(page)[0].startswith("Spring cleaning proposed 2 operations")


def ledger_of(page: Page) -> dict[str, str]:
    """What the drawer says of each operation and each bundle."""
    html = page.get("ledger").content.decode()
    said = re.findall(r'data-late="([^"]*)">(.*?)</p>', html)
    return {key: unescape(words) for key, words in said}


def test_the_drawer_says_beforehand_what_accepting_sets_aside(
    page: Page, editor: User
) -> None:
    ends = said("Ends", "system")
    propose_together(
        page,
        editor,
        Snip(targets=("m4",)),
        Digest(targets=("m8", "m9"), messages=ends),
    )
    bundle = bundle_of(page, "o1")
    record_edit(caller(editor), page.session.pk, Snip(targets=("m9", "m10", "m11")))
    told = ledger_of(page)
    assert "aside" not in told["o1"]
    assert told["o2"].endswith(". Sets aside snip o3")
    assert told[f"waiting-{bundle}"].endswith(". Sets aside snip o3")
    accepted = page.post("operations/o2/accept")
    assert "Set aside by it: snip o3." in said_in(accepted)


def test_the_drawer_says_beforehand_what_can_t_be_accepted(
    page: Page, editor: User
) -> None:
    bundle = crossing(page, editor)
    told = ledger_of(page)
    assert told["o3"].endswith("Can't be accepted: it would cut through snip o1")
    assert told[f"waiting-{bundle}"].endswith("2 can't be accepted")
    assert "Can't" not in told["o2"]


def test_another_proposal_keeps_none_from_being_accepted(
    page: Page, editor: User
) -> None:
    ends = said("Ends", "system")
    for first in (2, 3, 4):
        targets = (f"m{first}", f"m{first + 1}")
        propose(page, editor, Digest(targets=targets, messages=ends))
    assert "be accepted" not in page.get("ledger").content.decode()


def test_where_none_can_be_accepted_there_is_no_other_to_accept(
    page: Page, editor: User
) -> None:
    bundle = crossing(page, editor)
    page.post("operations/o2/reject")
    refused = said_in(page.post(f"bundles/{bundle}/accept"))
    assert "None of these can be accepted" in refused
    assert "Accept the other" not in refused
    alone = page.post("operations/o3/accept")
    assert alone.status_code == 409
    assert "This can't be accepted" in said_in(alone)
    assert "It would cut through snip o1. Widen to #8–#11 Close" in said_in(alone)
    assert "Widen" not in refused


def test_a_proposal_that_can_t_be_accepted_is_widened_by_who_may_edit(
    page: Page, open_page: Callable[..., Page], editor: User, reviewer: User
) -> None:
    crossing(page, editor)
    by_reviewer = open_page(reviewer).post("operations/o3/accept")
    assert "This can't be accepted" in said_in(by_reviewer)
    assert "Widen" not in said_in(by_reviewer)
    widened = page.post("operations/o3/widen")
    assert "Digest #8–#11" in said_in(widened)
    assert page.client.get(page.url).content.decode().count("Widen") == 0


def test_what_was_rejected_alone_is_not_accepted_with_the_rest(
    page: Page, editor: User
) -> None:
    targets = ("m4", "m8", "m12")
    propose_together(page, editor, *(Snip(targets=(key,)) for key in targets))
    bundle = bundle_of(page)
    page.post("operations/o2/reject")
    page.post(f"bundles/{bundle}/accept")
    shown = page.rows()
    assert "n-o1" in shown
    assert "n-o3" in shown
    assert "n-o2" not in shown


def test_what_was_accepted_alone_does_not_keep_the_rest_from_being_rejected(
    page: Page, editor: User
) -> None:
    targets = ("m4", "m8", "m12")
    propose_together(page, editor, *(Snip(targets=(key,)) for key in targets))
    bundle = bundle_of(page)
    page.post("operations/o2/accept")
    assert page.post(f"bundles/{bundle}/reject").status_code == 200
    assert "n-o2" in page.rows()
    assert notes(page) == []


def test_what_is_staged_is_committed_but_for_what_can_t_be(
    page: Page, editor: User
) -> None:
    record_edit(caller(editor), page.session.pk, Snip(targets=("m9", "m10")))
    for targets in ("m8 m9", "m4"):
        page.edit("snip", targets=targets, stage="1")
    refused = page.post("staged/commit")
    assert refused.status_code == 409
    assert "1 of 2 can't be accepted" in said_in(refused)
    assert "Still waiting" in said_in(page.post("staged/commit", skip_conflicts="1"))
    assert "n-o3" in page.rows()


def offered(page: Page) -> list[str]:
    """What can be done with all that waits."""
    html = page.get("panel").content.decode()
    found = re.findall(r'data-action="review-all"[^>]*>(.*?)</button>', html)
    return [re.sub(r"<[^>]*>", "", one) for one in found]


def test_all_that_waits_is_accepted_at_once(page: Page, editor: User) -> None:
    propose(page, editor, Snip(targets=("m4",)))
    assert offered(page) == []
    propose_together(page, editor, Snip(targets=("m8",)), Snip(targets=("m9",)))
    assert offered(page) == ["Accept all 3 proposals", "Reject all proposals"]
    page.post("proposals/accept", seen=3)
    assert page.head == 4
    assert notes(page) == []
    page.post("undo")
    assert offered(page) == ["Accept all 3 proposals", "Reject all proposals"]
    assert page.post("proposals/reject", seen=3).status_code == 200
    assert offered(page) == []


def test_a_proposal_that_was_not_seen_goes_on_waiting(page: Page, editor: User) -> None:
    for index in (4, 8, 12):
        propose(page, editor, Snip(targets=(f"m{index}",)))
    page.post("proposals/accept", seen=2)
    assert len(notes(page)) == 1


def test_of_all_that_waits_what_fits_is_accepted(page: Page, editor: User) -> None:
    crossing(page, editor)
    propose(page, editor, Snip(targets=("m15",)))
    refused = page.post("proposals/accept", seen=5)
    assert refused.status_code == 409
    assert "2 of 4 can't be accepted" in said_in(refused)
    assert 'action="' + page.url + 'proposals/accept"' in refused.content.decode()
    accepted = page.post("proposals/accept", seen=5, skip_conflicts="1")
    assert "Still waiting: digest o3, digest o4." in said_in(accepted)


def test_who_may_not_review_is_not_offered_to(
    page: Page, open_page: Callable[..., Page], editor: User, viewer: User
) -> None:
    for index in (4, 8):
        propose(page, editor, Snip(targets=(f"m{index}",)))
    by_viewer = open_page(viewer)
    assert offered(by_viewer) == []
    assert by_viewer.post("proposals/accept", seen=2).status_code == 403


def test_what_somebody_stages_is_not_decided_on_with_the_rest(
    page: Page, editor: User
) -> None:
    page.edit("snip", targets="m16", stage="1")
    for index in (4, 8):
        propose(page, editor, Snip(targets=(f"m{index}",)))
    assert offered(page)[0] == "Accept all 2 proposals"
    page.post("proposals/accept", seen=3)
    assert 'id="staged-title"' in page.get("panel").content.decode()
