"""The list of sessions."""

import re
from collections.abc import Callable

import pytest
from django.conf import LazySettings
from django.test import Client

from contextstudio.accounts.domain.paging import encode_cursor
from contextstudio.accounts.models import Membership, Project, User
from operations.sessions.views import PAGE, SHOWN_MATCHES
from tests.operations.conftest import Page
from tests.people import caller
from threads.domain.message import Message, Role
from threads.domain.part import Text
from threads.models import Session
from threads.sessions.services import NewSession, create_session


def content(page: Page, **fields: str) -> str:
    return page.client.get("/sessions/", fields).content.decode()


def test_the_first_address_leads_to_the_only_session_or_to_the_list(page: Page) -> None:
    assert page.client.get("/")["Location"] == page.url
    Session.objects.create(project=page.session.project, title="Another")
    assert page.client.get("/")["Location"] == "/sessions/"


def test_a_session_is_listed_with_its_numbers(page: Page) -> None:
    page.edit("snip", targets="m2 m3")
    shown = content(page)
    assert "Twenty" in shown
    assert "1 on" in shown
    assert "Question 0" in shown


def test_what_a_tool_puts_before_the_first_words_is_not_shown(
    page: Page, owner: User
) -> None:
    reminder = "<system-reminder>Today is Monday.</system-reminder>"
    parts = (Text(reminder), Text("Mend the lamp, it flickers."))
    for title, said in (("Lamp", parts), ("Tide", parts[:1])):
        new = NewSession(title=title, messages=[Message(role=Role.USER, parts=said)])
        create_session(caller(owner), page.session.project, new)
    shown = content(page)
    assert "it flickers" in shown and "system-reminder" not in shown


def test_numbers_are_counted_again_where_they_were_forgotten(page: Page) -> None:
    page.edit("snip", targets="m2 m3")
    page.edit("snip", targets="m6", propose="1")
    Session.objects.update(overview=None)
    assert "1 on" in content(page)
    overview = Session.objects.get().overview
    assert overview is not None
    assert overview["proposed"] == 1


def test_a_stranger_sees_an_empty_list(
    page: Page, open_page: Callable[..., Page], stranger: User
) -> None:
    shown = content(open_page(stranger))
    assert "Twenty" not in shown
    assert "No sessions yet" in shown


def test_who_is_in_no_project_is_told_so(
    open_page: Callable[..., Page], stranger: User
) -> None:
    Membership.objects.filter(user=stranger).delete()
    shown = content(open_page(stranger))
    assert "You aren't in a project yet" in shown
    assert "No sessions yet" not in shown


def test_a_viewer_gets_no_way_in_for_files(
    open_page: Callable[..., Page], viewer: User
) -> None:
    assert 'id="dropzone"' not in content(open_page(viewer))


def test_a_few_projects_are_named_and_many_counted(page: Page, editor: User) -> None:
    for number in range(3):
        assert "1</b> session in Demonstration" in content(page)
        more = Project.objects.create(
            slug=f"more-{number}", name=f"More \u202e{number}"
        )
        Membership.objects.create(project=more, user=editor, role="viewer")
    shown = content(page)
    assert "session in 4 projects" in shown


def test_titles_are_searched(page: Page) -> None:
    assert "Twenty" in content(page, q="twen")
    assert "Twenty" not in content(page, q="thirty")


def test_who_is_not_signed_in_is_asked_to(client: Client, db: None) -> None:
    assert client.get("/sessions/")["Location"].startswith("/sign-in")


def test_the_source_of_a_session_is_the_agent_and_filters_the_list(page: Page) -> None:
    project = page.session.project
    for title, format_ in (
        ("Lamp", "claude_code"),
        ("Tide", "codex_exec"),
        ("Note", "role_headings"),
    ):
        Session.objects.create(project=project, title=title, format=format_)
    shown = content(page)
    for name in ("Claude Code", "Codex", "File", "API"):
        assert f'<td class="t-source">{name}</td>' in shown
        assert f"<option>{name}</option>" in shown

    codex = content(page, source="Codex")
    assert "Tide" in codex and "Lamp" not in codex
    assert "<option selected>Codex</option>" in codex and "From Codex, of" in codex
    assert "No session from Goose" in content(page, source="Goose")
    neither = content(page, source="Codex", q="Lamp")
    assert 'No title from Codex matches "Lamp"' in neither
    files = content(page, source="File")
    assert "Note" in files and "Tide" not in files


def test_what_awaits_review_is_counted_and_listed_alone(page: Page) -> None:
    Session.objects.create(project=page.session.project, title="Lamp", format="codex")
    assert "awaiting review" not in content(page)
    page.edit("snip", targets="m6", propose="1")
    assert "1 awaiting review" in content(page)
    waiting = content(page, awaiting="on")
    assert "Twenty" in waiting and "Lamp" not in waiting
    assert "Those awaiting review, of <b>2</b> sessions" in waiting
    assert '<input type="hidden" name="awaiting" value="on">' in waiting
    neither = content(page, awaiting="on", source="Codex")
    assert "No session from Codex awaits review" in neither
    untitled = content(page, awaiting="on", source="Codex", q="Lamp")
    assert 'No title of a session awaiting review from Codex matches "Lamp"' in untitled
    Session.objects.update(overview=None)
    assert "1 awaiting review" in content(page)
    page.post("operations/o1/accept")
    assert "awaiting review" not in content(page)
    assert "Nothing awaits review" in content(page, awaiting="on")


