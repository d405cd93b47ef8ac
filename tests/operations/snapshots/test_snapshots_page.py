"""Snapshots on the pages: the dialog, the log, and the context that is compared."""

from collections.abc import Callable

import pytest

from contextstudio.accounts.models import User
from tests.operations.conftest import Page


@pytest.fixture
def other(open_page: Callable[..., Page], reviewer: User) -> Page:
    """The page of one who may propose and review, but not edit."""
    return open_page(reviewer)


def text(page: Page, path: str, **fields: str) -> str:
    return page.get(path, **fields).content.decode()


def take(page: Page, name: str) -> str:
    answer = page.post("snapshots", name=name)
    assert answer.status_code == 200, answer.content
    return answer.content.decode()


def test_a_snapshot_is_taken_from_its_dialog_and_stands_in_the_log(page: Page) -> None:
    assert "Take a snapshot" in text(page, "dialogs/snapshot")
    page.edit("snip", targets="m2")
    assert "Took snapshot &quot;Before &lt;b&gt;&quot;." in take(page, "Before <b>")
    page.edit("snip", targets="m4")
    log = text(page, "log")
    assert log.index("#4</") < log.index("Before &lt;b&gt;</b>") < log.index("#2</")
    assert "20 messages" in log


def test_one_of_before_the_first_operation_stands_at_the_end_of_the_log(
    page: Page,
) -> None:
    take(page, "As imported")
    assert "The log is empty" not in text(page, "log")
    page.edit("snip", targets="m4")
    log = text(page, "log")
    assert log.index("#4</") < log.index("As imported</b>")


def test_a_name_that_is_taken_is_refused_at_its_field(page: Page) -> None:
    take(page, "then")
    for name, words in (
        ("then", "There is a snapshot &quot;then&quot; already."),
        ("", "required"),
    ):
        answer = page.post("snapshots", name=name)
        assert answer.status_code in (409, 422)
        assert words in answer.content.decode()
        assert 'aria-invalid="true"' in answer.content.decode()


def test_going_back_says_what_it_came_to_and_so_do_log_and_undo(page: Page) -> None:
    take(page, "then")
    page.edit("snip", targets="m2 m3 m4")
    page.edit("digest", targets="m6 m7", summary="Sum")
    answer = page.post("snapshots/restore", name="then").content.decode()
    assert "Restore of &quot;then&quot;, " in answer
    assert " tokens together." in answer
    assert "Restore of &quot;then&quot;" in text(page, "log")
    assert "Undo restore of &quot;then&quot;" in text(page, "panel")
    assert "Undid restore of &quot;then&quot;" in page.post("undo").content.decode()
    assert "Nothing to change." not in page.post("redo").content.decode()
    again = page.post("snapshots/restore", name="then").content.decode()
    assert "Nothing to change." in again


def test_a_snapshot_is_deleted(page: Page) -> None:
    take(page, "then")
    answer = page.post("snapshots/delete", name="then").content.decode()
    assert "Deleted snapshot &quot;then&quot;." in answer
    assert "then</b>" not in text(page, "log")
    assert page.post("snapshots/restore", name="then").status_code == 404


def test_the_context_is_compared_with_what_it_was(page: Page) -> None:
    take(page, "then & there")
    page.edit("digest", targets="m0 m1 m2", summary="Three in one.")
    assert "against=snapshot:then%20%26%20there#messages" in text(page, "log")
    found = text(page, "context", against="snapshot:then & there")
    assert "than at &quot;then &amp; there&quot;" in found
    assert "Three in one." in found
    assert "Question 0" in found
    assert page.get("context", against="snapshot:none").status_code == 404
    whole = page.client.get(page.url + "context").content.decode()
    assert '<option value="snapshot:then &amp; there">' in whole


def test_who_may_not_edit_is_offered_what_they_may(page: Page, other: Page) -> None:
    take(page, "theirs")
    take(other, "mine")
    log = text(other, "log")
    assert "Take a snapshot…" in log
    assert 'aria-label="Delete snapshot mine"' in log
    assert 'aria-label="Delete snapshot theirs"' not in log
    assert "restore-snapshot" not in log
    assert other.post("snapshots/restore", name="theirs").status_code == 403
    assert other.post("snapshots/delete", name="theirs").status_code == 403
