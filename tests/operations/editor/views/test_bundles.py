"""What was recorded together is switched, taken back and decided on together, in the drawer."""

import re
import uuid
from collections.abc import Callable, Sequence

import pytest

from contextstudio.accounts.models import Project, User
from operations.domain.log.operation import Edit, Snip, Tag
from operations.edits.services import record_bundle
from operations.log.selectors import load_thread
from operations.log.transaction import LogTransaction
from tests.operations.conftest import Page, message
from tests.people import caller
from threads.models import Session
from threads.sessions.services import NewSession, create_session

EDITS = [Snip(targets=(f"m{index}",)) for index in (0, 5, 10)]


def together(
    editor: User,
    session: Session,
    edits: Sequence[Edit] = EDITS,
    *,
    propose: bool = False,
    title: str = "Spring cleaning",
) -> LogTransaction:
    made = record_bundle(
        caller(editor), session.pk, edits, propose=propose, title=title
    )
    session.refresh_from_db()
    return made


def bundle_of(made: LogTransaction) -> str:
    return str(made.history.rows[made.numbers[0]].bundle)


def statuses(session: Session) -> list[str]:
    session.refresh_from_db()
    return [report.status.value for report in load_thread(session).reports]


def panel(page: Page, query: str = "") -> str:
    text = page.get(f"panel{query}").content.decode()
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", text))


def test_a_bundle_is_one_row_with_what_its_operations_save(
    page: Page, editor: User
) -> None:
    page.edit("tag", targets="m2", tags="a")
    made = together(editor, page.session)
    saved = made.thread.tokens.original - made.thread.tokens.effective
    said = panel(page)
    assert "Spring cleaning 3 operations" in said
    assert f"−{saved} On" in said
    assert said.index("Spring cleaning") < said.index("Tag o1")


def test_a_bundle_without_a_title_is_called_by_its_one_kind(
    page: Page, editor: User
) -> None:
    together(editor, page.session, title="")
    assert "Snip 3 operations" in panel(page)
    mixed: list[Edit] = [Snip(targets=("m1",)), Tag(targets=("m2",), tags=("a",))]
    together(editor, page.session, mixed, title="")
    assert "Bundle 2 operations" in panel(page)


@pytest.mark.parametrize("waits", [True, False])
def test_a_bundle_of_several_kinds_has_one_icon_wherever_it_stands(
    page: Page, editor: User, *, waits: bool
) -> None:
    snips = [Snip(targets=(f"m{index}",)) for index in (1, 2, 3, 4)]
    mixed: list[Edit] = [Tag(targets=("m1",), tags=("a",)), *snips]
    together(editor, page.session, mixed, propose=waits)
    html = page.get().content.decode()
    drawer = re.findall(r'class="(?:op-bundle|decision[^"]*) op-(\w+)', html)
    outline = re.findall(r'<a class="op-(\w+)', html)
    assert drawer[0] == outline[0] == "mixed"
    assert 'icons.svg#mixed"' in html


@pytest.mark.parametrize("waits", [True, False])
def test_a_bundle_has_a_line_of_what_it_costs_and_saves(
    page: Page, editor: User, *, waits: bool
) -> None:
    made = together(editor, page.session, propose=waits)
    late = f'data-late="{"waiting-" if waits else ""}{bundle_of(made)}"'
    assert late in page.get("panel").content.decode()
    line = page.get("ledger").content.decode().partition(late)[2].partition("</p>")[0]
    assert ("If applied: saves" if waits else "Saves") in line
    assert "per turn" in line


@pytest.mark.parametrize(
    ("verb", "status"), [("off", "off"), ("on", "applied"), ("revert", "reverted")]
)
def test_a_bundle_is_switched_and_taken_back_with_one_entry(
    page: Page, editor: User, verb: str, status: str
) -> None:
    made = together(editor, page.session)
    if verb == "on":
        page.post(f"bundles/{bundle_of(made)}/off")
    page.session.refresh_from_db()
    head = page.session.head
    answer = page.post(f"bundles/{bundle_of(made)}/{verb}")
    assert answer.status_code == 200
    assert statuses(page.session) == [status] * 3
    assert page.session.head == head + 1


def test_a_bundle_switched_off_and_on_leaves_what_was_reverted_of_it(
    page: Page, editor: User
) -> None:
    edits = [Snip(targets=(f"m{index}",)) for index in (0, 5, 10, 15)]
    made = record_bundle(caller(editor), page.session.pk, edits, title="Cleaning")
    for key in ("o1", "o2"):
        page.post(f"operations/{key}/revert")
    page.post(f"bundles/{bundle_of(made)}/off")
    page.post(f"bundles/{bundle_of(made)}/on")
    assert statuses(page.session) == ["reverted"] * 2 + ["applied"] * 2
    assert "Restore Cleaning" in panel(page)
    page.post("operations/o3/off")
    page.post(f"bundles/{bundle_of(made)}/restore")
    assert statuses(page.session) == ["applied", "applied", "off", "applied"]