def test_the_list_and_what_is_found_keep_to_the_project_that_is_chosen(
    page: Page, editor: User
) -> None:
    assert 'name="project"' not in content(page).split('id="import"')[0]
    second = Project.objects.create(slug="second", name="Second")
    Membership.objects.create(project=second, user=editor, role="editor")
    said = (Text("Low tide."),)
    new = NewSession(title="Tide", messages=[Message(role=Role.USER, parts=said)])
    create_session(caller(editor), second, new)
    both = content(page)
    assert "Tide" in both and "Twenty" in both
    assert "<bdi>Second</bdi> · <bdi>Low tide.</bdi>" in both
    shown = content(page, project="second")
    assert "Tide" in shown and "Twenty" not in shown
    assert "<bdi>Second</bdi>" not in shown
    assert "<b>1</b> session in Second" in shown
    # For the list, and for what is imported from there: files, and pasted text.
    assert shown.count('<option value="second" selected>Second</option>') == 3
    assert "Question 0" not in content(page, project="second", q="Question")
    stranger = page.client.get("/sessions/", {"project": "unknown"})
    assert stranger.status_code == 404


def test_messages_are_found_in_the_sessions_that_are_listed(
    page: Page, owner: User
) -> None:
    for title, format_ in (("Lamp", "claude_code"), ("Tide", "codex")):
        said = tuple(
            Message(role=Role.USER, parts=(Text(f"{title} question"),))
            for _ in range(SHOWN_MATCHES + 1)
        )
        new = NewSession(title=title, messages=said, format=format_)
        create_session(caller(owner), page.session.project, new)
    page.edit("snip", targets="m6", propose="1")
    everywhere = content(page, q="question")
    assert "Tide <mark>" in everywhere and "Lamp <mark>" not in everywhere
    codex = content(page, q="question", source="Codex")
    assert 'matching "question" from Codex</h2>' in codex
    lamps = content(page, q="question", source="Claude Code")
    assert "Lamp <mark>" in lamps and "Tide <mark>" not in lamps
    [more] = re.findall(r'hx-get="([^"]+)"', lamps)
    older = page.client.get(more.replace("&amp;", "&"), headers={"HX-Request": "true"})
    assert "Lamp <mark>" in older.content.decode()
    assert "Tide <mark>" not in older.content.decode()
    waiting = content(page, q="question", awaiting="on")
    assert "<mark>Question</mark> 0" in waiting and "Tide <mark>" not in waiting
    assert "in sessions awaiting review</h2>" in waiting


def test_the_pages_of_a_source_keep_to_it(page: Page) -> None:
    project = page.session.project
    for number in range(60):
        Session.objects.create(project=project, title=f"Tide {number}", format="codex")
    first = content(page, source="Codex")
    assert "source=Codex&amp;cursor=" in first


def test_the_list_is_sorted_by_tokens_page_by_page(page: Page) -> None:
    project = page.session.project
    for number in range(PAGE + 10):
        tokens = 1_000_000 + number * number % 37
        Session.objects.create(
            project=project, title=f"Tide {number}", original_tokens=tokens
        )
    first = content(page, sort="tokens")
    second = page.client.get(
        "/sessions/"
        + re.findall(r'href="/sessions/(\?[^"]*cursor=[^"]+)"', first)[0].replace(
            "&amp;", "&"
        )
    ).content.decode()
    titles = re.findall(r">(Tide \d+|Twenty)</a>", first + second)
    figures = dict(Session.objects.values_list("title", "original_tokens"))
    assert len(titles) == len(set(titles)) == PAGE + 11
    in_order = [figures[title] for title in titles]
    assert in_order == sorted(in_order, reverse=True)
    assert 'class="t-tokens" aria-sort="descending"' in first
    assert 'class="t-end t-when"><a class="sort"' in first
    newest = content(page)
    assert 'class="t-end t-when" aria-sort="descending"' in newest
    assert 'href="/sessions/?sort=tokens"' in newest


def test_a_cursor_of_another_order_is_refused(page: Page) -> None:
    key = str(page.session.pk)
    for position in (["x", key], [-1, key], [2**70, key], [True, key], [1, "no id"]):
        asked = {"sort": "tokens", "cursor": encode_cursor(position)}
        assert page.client.get("/sessions/", asked).status_code == 422


@pytest.mark.meaning
def test_by_meaning_is_offered_only_where_it_is_on(
    page: Page, settings: LazySettings
) -> None:
    assert "By meaning" not in content(page, q="question", meaning="on")
    settings.MEANING_SEARCH = True
    assert "By meaning" in content(page)
    shown = content(page, q="What was the first question?", meaning="on")
    assert "Messages about" in shown
    assert "checked" in shown


@pytest.mark.meaning
def test_what_is_not_ranked_yet_is_told(
    page: Page, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MEANING_SEARCH = True
    monkeypatch.setattr("threads.search.meaning.question.LIVE", 3)
    shown = content(page, q="What was the first question?", meaning="on")
    assert "can't be searched by meaning yet" in shown


def test_matches_are_shown_without_the_codes_of_a_terminal(
    page: Page, owner: User
) -> None:
    said = (Text("\x1b[31mred\x1b[0m lighthouse \x1b[1mbold\x1b[0m"),)
    new = NewSession(title="Codes", messages=[Message(role=Role.USER, parts=said)])
    create_session(caller(owner), page.session.project, new)
    shown = content(page, q="lighthouse")
    found = shown[shown.index("Messages matching") :]
    assert "red <mark>lighthouse</mark> bold" in found
