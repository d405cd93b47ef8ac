"""The page of a prune run: its figures, its messages, and applying it."""

from unittest.mock import patch

import pytest
from django.test import Client

from contextstudio.accounts.models import User
from tests.operations.support.rest import Tools, effective, get, post, put


def browser_of(user: User) -> Client:
    browser = Client()
    browser.force_login(user)
    return browser


@pytest.fixture
def path(tools: Tools) -> str:
    return f"/sessions/{tools.session_id}/prune"


def test_the_plan_is_shown_by_class_reason_and_tokens(
    tools: Tools, path: str, editor: User
) -> None:
    browser = browser_of(editor)
    page = browser.get(path).content.decode()
    assert "src/parser.py was edited in <a" in page
    assert "Outdated views" in page and "Long answers" in page
    assert "the session&#x27;s model is not known" in page
    assert "One of the last 10" not in page
    everything = browser.get(path, {"show": "all"}).content.decode()
    assert "One of the last 10" in everything
    narrow = browser.get(path, {"target_tokens": "100000"}).content.decode()
    assert "Nothing to prune under these rules." in narrow


def test_all_messages_or_only_what_changes_keeps_the_rules_and_says_it_once(
    tools: Tools, path: str, editor: User
) -> None:
    browser = browser_of(editor)
    page = browser.get(path, {"keep_last_n": "5", "show": "all"}).content.decode()
    assert 'href="?keep_last_n=5&amp;show=changed#messages-title"' in page
    page = browser.get(path, {"keep_last_n": "5", "show": "changed"}).content.decode()
    assert 'href="?keep_last_n=5&amp;show=all#messages-title"' in page


def test_the_plan_says_what_the_ledger_says_once_it_is_applied(
    tools: Tools, path: str, editor: User
) -> None:
    browser = browser_of(editor)
    page = browser.get(path).content.decode()
    cost = page.partition('<p class="cost">')[2].partition("</p>")[0]
    browser.post(path, {"head": "0"})
    total = get(tools.client, f"/api/sessions/{tools.session_id}/ledger")["total"]
    assert f"saves {total['tokens']['saved']:,} per turn" in cost.lower()
    assert "Estimated for" in page


def test_of_a_long_thread_the_page_does_not_wait_for_what_it_costs(
    path: str, editor: User
) -> None:
    with patch("archive.pruning.views.MAX_UNASKED", 1):
        page = browser_of(editor).get(path).content.decode()
    assert "Outdated views" in page
    assert 'class="cost"' not in page


def test_a_run_is_applied_as_it_was_shown(
    tools: Tools, path: str, editor: User
) -> None:
    browser = browser_of(editor)
    applied = browser.post(path, {"head": "0", "protect_tools": "Bash, Grep"})
    assert (applied.status_code, applied["Location"]) == (
        302,
        f"/sessions/{tools.session_id}/",
    )
    notice = browser.get(applied["Location"]).content.decode().split('id="toasts"')[1]
    assert 'data-action="undo">Undo</button>' in notice.split("</section>")[0]
    kept = {one["key"] for one in effective(tools.client, tools.session_id)}
    assert kept >= {"m4", "m8"}
    assert kept.isdisjoint({"m1", "m2", "m6", "m9"})
    late = {"head": "0", "keep_last_n": "7", "protect_tools": "Bash, Grep"}
    stale = browser.post(path, late, follow=True).content.decode()
    assert "The session changed meanwhile." in stale
    assert 'name="keep_last_n" value="7"' in stale
    assert 'name="protect_tools" value="Bash, Grep"' in stale
    nothing = browser.post(path, {"keep_last_n": "99"}, follow=True).content.decode()
    assert "There was nothing to prune." in nothing
    assert 'name="keep_last_n" value="99"' in nothing


def test_rules_that_name_many_files_are_shown_and_applied(
    tools: Tools, path: str, editor: User
) -> None:
    names = [f"src/generated/from/the/schema/number_{n}.py" for n in range(100)]
    rules = {"rules": {"protect_paths": names}}
    put(tools.client, f"/api/sessions/{tools.session_id}/rules", rules)
    browser = browser_of(editor)
    page = browser.get(path)
    assert page.status_code == 200
    assert "Outdated views" in page.content.decode()
    assert browser.post(path, {"head": "0"}).status_code == 302


def test_fields_that_say_nothing_are_told(path: str, editor: User) -> None:
    answer = browser_of(editor).get(path, {"keep_last_n": "many"})
    assert answer.status_code == 422
    assert "Enter a whole number" in answer.content.decode()


def test_the_page_says_what_was_needed_after_all(
    tools: Tools, path: str, viewer: User
) -> None:
    found = post(tools.client, f"/api/sessions/{tools.session_id}/prune")
    refs = {item["key"]: item.get("ref_id") for item in found["items"]}
    tools("recall", ref_id=refs["m4"])
    put(
        tools.client,
        f"/api/sessions/{tools.session_id}/rules",
        {"rules": {"automatic": True}},
    )
    page = browser_of(viewer).get(path).content.decode()
    assert "Needed after all" in page
    assert "prunes automatically when that is due" in page
    assert "Apply" not in page
