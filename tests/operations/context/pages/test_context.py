"""The page of what the model sees."""

import json
import re

import pytest
from django.test import Client

from contextstudio.accounts.models import User
from operations.context import policies
from operations.context.pages import sent_messages
from operations.context.pages.request_page import PagePiece
from operations.domain.context.selection import Preference
from operations.domain.log.operation import Redact, Replace
from operations.domain.tree.span import Span, fingerprint
from operations.edits import services
from tests.operations.conftest import Page
from tests.operations.support.compared import Links, Rows
from tests.people import caller
from threads.models import Session


def content(page: Page, path: str = "context", **fields: str) -> str:
    answer = page.client.get(page.url + path, fields)
    assert answer.status_code == 200
    return str(answer.content.decode())


def test_every_message_leads_back_to_the_thread(page: Page) -> None:
    shown = content(page, provider="openai")
    assert "Question 15" in shown
    assert f"{page.url}?at=m15#n-m15" in shown
    assert "<b>R1</b>" in shown  # calls that nobody answered
    assert f"{page.url}?at=m3#n-m3" in shown


@pytest.mark.parametrize("provider", ["anthropic", "gemini", "openai-responses"])
def test_words_are_shown_in_every_providers_form(page: Page, provider: str) -> None:
    shown = content(page, provider=provider)
    assert "Words 1" in shown
    assert "pytest tests/part_1.py" in shown


def test_a_difference_shows_what_an_operation_changes(page: Page) -> None:
    page.edit("digest", targets="m1 m2 m3 m4", summary="Four in one.")
    page.edit("snip", targets="m8")
    original = content(page, against="original")
    assert '<a class="link" href="#messages">Differences</a>' in original
    assert '<span class="sent-side">Original</span>' in original
    assert '<span class="sent-side">Sent</span>' in original
    assert "Four in one." in original
    assert "Words 1" in original
    assert "identical messages" in original
    without = content(page, against="o1")
    assert "Four in one." in without
    assert "Four in one." not in content(page, against="o2")


def test_messages_that_two_requests_have_in_common_are_shown_where_they_are_opened(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sent_messages, "AT_ONCE", 4)
    page.edit("snip", targets="m8")
    fields = {"provider": "openai", "against": "original"}
    first = Links(content(page, **fields)).of("Show in the whole request")[0]
    assert first["href"] == f"{page.url}context?provider=openai&model=&start=0#messages"
    assert first["hx-trigger"].startswith("toggle")
    opened = fetched(page, first["hx-get"])
    assert re.findall(r'aria-label="(message \d+), ', opened) == [
        *("message 0", "message 1", "message 2", "message 3")
    ]
    assert "Words 1" in opened and "<html" not in opened
    more = Links(opened).of("4 more")[0]
    assert more["hx-trigger"] == "click"
    rest = fetched(page, more["hx-get"])
    assert re.findall(r'aria-label="(message \d+), ', rest)[-1] == "message 7"
    assert not Links(rest).of("more")
    beyond = content(page, provider="openai", start="9000", until="9001")
    assert "<article" not in beyond


def fetched(page: Page, path: str) -> str:
    return str(page.client.get(path).content.decode())


def test_what_an_operation_made_stands_beside_what_it_is_made_of(page: Page) -> None:
    page.edit("digest", targets="m6 m7", summary="Two in one.")
    page.edit("snip", targets="m0")
    page.edit("insert", after="m9", role="user", text="Between")
    page.edit("resequence", moved="m10", behind="m14")
    assert Rows(content(page, provider="openai", against="original")).rows == [
        (["Original, message 0, user"], ["Nothing"]),
        (
            ["Original, message 6, assistant", "Original, message 7, tool"],
            ["Sent, message 5, system"],
        ),
        (["Original, message 10, user"], ["At another position"]),
        (["Nothing"], ["Sent, message 8, user"]),
        (["At another position"], ["Sent, message 13, user"]),
    ]


def test_the_words_are_marked_that_differ_between_two_messages(page: Page) -> None:
    page.edit("revise", targets="m4", text="Answer four")
    found = Rows(content(page, provider="openai", against="original"))
    assert found.marked == ["del 4", "ins four"]


def test_more_messages_than_can_be_shown_beside_one_are_lines_that_open(
    page: Page,
) -> None:
    page.edit("digest", targets="m1 m2 m3 m4", summary="Four in one.")
    folded = content(page, provider="openai", against="original")
    assert folded.count('<span class="sent-line"') == 4
    assert '<p class="pair-count">4 messages</p>' in folded
    assert '<details class="pair-more">' not in folded
    page.edit("digest", targets=" ".join(f"m{n}" for n in range(14)), summary="Most.")
    folded = content(page, provider="openai", against="original")
    assert "<summary>10 more<" in folded


