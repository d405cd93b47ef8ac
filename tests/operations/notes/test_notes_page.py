"""The page of objective, STATE and scratchpad."""

from collections.abc import Callable

import pytest
from django.test import Client

from contextstudio.accounts.models import User
from operations.domain.log.operation import Redact
from operations.domain.tree.span import Span, fingerprint
from operations.edits import services
from operations.edits.purging import remove_group
from operations.log.cache import forget_everything
from operations.notes import scratchpads, states
from tests.operations.conftest import Page
from tests.operations.editor.views.hostile import EVIL, SENT, watched
from tests.people import caller
from threads.domain.message import Message, Role
from threads.domain.part import Text
from threads.models import Session
from threads.sessions.services import append_messages

STATE = "### STATE\nGoal: {goal}\nContext: core/"


@pytest.fixture
def stated(session: Session, editor: User) -> Session:
    """Two responses more, each with its STATE."""
    said = [
        Message(
            role=Role.ASSISTANT, parts=(Text(f"Done.\n\n{STATE.format(goal=goal)}"),)
        )
        for goal in ("ship it", "destroy it")
    ]
    return append_messages(caller(editor), session.pk, said)


def text(page: Page, **fields: str) -> str:
    answer = page.client.get(page.url + "notes", fields)
    assert answer.status_code == 200
    return str(answer.content.decode())


def test_the_goal_of_state_is_offered_as_the_objective(
    page: Page, stated: Session
) -> None:
    assert 'name="objective" value="destroy it"' in text(page)
    assert page.post("notes", act="objective", objective="ship it").status_code == 302
    stated.refresh_from_db()
    assert stated.objective == "ship it"
    assert "STATE names a goal" not in text(page)


def test_state_has_its_versions_and_goes_with_its_message(
    page: Page, stated: Session
) -> None:
    page.session = stated
    shown = text(page)
    assert "Version 2, from" in shown
    assert "The last STATE in the request is the active one" in text(page, compare="1")
    page.post("notes", act="state", content="Goal: set by hand")
    shown = text(page)
    assert "Version 3, set by editor" in shown
    rebuilt = text(page, compare="1")
    assert "from <a" in rebuilt
    assert "m21" in rebuilt
    assert 'class="line' in rebuilt
    assert page.post("notes", act="state", content=" ").status_code == 422
    assert len(states.list_states(stated)) == 3


def test_the_scratchpad_is_written_in_versions_and_none_is_lost(
    page: Page, editor: User
) -> None:
    assert "Empty." in text(page)
    page.post("notes", act="scratchpad", content="# Plan\r\n- one", version=0)
    assert scratchpads.load_scratchpad(page.session).content == "# Plan\n- one"
    scratchpads.write_scratchpad(caller(editor), page.session.pk, "Theirs.")
    late = page.post("notes", act="scratchpad", content="Mine.", version=1)
    assert late.status_code == 409
    assert "Save again to replace that version with yours." in late.content.decode()
    assert 'name="version" value="2"' in late.content.decode()
    old = text(page, version="1")
    assert "Plan</h" in old
    assert "Changes since this version" in old
    page.post("notes", act="restore", version=1)
    assert scratchpads.load_scratchpad(page.session).content == "# Plan\n- one"
    assert [one.number for one in scratchpads.list_scratchpads(page.session)] == [
        3,
        2,
        1,
    ]
    assert page.client.get(page.url + "notes", {"version": "9"}).status_code == 404
    assert page.post("notes", act="nothing").status_code == 422


