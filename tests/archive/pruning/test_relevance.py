"""Pruning by what is relevant to the session's objective, and how relevance is told."""

import re
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client

from contextstudio.accounts.models import User
from tests.operations.support.rest import Tools, get, make_session, post, put
from threads.search.bodies import BODIES

pytestmark = pytest.mark.meaning

ABOUT_LOCKS = (
    "SQLite raises OperationalError: another process holds the write lock. " * 60
)
ABOUT_COLOURS = (
    "The dark theme needs more contrast behind its headings and links. " * 60
)
OBJECTIVE = "Find out why the database is locked when two workers write"
RULES = {"keep_last_n": 1, "condense_after_n": 1, "keep_relevant_above": 0.3}


@pytest.fixture(autouse=True)
def switched_on(settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.MEANING_SEARCH = True
    monkeypatch.setattr(BODIES.database, "all_ended_before", lambda _: True)


@pytest.fixture
def tools(agent: Client) -> Tools:
    said = [ABOUT_COLOURS, ABOUT_LOCKS, "Done", "Good", "Thanks"]
    messages = [{"role": "assistant", "content": text} for text in said]
    made = Tools(agent, make_session(agent, messages))
    path = f"/api/sessions/{made.session_id}"
    body = {"objective": OBJECTIVE}
    assert agent.patch(path, body, "application/json").status_code == 200
    return made


def classes(tools: Tools, **rules: Any) -> list[str]:
    body = {"dry_run": True, "rules": RULES | rules}
    found = post(tools.client, f"/api/sessions/{tools.session_id}/prune", body)
    return [item["class"] for item in found["items"]]


def test_what_is_about_the_objective_is_kept(tools: Tools) -> None:
    assert classes(tools)[:2] == ["condense", "keep"]
    assert classes(tools, keep_relevant_above=0.99)[:2] == ["condense", "condense"]
    assert classes(tools, keep_relevant_above=None)[:2] == ["condense", "condense"]


def test_of_what_is_out_of_the_way_the_least_relevant_goes_first(tools: Tools) -> None:
    path = f"/api/sessions/{tools.session_id}/prune"
    rules = RULES | {"keep_relevant_above": 1}
    whole = post(tools.client, path, {"dry_run": True, "rules": rules})
    target = whole["tokens_before"] - 100
    body = {"dry_run": True, "rules": rules, "target_tokens": target}
    found = post(tools.client, path, body)
    assert [one["class"] for one in found["items"]][:2] == ["condense", "keep"]


def test_the_rule_is_refused_where_meaning_is_off_and_passed_over_where_it_was_set(
    tools: Tools, settings: LazySettings
) -> None:
    path = f"/api/sessions/{tools.session_id}/rules"
    put(tools.client, path, {"rules": RULES})
    settings.MEANING_SEARCH = False
    refused = put(tools.client, path, {"rules": RULES}, expect=409)
    assert refused["setting"] == "CONTEXTSTUDIO_MEANING_SEARCH"
    found = post(
        tools.client, f"/api/sessions/{tools.session_id}/prune", {"dry_run": True}
    )
    assert [one["class"] for one in found["items"]][:2] == ["condense", "condense"]


def test_the_page_of_a_run_has_the_rule_where_it_is_on(
    tools: Tools, owner: User, settings: LazySettings
) -> None:
    browser = Client()
    browser.force_login(owner)
    path = f"/sessions/{tools.session_id}/prune"
    given = {**RULES, "show": "all"}
    assert "Relevant to the objective" in browser.get(path, given).content.decode()
    settings.MEANING_SEARCH = False
    shown = browser.get(path, given).content.decode()
    assert "Keep what is relevant above" not in shown
    assert "Relevant to the objective" not in shown


def test_the_table_of_a_run_has_relevance_as_a_column(
    tools: Tools, owner: User, settings: LazySettings
) -> None:
    browser = Client()
    browser.force_login(owner)
    told = get(tools.client, f"/api/sessions/{tools.session_id}/relevance")["items"]
    path, given = f"/sessions/{tools.session_id}/prune", {"show": "all"}
    shown = browser.get(path, given).content.decode()
    column = re.findall(r'<td class="t-end not-narrow">([^<]*)</td>', shown)
    assert column == [f"{one['relevance']:.2f}" for one in told]
    assert ">Relevance</th>" in shown
    settings.MEANING_SEARCH = False
    assert ">Relevance</th>" not in browser.get(path, given).content.decode()


def test_relevance_is_told_for_each_message(tools: Tools) -> None:
    path = f"/api/sessions/{tools.session_id}/relevance"
    body = get(tools.client, path)
    assert body["question"] == OBJECTIVE
    assert [one["key"] for one in body["items"]] == ["m0", "m1", "m2", "m3", "m4"]
    colours, locks = (one["relevance"] for one in body["items"][:2])
    assert locks > 0.3 > colours
    assert [one["key"] for one in get(tools.client, path, least=0.3)["items"]] == ["m1"]
    asked = get(tools.client, path, question="contrast of the dark theme", least=0.3)
    assert [one["key"] for one in asked["items"]] == ["m0"]


def test_relevance_comes_in_pages(tools: Tools) -> None:
    path = f"/api/sessions/{tools.session_id}/relevance"
    first = get(tools.client, path, limit=3)
    assert first["next_start"] == 3
    rest = get(tools.client, path, limit=3, start=3)
    assert [one["index"] for one in first["items"] + rest["items"]] == [0, 1, 2, 3, 4]
    assert rest["next_start"] is None


def test_without_an_objective_a_question_is_needed(agent: Client, tools: Tools) -> None:
    other = make_session(agent, [{"role": "user", "content": ABOUT_LOCKS}])
    refused = get(agent, f"/api/sessions/{other}/relevance", expect=409)
    assert refused["code"] == "no_objective"
    long = {"question": "x" * 1001}
    get(agent, f"/api/sessions/{other}/relevance", expect=422, **long)
    body = {"dry_run": True, "rules": RULES}
    found = post(agent, f"/api/sessions/{other}/prune", body)
    assert [one["class"] for one in found["items"]] == ["keep"]
