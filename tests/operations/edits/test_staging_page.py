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
    answer = open_page(owner).post("operations/o2/accept")
    assert "Digest #10–#11 accepted" in answer.content.decode()


def test_what_is_discarded_is_taken_back(page: Page) -> None:
    page.edit("snip", targets="m5 m6", stage="1")
    answer = page.post("staged/discard")
    assert "reverted" in answer.content.decode()
    assert "Restore" in panel(page)
    assert "Nothing to change." in page.post("staged/commit").content.decode()
    assert read(page.post("undo")).facts["data-head"] == "3"
    assert "Commit 1" in panel(page)


def test_others_see_it_wait_as_staged(
    page: Page, open_page: Callable[..., Page], owner: User, reviewer: User
) -> None:
    page.edit("snip", targets="m5 m6", stage="1")
    other = panel(open_page(owner))
    assert "Awaiting review" in other
    assert ">staged</span>" in other
    assert "Commit" not in other
    own = open_page(reviewer, head=1)
    own.edit("snip", targets="m8 m9", stage="1")
    assert "Commit 1" in panel(own)


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