def test_a_restored_scratchpad_has_the_words_that_a_redaction_masks(
    page: Page, editor: User
) -> None:
    for words in ("Ask Question 0 again.", "Other words"):
        scratchpads.write_scratchpad(caller(editor), page.session.pk, words)
    covered = fingerprint("Question 0")
    redact = Redact(spans=(Span(key="m0", part=0, start=0, end=10, sha256=covered),))
    services.record_edit(caller(editor), page.session.pk, redact)
    page.session.refresh_from_db()
    page.post("notes", act="restore", version=1)
    masked = scratchpads.load_scratchpad(page.session)
    assert (masked.number, masked.content) == (3, "Ask [redacted] again.")
    page.post("operations/o1/revert")
    page.session.refresh_from_db()
    now = scratchpads.load_scratchpad(page.session)
    assert now.content == "Ask Question 0 again."
    page.post("notes", act="restore", version=0)
    assert scratchpads.load_scratchpad(page.session).content == ""
    assert page.post("notes", act="restore", version=9).status_code == 404


def test_script_is_given_what_is_kept_alone(page: Page) -> None:
    """A page that follows the session must not take the notices of another."""
    page.post("notes", act="objective", objective="ship it")
    fragment = {"HX-Request": "true"}
    part = page.client.get(page.url + "notes", headers=fragment).content.decode()
    assert "ship it" in part
    assert "Objective saved." not in part
    assert "Objective saved." in text(page)


def test_who_may_not_edit_reads(
    page: Page, open_page: Callable[..., Page], viewer: User, stranger: User
) -> None:
    page.post("notes", act="scratchpad", content="Plan", version=0)
    read = open_page(viewer)
    assert '<form method="post">' not in text(read)
    for act in ("objective", "state", "scratchpad", "restore"):
        fields = {"objective": "x", "content": "x", "version": 1}
        assert read.post("notes", act=act, **fields).status_code == 403
    client = Client()
    client.force_login(stranger)
    for path in ("notes", "policy", "policy/effect", "provider-checks"):
        assert client.get(page.url + path).status_code == 404


def test_what_is_redacted_is_masked_in_notes(
    page: Page, editor: User, stated: Session
) -> None:
    page.session = stated
    page.post("notes", act="scratchpad", content="Question 0 is open.", version=0)
    page.post("notes", act="state", content="Goal: Question 0")
    assert text(page).count("Question 0") > 2
    span = Span(key="m0", part=0, start=0, end=10, sha256=fingerprint("Question 0"))
    services.record_edit(caller(editor), stated.pk, Redact(spans=(span,)))
    assert "Question 0" not in text(page, compare="1")


def test_what_is_masked_in_notes_stays_so_when_the_message_is_purged(
    page: Page, editor: User, owner: User
) -> None:
    """Of a text that is gone nothing tells any more what to mask."""
    page.post("notes", act="scratchpad", content="Question 0 is open.", version=0)
    page.post("notes", act="state", content="Goal: Question 0")
    span = Span(key="m0", part=0, start=0, end=10, sha256=fingerprint("Question 0"))
    services.record_edit(caller(editor), page.session.pk, Redact(spans=(span,)))
    remove_group(caller(owner), page.session.pk, 1)
    forget_everything()
    page.session.refresh_from_db()
    shown = text(page, compare="1")
    assert "Question 0" not in shown
    assert "[redacted] is open." in shown


def test_state_that_no_page_can_hold_is_shown_all_the_same(
    page: Page, editor: User
) -> None:
    said = Message(role=Role.ASSISTANT, parts=(Text(f"{STATE}\ud800\x00 {EVIL}"),))
    append_messages(caller(editor), page.session.pk, [said])
    shown = text(page, compare="1")
    assert "<script>alert" not in shown
    assert "Goal: {goal}" in shown


def test_hostile_notes_stay_words(page: Page) -> None:
    page.post("notes", act="objective", objective=SENT[:500])
    page.post("notes", act="state", content=f"Goal: {SENT}")
    page.post("notes", act="scratchpad", content=SENT, version=0)
    page.post("notes", act="scratchpad", content=f"{SENT} more", version=1)
    for fields in ({}, {"version": "1"}):
        watch = watched(page.client.get(page.url + "notes", fields))
        assert watch.handlers == []
        assert [one for one in watch.scripts if "src" not in one] == []
        assert "n-m0" not in watch.ids
        for _, given in watch.inside:
            assert not [
                name for name in given if name.startswith(("hx-", "data-action"))
            ]