def test_taking_a_bundle_back_says_that_its_proposals_go_too(
    page: Page, editor: User
) -> None:
    edits = [Snip(targets=(f"m{index}",)) for index in (0, 5, 10, 15)]
    made = record_bundle(
        caller(editor), page.session.pk, edits, propose=True, title="Spring cleaning"
    )
    for key in ("o1", "o2"):
        page.post(f"operations/{key}/accept")
    assert "Revert 2 and withdraw 2 waiting of Spring cleaning" in panel(page)
    page.post(f"bundles/{bundle_of(made)}/revert")
    assert statuses(page.session) == ["reverted"] * 4


def test_taking_a_bundle_back_counts_what_is_set_aside_of_it(
    page: Page, editor: User
) -> None:
    page.edit("digest", targets="m9 m10 m11", summary="Sum")
    page.post("operations/o1/off")
    edits = [Snip(targets=(f"m{index}", f"m{index + 1}")) for index in (0, 4, 11)]
    record_bundle(caller(editor), page.session.pk, edits, title="Spring cleaning")
    assert "Revert all 3 of Spring cleaning" in panel(page)
    page.post("operations/o1/on")
    assert statuses(page.session)[-1] == "conflict"
    assert "Revert all 3 of Spring cleaning" in panel(page)


def test_a_bundle_of_many_is_named_by_its_title_where_it_is_switched(
    page: Page, editor: User
) -> None:
    more = [Snip(targets=(f"m{index}",)) for index in (0, 5, 10, 15)]
    made = record_bundle(caller(editor), page.session.pk, more, title="Spring cleaning")
    answer = page.post(f"bundles/{bundle_of(made)}/off").content.decode()
    assert "Spring cleaning (4 operations) off, +" in answer
    assert "Undo turning off Spring cleaning (4 operations)" in answer


def test_a_bundle_of_many_is_named_by_its_title_in_the_log(
    page: Page, editor: User
) -> None:
    more = [Snip(targets=(f"m{index}",)) for index in (0, 3, 6, 9, 12, 15)]
    for title in ("Spring cleaning", ""):
        made = record_bundle(caller(editor), page.session.pk, more, title=title)
        page.session.refresh_from_db()
        page.post(f"bundles/{bundle_of(made)}/revert")
    said = page.get("log").content.decode()
    assert "Spring cleaning (6 operations)" in said
    assert "and 1 more" in said


def test_operations_that_are_not_named_count_with_those_that_share_a_name(
    page: Page, editor: User
) -> None:
    on = [2, 2, 2, 4, 6, 6, 8]
    tags = [
        Tag(targets=(f"m{index}",), tags=(f"part-{place}",))
        for place, index in enumerate(on)
    ]
    made = record_bundle(caller(editor), page.session.pk, tags)
    answer = page.post(f"bundles/{bundle_of(made)}/off").content.decode()
    assert "Tag #2, tag #4, tag #6 and more (7 operations) off." in answer


def test_what_a_bundle_does_to_one_message_again_is_named_once(
    page: Page, editor: User
) -> None:
    tags = [Tag(targets=("m3",), tags=(f"part-{place}",)) for place in range(5)]
    made = record_bundle(caller(editor), page.session.pk, tags)
    answer = page.post(f"bundles/{bundle_of(made)}/off").content.decode()
    assert "Tag #3 (5 operations) off." in answer
    more = [Snip(targets=(f"m{index}",)) for index in (0, 5, 10, 15)]
    made = record_bundle(caller(editor), page.session.pk, [*tags, *more])
    answer = page.post(f"bundles/{bundle_of(made)}/off").content.decode()
    assert "Tag #3, snip #0, snip #5 and more (9 operations) off" in answer


def test_the_log_says_how_many_entries_more_were_undone_than_it_names(
    page: Page, editor: User
) -> None:
    snips = [Snip(targets=(f"m{index}",)) for index in range(12)]
    record_bundle(caller(editor), page.session.pk, snips)
    page.post("undo")
    said = page.get("log").content.decode()
    assert "(o1, o2, o3, o4, o5, o6, o7, o8, o9, o10 and 2 more)" in said


def test_the_log_says_what_was_undone_and_brought_back(page: Page) -> None:
    page.edit("digest", targets="m2 m3", summary="Sum")
    page.post("operations/o1/off")
    page.post("undo")
    page.post("undo")
    page.post("redo")
    said = re.sub(
        r"\s+", " ", re.sub(r"<[^>]*>", " ", page.get("log").content.decode())
    )
    assert "of turning off digest #2–#3 (o2)" in said
    assert said.count("of digest #2–#3 (o1)") == 2


def test_what_was_taken_back_together_is_restored_together(
    page: Page, editor: User
) -> None:
    made = together(editor, page.session)
    page.post(f"bundles/{bundle_of(made)}/revert")
    assert "Restore Spring cleaning" in panel(page)
    page.post(f"bundles/{bundle_of(made)}/on")
    assert statuses(page.session) == ["applied"] * 3


