"""Finding words in a thread, and over all sessions, on the pages."""

from collections.abc import Callable

import pytest
from django.conf import LazySettings
from django.test import Client

from contextstudio.accounts.models import User
from tests.operations.conftest import Page
from threads.models import Session


def found(page: Page, words: str, view: str = "annotated") -> list[str]:
    answer = page.get("find", q=words, view=view)
    assert answer.status_code == 200, answer.content
    return answer.json()["keys"]


def test_words_are_found_in_the_order_of_the_thread(page: Page) -> None:
    page.edit("resequence", moved="m10", behind="m0")
    assert found(page, "question") == ["m0", "m10", "m5", "m15"]
    assert found(page, "QUESTION 5") == ["m5"]
    assert found(page, "nothing of it") == []


def test_a_fold_is_found_by_its_words_and_by_what_it_holds(page: Page) -> None:
    page.edit("digest", targets="m4 m5 m6", summary="All about Question 5")
    assert found(page, "question 5") == ["o1", "m5"]
    assert found(page, "question 5", "effective") == ["o1.0"]
    assert found(page, "question 5", "original") == ["m5"]


@pytest.mark.parametrize("view", ["annotated", "effective", "original"])
def test_the_first_match_is_the_next_from_where_one_is(page: Page, view: str) -> None:
    page.edit("resequence", moved="m10", behind="m0")

    def first(at: str) -> str:
        answer = page.get("find", q="question", view=view, at=at).json()
        return str(answer["keys"][answer["first"]])

    assert (first(""), first("m5"), first("m6")) == (
        "m0",
        "m5",
        {"original": "m10"}.get(view, "m15"),
    )
    assert (first("m16"), first("nowhere")) == ("m0", "m0")


def test_inserted_messages_are_found(page: Page) -> None:
    page.edit("insert", after="m1", role="user", text="Something of my own")
    assert found(page, "of my own") == ["o1.0"]


def test_what_a_message_reads_is_found_not_what_it_read_before(
    page: Page, editor: User
) -> None:
    from operations.domain.log.operation import Replace
    from operations.domain.tree.span import Span, fingerprint
    from operations.edits import services
    from tests.people import caller

    sha256 = fingerprint("Question")
    span = Span(key="m5", part=0, start=0, end=8, sha256=sha256, text="Riddle")
    edit = Replace(spans=(span,))
    services.record_edit(caller(editor), page.session.pk, edit)
    assert found(page, "question") == ["m0", "m10", "m15"]
    assert found(page, "riddle") == ["m5"]
    assert found(page, "question", "original") == ["m0", "m5", "m10", "m15"]


@pytest.mark.parametrize("words", ["", "x" * 1001])
def test_words_have_1_to_1000_characters(page: Page, words: str) -> None:
    assert page.get("find", q=words).status_code == 422


def test_the_list_shows_messages_that_hold_the_words(page: Page) -> None:
    content = page.client.get("/sessions/", {"q": "answer 1"}).content.decode()
    assert 'No title matches "answer 1"' in content
    assert f'href="/sessions/{page.session.pk}/#n-m14"' in content
    assert "<mark>Answer 1</mark>4" in content


def test_further_matches_are_fetched_by_the_button(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("operations.sessions.views.SHOWN_MATCHES", 3)
    content = page.client.get("/sessions/", {"q": "answer"}).content.decode()
    assert content.count('class="match-place"') == 3
    (address,) = [
        part.split('"')[0].replace("&amp;", "&")
        for part in content.split('hx-get="')[1:]
    ]
    answer = page.client.get(address, headers={"HX-Request": "true"})
    assert answer.content.decode().count('class="match-place"') == 1
    assert b"<html" not in answer.content
    assert b"<html" in page.client.get(address).content


def test_words_that_no_message_has_are_said_to_be_in_none(page: Page) -> None:
    content = page.client.get("/sessions/", {"q": "<b>&\0"}).content.decode()
    assert "No matching messages." in content
    assert "<b>&" not in content


def test_search_through_rest(
    session: Session, open_page: Callable[..., Page], editor: User
) -> None:
    client: Client = open_page(editor).client
    answer = client.get("/api/search", {"q": "QUESTION", "limit": 3}).json()
    more = {"q": "QUESTION", "cursor": answer["next_cursor"]}
    items = answer["items"] + client.get("/api/search", more).json()["items"]
    assert sorted(item["index"] for item in items) == [0, 5, 10, 15]
    assert [item for item in items if item["index"] == 15] == [
        {
            "session_id": str(session.pk),
            "project": session.project.slug,
            "title": "Twenty",
            "key": "m15",
            "index": 15,
            "role": "user",
            "excerpt": {"text": "Question 15", "start": 0, "end": 8},
            "similarity": None,
        }
    ]
    titles = client.get("/api/search", {"q": "twen"}).json()
    assert [one["title"] for one in titles["titles"]] == ["Twenty"]
    assert client.get("/api/search", {"q": ""}).status_code == 422
    elsewhere = {"q": "x", "project": "elsewhere"}
    assert client.get("/api/search", elsewhere).status_code == 404


def near(page: Page, words: str = "", view: str = "annotated") -> dict[str, float]:
    found = page.get("find", q=words, view=view, meaning="on").json()
    return dict(zip(found["keys"], found["near"], strict=True))


@pytest.mark.meaning
@pytest.mark.parametrize("view", ["annotated", "effective", "original"])
def test_messages_are_found_by_what_they_are_about(
    page: Page, settings: LazySettings, view: str
) -> None:
    settings.MEANING_SEARCH = True
    found = near(page, "A question", view)
    assert "m0" in found
    assert list(found) == sorted(found, key=lambda key: int(key[1:]))
    assert all(0.2 <= share <= 1 for share in found.values())
    page.edit("snip", targets="m0")
    assert ("m0" in near(page, "A question", view)) is (view != "effective")


@pytest.mark.meaning
def test_without_words_the_objective_is_asked_for(
    page: Page, settings: LazySettings
) -> None:
    settings.MEANING_SEARCH = True
    assert near(page) == {}
    type(page.session).objects.update(objective="A question")
    assert near(page) == near(page, "A question")


@pytest.mark.meaning
def test_finding_by_meaning_is_offered_where_it_is_on(
    page: Page, settings: LazySettings
) -> None:
    offered = 'id="find-meaning"'
    assert offered not in page.client.get(page.url).content.decode()
    refused = page.get("find", q="it", meaning="on")
    assert refused.status_code == 409
    settings.MEANING_SEARCH = True
    assert offered in page.client.get(page.url).content.decode()
    assert page.get("find", q="x" * 1001, meaning="on").status_code == 422
