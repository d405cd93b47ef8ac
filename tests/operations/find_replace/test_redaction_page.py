"""What is redacted stands on no page."""

import pytest

from contextstudio.accounts.models import User
from operations.domain.log.operation import Condition, Redact
from operations.domain.tree.span import Span, fingerprint
from operations.edits import services
from tests.operations.conftest import Page
from tests.people import caller

SECRET = "Question 5"


@pytest.fixture
def masked(page: Page, owner: User) -> Page:
    """The page of a session that was read before a text of it was redacted."""
    page.get()
    page.client.get(page.url, {"view": "original"})
    page.edit("digest", targets="m1 m2", summary="Sum")
    redact(page, owner, Condition())
    return page


def redact(page: Page, owner: User, condition: Condition) -> None:
    span = Span(key="m5", part=0, start=0, end=len(SECRET), sha256=fingerprint(SECRET))
    edit = Redact(spans=(span,), condition=condition)
    services.record_edit(caller(owner), page.session.pk, edit)


@pytest.mark.parametrize("view", ["annotated", "effective", "original"])
def test_no_view_shows_it(masked: Page, view: str) -> None:
    content = masked.client.get(masked.url, {"view": view}).content.decode()
    assert SECRET not in content
    assert "[redacted]" in content


def test_neither_do_raw_page_outline_dialogs_and_download(masked: Page) -> None:
    for path, fields in (
        ("messages/m5/raw", {}),
        ("outline", {}),
        ("dialogs/revise", {"targets": "m5"}),
        ("changes", {"since": 1, "messages": 20, "loaded": "0-20"}),
    ):
        assert SECRET not in masked.get(path, **fields).content.decode(), path
    for view in ("effective", "original"):
        answer = masked.get("export", format="openai", view=view)
        content = b"".join(answer.streaming_content)  # type: ignore[attr-defined]
        assert SECRET.encode() not in content


def test_a_condition_that_does_not_hold_unmasks_nothing(
    page: Page, owner: User
) -> None:
    page.get()
    redact(page, owner, Condition(tags=("never",)))
    assert SECRET not in page.get().content.decode()


def test_a_page_that_shows_it_is_told_to_mask_it(page: Page, owner: User) -> None:
    redact(page, owner, Condition())
    answer = page.get("changes", since=0, messages=20, loaded="0-20").content.decode()
    assert 'id="n-m5"' in answer
    assert "[redacted]" in answer