def test_changes_are_numbered_over_all_pages(page: Page, session: Session) -> None:
    messages = [{"role": "user", "content": f"More {n}"} for n in range(150)]
    path = f"/api/sessions/{session.pk}/messages"
    page.client.post(path, {"messages": messages}, "application/json")
    page.edit("digest", targets="m1 m2", summary="Two in one.")
    page.edit("snip", targets=" ".join(f"m{n}" for n in range(20, 140)))
    page.edit("revise", targets="m160", text="Anew")
    fields = {"provider": "openai", "against": "original"}
    begins = f"{page.url}context?provider=openai&amp;model=&amp;against=original"

    first = content(page, **fields)
    assert re.findall(r'aria-label="(Change [^"]+)"', first) == [
        "Change 1 of 3",
        "Change 2 of 3",
    ]
    assert f'data-href="{begins}&amp;start=100#change-3"' in first

    second = content(page, **fields, start="100")
    assert re.findall(r'id="(change-\d)"', second) == ["change-2", "change-3"]
    assert f'data-href="{begins}&amp;start=0#change-1"' in second
    assert 'data-href=""' in second


def test_where_nothing_differs_there_is_nothing_to_step_to(page: Page) -> None:
    assert 'aria-label="Changes"' not in content(page, against="original")


def test_a_step_says_why_it_left_something_out(page: Page) -> None:
    page.edit("digest", targets="m1 m2", summary="Two in one.")
    page.edit("snip", targets="m8")
    shown = content(page)
    assert re.search(r"<p>Folded by a digest: \d+ in 1 place</p>", shown)
    assert re.search(r"<p>Folded by a snip: \d+ in 1 place</p>", shown)


def test_text_that_was_taken_out_is_left_out_and_not_added_with_a_minus(
    page: Page, editor: User, session: Session
) -> None:
    sha256 = fingerprint("Question ")
    span = Span(key="m0", part=0, start=0, end=9, sha256=sha256, text="", saved=2)
    services.record_edit(caller(editor), session.pk, Replace(spans=(span,)))
    assert "<p>Text replaced or masked: 2</p>" in content(page)
    assert '<td class="t-end">-2</td>' not in content(page)


def test_a_slice_is_a_step_that_people_can_read(
    page: Page, editor: User, session: Session
) -> None:
    preference = Preference(start=2, end=4)
    policies.request_slice(caller(editor), session.pk, preference)
    shown = content(page)
    assert '<th scope="row">Slice</th>' in shown
    assert '<th scope="row">slice</th>' not in shown


def test_what_is_redacted_is_in_no_comparison(
    page: Page, editor: User, session: Session
) -> None:
    span = Span(key="m0", part=0, start=0, end=10, sha256=fingerprint("Question 0"))
    services.record_edit(
        caller(editor),
        session.pk,
        Redact(spans=(span,)),
    )
    for against in ("", "original"):
        assert "Question 0" not in content(page, against=against)
    answer = page.client.get(page.url + "context", {"against": "o1"})
    assert answer.status_code == 422


def test_the_download_is_the_request(page: Page) -> None:
    answer = page.client.get(page.url + "context.json", {"provider": "anthropic"})
    assert answer["Content-Disposition"].endswith('-request-anthropic.json"')
    body = json.loads(answer.content)
    assert body["messages"][0]["role"] == "user"


def test_long_contexts_have_pages(page: Page, editor: User, session: Session) -> None:
    messages = [{"role": "user", "content": f"More {n}"} for n in range(150)]
    answer = page.client.post(
        f"/api/sessions/{session.pk}/messages",
        {"messages": messages},
        "application/json",
    )
    assert answer.status_code in (200, 201), answer.content
    first = content(page, provider="openai")
    assert "More 10" in first
    assert "More 140" not in first
    assert "More 140" in content(page, provider="openai", start="100")


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"provider": "nobody"}, 422),
        ({"against": "o9"}, 404),
        ({"start": "x"}, 422),
    ],
)
def test_what_is_asked_wrongly_is_named(
    page: Page, fields: dict[str, str], status: int
) -> None:
    assert page.client.get(page.url + "context", fields).status_code == status


def test_a_stranger_finds_nothing(session: Session, stranger: User) -> None:
    client = Client()
    client.force_login(stranger)
    for path in ("context", "context.json"):
        answer = client.get(f"/sessions/{session.pk}/{path}")
        assert answer.status_code == 404


def test_a_script_gets_what_depends_on_provider_and_model_alone(page: Page) -> None:
    asked = {"HTTP_HX_REQUEST": "true", "HTTP_HX_TARGET": "context-body"}
    address = f"{page.url}context?provider=gemini"
    part = page.client.get(address, **asked).content.decode()
    assert 'id="context-body"' in part
    assert "Gemini rules" in part
    assert "<html" not in part
    assert "<form" not in part
    followed = page.client.get(address, HTTP_HX_REQUEST="true").content.decode()
    assert "<html" in followed


def test_the_page_has_the_heads_of_the_thread(page: Page) -> None:
    shown = content(page)
    assert f'href="{page.url}?view=effective"' in shown
    assert 'id="checks-strip"' in shown


@pytest.mark.parametrize(
    ("said", "line"), [("a " * 60, "a " * 59 + "a"), ("b" * 121, "b" * 120 + "…")]
)
def test_a_line_that_is_cut_says_so(said: str, line: str) -> None:
    pieces = [PagePiece("", said)]
    message = sent_messages.RequestMessage(0, "user", pieces, origins=())
    assert message.line == line
