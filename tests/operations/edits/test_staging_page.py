"""Staging on the thread page: what waits in the drawer until all of it is committed."""

from collections.abc import Callable

from contextstudio.accounts.models import User
from tests.operations.conftest import Page, read


def panel(page: Page) -> str:
    return page.get("panel").content.decode()


def test_what_is_staged_stands_in_the_drawer_until_it_is_committed(
    page: Page, open_page: Callable[..., Page], owner: User
) -> None:
    answer = page.edit("snip", targets="m5 m6", stage="1")
    assert "Snip #5–#6 staged" in answer.content.decode()
    page.edit("digest", targets="m10 m11", summary="They spoke.", dialog="1", stage="1")
    shown = panel(page)
    assert "Commit 2" in shown
    assert shown.count("Unstage") == 2
    assert "Waiting for a decision" not in shown
    assert "2 staged" in page.get("").content.decode()
    lines = page.get("ledger").content.decode()
    assert "Together: saves" in lines.split('data-late="staged"')[1]
    page.post("operations/o1/revert")
    assert "Commit 1" in panel(page)
    answer = page.post("staged/commit")
    assert "Digest #10–#11 committed" in answer.content.decode()
    assert "n-o2" in page.rows()
    assert "Commit" not in panel(page)
    assert 'data-late="staged"' not in page.get("ledger").content.decode()
    assert "Undid committing digest #10–#11" in page.post("undo").content.decode()
    refused = open_page(owner).post("operations/o2/accept")
    assert "Only editor can commit or amend" in refused.content.decode()


def test_what_is_discarded_is_taken_back(page: Page) -> None:
    page.edit("snip", targets="m5 m6", stage="1")
    answer = page.post("staged/discard")
    assert "reverted" in answer.content.decode()
    assert "Restore" in panel(page)
    assert "Nothing to change." in page.post("staged/commit").content.decode()
    assert read(page.post("undo")).facts["data-head"] == "3"
    assert "Commit 1" in panel(page)


def test_others_see_it_apart_as_its_authors_and_decide_on_nothing(
    page: Page, open_page: Callable[..., Page], owner: User, reviewer: User
) -> None:
    page.edit("snip", targets="m5 m6", stage="1")
    other = open_page(owner)
    shown = panel(other)
    assert "Staged by others" in shown
    assert "editor" in shown.split("Staged by others")[1].split("</section>")[0]
    assert "Awaiting review" not in shown
    assert 'data-waiting="0"' in other.get("").content.decode()
    for word in ("Commit", "Unstage", "Accept", "Reject"):
        assert word not in shown
        assert f"{word}<span" not in other.get("").content.decode()
    assert "Revert" in shown
    own = open_page(reviewer, head=1)
    assert "Revert" not in panel(own)
    own.edit("snip", targets="m8 m9", stage="1")
    assert "Commit 1" in panel(own)
    thread = own.get("").content.decode()
    assert thread.count('class="flat flat--staged') == 2
    assert thread.count("Unstage") == panel(own).count("Unstage") + 1


def test_a_message_that_is_staged_to_move_is_staged_to_go_elsewhere_instead(
    page: Page,
) -> None:
    page.edit("resequence", moved="m8", behind="m5", stage="1")
    answer = page.edit("resequence", moved="m8", behind="m4", stage="1")
    assert "Move #8 after #4 staged." in answer.content.decode()
    shown = panel(page)
    assert "Commit 1" in shown
    assert 'data-moved="m8" data-behind="m4"' in shown
    assert "Undid move #8." in page.post("undo").content.decode()
    assert 'data-moved="m8" data-behind="m5"' in panel(page)
    back = page.edit("resequence", moved="m8", behind="m7", stage="1")
    assert "reverted" in back.content.decode()
    assert "Commit" not in panel(page)
    again = page.edit("resequence", moved="m8", behind="m7", stage="1")
    assert "already there" in again.content.decode()
    page.edit("resequence", moved="m8", behind="", stage="1")
    assert "to the top" in panel(page)
    page.edit("resequence", moved="m9", behind="m10", stage="1")
    assert "Commit 2" in panel(page)
    page.post("staged/commit")
    assert [page.keys[place] for place in (0, 1, 9, 10)] == ["m8", "m0", "m10", "m9"]


def test_a_proposed_move_says_where_it_leads_and_is_proposed_once(
    open_page: Callable[..., Page], reviewer: User, owner: User
) -> None:
    own = open_page(reviewer)
    own.edit("resequence", moved="m3", behind="m7")
    answer = own.edit("resequence", moved="m3", behind="m8")
    assert "Move #3 after #8 proposed." in answer.content.decode()
    assert 'data-moved="m3" data-behind="m8"' in panel(own)
    own.post("undo")
    assert 'data-moved="m3" data-behind="m7"' in panel(own)
    own.post("redo")
    other = open_page(owner)
    assert 'data-waiting="1"' in other.get("").content.decode()
    assert "data-moved" not in panel(other)
    assert "#3 after #8" in panel(other)
    assert '<span class="how-many">after #8</span>' in other.get("").content.decode()


def test_matches_of_words_are_staged_as_one(page: Page) -> None:
    fields = {"type": "redact", "start": "Question 10", "end": "", "replacement": ""}
    found = page.post("texts", **fields, step="find").content.decode()
    span = found.split('name="span" value="')[1].split('"')[0]
    listed = found.split('name="listed" value="')[1].split('"')[0]
    page.post("texts", **fields, span=span, listed=listed, stage="1")
    assert "Commit 1" in panel(page)


def test_a_dialog_that_records_nothing_offers_no_stage(page: Page) -> None:
    for kind, offers in (("digest", True), ("move", True), ("activate", False)):
        shown = page.get(f"dialogs/{kind}", targets="m5").content.decode()
        assert ('name="stage"' in shown) is offers