@pytest.mark.parametrize(
    ("verb", "status"), [("accept", "applied"), ("reject", "rejected")]
)
def test_proposals_of_one_bundle_are_decided_on_at_once(
    page: Page, editor: User, verb: str, status: str
) -> None:
    made = together(editor, page.session, propose=True)
    said = panel(page)
    assert "Spring cleaning proposed 3 operations, " in said
    assert "Accept all 3" in said
    page.post(f"bundles/{bundle_of(made)}/{verb}")
    assert statuses(page.session) == [status] * 3
    assert "Accept all" not in panel(page)


def test_one_of_a_bundle_that_is_alone_in_a_list_is_a_row_like_others(
    page: Page, editor: User
) -> None:
    together(editor, page.session)
    page.post("operations/o2/revert")
    reverted = panel(page).split("Reverted 1")[1]
    assert "Snip o2" in reverted
    assert "Spring cleaning 2 operations" in panel(page).split("Reverted 1")[0]


def test_a_row_of_a_bundle_lists_some_of_it_and_counts_as_one(
    page: Page, editor: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("operations.editor.panels.drawer.MAX_LISTED", 1)
    monkeypatch.setattr("operations.editor.panels.drawer.MAX_MEMBERS", 2)
    page.edit("tag", targets="m2", tags="a")
    together(editor, page.session)
    said = panel(page)
    assert "1 more in the log" in said
    assert "Show 1 older operation" in said
    assert "Snip o2" not in said
    assert "Snip o2" in panel(page, "?more=1")


def test_a_bundle_of_another_session_is_not_found(
    page: Page, editor: User, project: Project
) -> None:
    new = NewSession(title="Other", messages=[message(index) for index in range(20)])
    other = create_session(caller(editor), project, new)
    made = together(editor, other)
    assert page.post(f"bundles/{bundle_of(made)}/off").status_code == 404
    assert page.post(f"bundles/{uuid.uuid4()}/off").status_code == 404
    assert statuses(other) == ["applied"] * 3


def test_a_bundle_has_no_targets_to_widen(page: Page, editor: User) -> None:
    made = together(editor, page.session)
    assert page.post(f"bundles/{bundle_of(made)}/widen").status_code == 404


def test_the_members_of_a_bundle_don_t_repeat_what_it_says(
    page: Page, editor: User
) -> None:
    together(editor, page.session, propose=True)
    said = panel(page)
    assert said.count("Spring cleaning proposed") == 1
    members = said.split("One by one")[1]
    assert "Snip o3 #10 proposed In the thread:" in members
    assert "Snip o1 #0 proposed In the thread:" in members


def test_what_was_rejected_is_accepted_later(page: Page, editor: User) -> None:
    made = together(editor, page.session, propose=True)
    page.post(f"bundles/{bundle_of(made)}/reject")
    said = panel(page)
    assert "Rejected 3 Spring cleaning 3 operations" in said
    assert "Accept Spring cleaning One by one" in said
    page.post(f"bundles/{bundle_of(made)}/accept")
    page.post("operations/o1/revert")
    assert "Reverted 1 Snip o1" in panel(page)


def test_who_may_not_review_is_offered_nothing_on_what_was_rejected(
    page: Page, editor: User, open_page: Callable[..., Page], viewer: User
) -> None:
    made = together(editor, page.session, propose=True)
    page.post(f"bundles/{bundle_of(made)}/reject")
    said = panel(open_page(viewer))
    assert "rejected" in said
    assert "Accept" not in said


def outline(page: Page) -> list[str]:
    html = page.get("outline").content.decode()
    entries = re.findall(r'<a class="op-\w+[^>]*data-to="(\w+)"[^>]*>(.*?)</a>', html)
    return [
        " ".join([key, *re.sub("<[^>]*>", " ", words).split()])
        for key, words in entries
    ]


def test_the_outline_names_a_bundle_of_many_once_in_a_group(
    page: Page, editor: User
) -> None:
    edits = [Snip(targets=(f"m{index}",)) for index in (4, 12, 1, 3, 2)]
    record_bundle(caller(editor), page.session.pk, edits, title="Prune")
    assert outline(page) == ["o3 Prune 4 operations", "o2 Snip #12"]
    page.post("operations/o5/off")
    assert [entry.split()[0] for entry in outline(page)] == ["o3", "o4", "o1", "o2"]


def test_what_many_of_a_bundle_hold_is_listed_below_their_entry(
    page: Page, editor: User
) -> None:
    page.edit("snip", targets="m2")
    edits = [Snip(targets=(key,)) for key in ("m1", "o1", "m3", "m4")]
    record_bundle(caller(editor), page.session.pk, edits, title="Prune")
    assert [entry.split()[0] for entry in outline(page)] == ["o2", "o1"]
    html = page.get("outline").content.decode()
    assert "</a><ol>" in html[html.index('data-to="o2"') : html.index('data-to="o1"')]


def test_many_of_a_bundle_are_listed_below_the_fold_around_them(
    page: Page, editor: User
) -> None:
    edits = [Snip(targets=(f"m{index}",)) for index in (1, 2, 3, 4)]
    record_bundle(caller(editor), page.session.pk, edits, title="Prune")
    page.edit("digest", targets="o1 o2 o3 o4", summary="All of it")
    assert [entry.split()[0] for entry in outline(page)] == ["o5", "o1"]
