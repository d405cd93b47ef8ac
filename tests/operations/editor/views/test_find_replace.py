"""The dialog to replace and redact words."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from contextstudio.accounts.models import Project, User
from operations.domain.text.wording import words_of
from operations.editor.views import find_replace
from operations.log.selectors import load_thread
from operations.messages.expressions import SearchExpression
from operations.messages.reader import MessageReader
from tests.operations.conftest import Page, read
from tests.people import caller
from threads.domain.message import Message, Role
from threads.domain.part import Text
from threads.sessions.services import NewSession, create_session

BLOCK = "START_LOG one two three four five six END_LOG"
PIP = "\n".join(
    [
        f"Collecting package-{n}\n  Downloading package_{n}-1.0.whl (1 kB)"
        for n in range(8)
    ]
    + ["Successfully installed package-1"]
)


@pytest.fixture
def page(editor: User, project: Project) -> Page:
    texts = ["Hello", f"First {BLOCK}.", f"And {BLOCK} or {BLOCK}!", PIP, "key=hunter2"]
    said = [Message(role=Role.USER, parts=(Text(text),)) for text in texts]
    session = create_session(caller(editor), project, NewSession(messages=said))
    client = Client()
    client.force_login(editor)
    return Page(client, session)


def words(answer: HttpResponse) -> str:
    return answer.content.decode()


def spans(answer: HttpResponse) -> list[str]:
    return re.findall(r'name="span" value="([^"]+)"', words(answer))


def record(page: Page, span: list[str] | str, **fields: str) -> HttpResponse:
    """Look for the words, then record some of what was listed."""
    listed = re.findall(r'name="listed" value="(\w+)"', words(look(page, **fields)))
    return look(page, step="", span=span, listed=listed[0], **fields)


def look(page: Page, **fields: Any) -> HttpResponse:
    given = {
        "type": "replace",
        "start": "START_LOG",
        "end": "END_LOG",
        "replacement": "…",
    }
    return page.post("texts", **given | {"step": "find"} | fields)


def test_the_dialog_offers_suggestions(page: Page) -> None:
    content = words(page.get("dialogs/texts"))
    assert "pip output" in content
    assert "Show matches" in content


def test_words_that_were_picked_are_looked_for_and_few_are_redacted(page: Page) -> None:
    content = words(page.get("dialogs/texts", start=" hunter2 "))
    assert "hunter2</textarea>" in content
    assert '<option value="redact" selected>' in content
    content = words(page.get("dialogs/texts", start=BLOCK))
    assert '<option value="replace" selected>' in content


def test_every_match_is_listed_in_its_text_with_a_switch(page: Page) -> None:
    answer = look(page)
    content = words(answer)
    assert "3 matches in 2 messages: saves " in content
    assert f"First <mark>{BLOCK}</mark>." in content
    assert len(spans(answer)) == 3
    assert page.post("texts").status_code == 422


def test_what_is_chosen_is_recorded_as_one_bundle_with_a_switch_each(
    page: Page,
) -> None:
    found = spans(look(page))
    answer = record(page, [found[0], found[2]])
    assert answer.status_code == 200, words(answer)
    assert read(answer).facts["data-focus"] == ""
    assert page.head == 2
    content = words(page.get(""))
    assert "First …." in content
    assert f"And {BLOCK} or …!" in content
    page.post("operations/o1/off")
    content = words(page.get(""))
    assert f"First {BLOCK}." in content
    assert f"And {BLOCK} or …!" in content


def test_few_words_are_redacted(page: Page) -> None:
    short = {"start": "hunter2", "end": "", "replacement": ""}
    found = spans(look(page, type="redact", **short))
    record(page, found, type="redact", **short)
    assert "hunter2" not in words(page.get(""))
    assert "[redacted]" in words(page.get(""))


def test_what_others_change_already_is_shown_and_not_offered(page: Page) -> None:
    found = spans(look(page))
    record(page, found[:1])
    answer = look(page, start="First", end=".")
    assert spans(answer) == []
    answer = look(page, start="First", end=".", type="redact")
    assert "already changed by replace o1" in words(answer)


def test_what_is_not_there_is_said_at_its_field(page: Page) -> None:
    answer = look(page, start="STRAT_LOG")
    assert answer.status_code == 422
    assert "Nothing in the thread matches. Folds weren&#x27;t searched." in words(
        answer
    )
    assert "Similar: &quot;START_LOG" in words(answer)
    answer = look(page, start="STRAT_LOG", include_folded="on")
    assert "Folds weren&#x27;t searched." not in words(answer)


def test_a_suggestion_fills_the_dialog_in(page: Page) -> None:
    answer = page.post("texts", suggestion="0")
    assert "1 match in 1 message" in words(answer)
    assert "[pip output, 17 lines: Successfully installed package-1]" in words(answer)
    for number in ("7", "x"):
        assert "Show matches" in words(page.post("texts", suggestion=number))


def test_other_words_than_those_listed_are_listed_first(page: Page) -> None:
    found = look(page)
    listed = re.findall(r'name="listed" value="(\w+)"', words(found))[0]
    again = look(page, step="", span=spans(found), listed=listed, start="START_LOG one")
    assert "3 matches" in words(again)
    assert page.head == 0


def test_nothing_chosen_and_nothing_known_are_refused(page: Page) -> None:
    answer = record(page, [])
    assert (answer.status_code, page.head) == (422, 0)
    assert "Select at least one match." in words(answer)
    assert record(page, "x").status_code == 409
    stale = f"m1 0 6 51 {'0' * 64}"
    answer = record(page, stale)
    assert answer.status_code == 409
    assert "look at the matches again" in words(answer)


def test_what_was_chosen_stays_chosen_where_the_thread_has_changed(page: Page) -> None:
    found = spans(look(page))
    gone, chosen, left = found
    assert page.edit("snip", targets="m1").status_code == 200
    answer = record(page, [gone, chosen])
    assert answer.status_code == 409
    assert spans(answer) == [chosen, left]
    assert f'value="{chosen}" checked>' in words(answer)
    assert f'value="{left}">' in words(answer)
    assert " checked>" not in words(record(page, []))


def test_only_so_many_are_listed_at_once(page: Page, editor: User) -> None:
    many = Message(role=Role.USER, parts=(Text(f"{BLOCK} " * 201),))
    new = NewSession(messages=[many])
    page.session = create_session(caller(editor), page.session.project, new)
    answer = look(page)
    assert len(spans(answer)) == 200
    assert "1 more not listed" in words(answer)


@pytest.mark.parametrize("how", ["apply", "stage"])
def test_what_is_listed_next_is_what_can_still_be_changed(
    page: Page, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setattr(find_replace, "MAX_LISTED", 2)
    fields = {"replacement": f"{BLOCK}, in short"}
    staged = {"stage": "1"} if how == "stage" else {}
    first = spans(look(page, **fields))
    assert len(first) == 2
    assert record(page, first, **fields, **staged).status_code == 200
    answer = look(page, **fields)
    assert "already changed by replace o1" in words(answer)
    assert "more not listed" not in words(answer), "that can be chosen"
    rest = spans(answer)
    assert len(rest) == 1
    assert record(page, rest, **fields, **staged).status_code == 200
    assert not spans(look(page, **fields))


def test_what_is_there_more_than_a_thousand_times_is_changed_bit_by_bit(
    page: Page, editor: User
) -> None:
    many = Message(role=Role.USER, parts=(Text("hunter2 " * 1_005),))
    new = NewSession(messages=[many])
    page.session = create_session(caller(editor), page.session.project, new)
    fields = {"type": "redact", "start": "hunter2", "end": "", "replacement": ""}
    answer = look(page, **fields)
    assert "The first 1,000 matches in 1 message" in words(answer)
    assert "More than 800 not listed. Apply these" in words(answer)
    assert record(page, spans(answer), **fields).status_code == 200
    answer = look(page, **fields)
    assert "805 matches in 1 message" in words(answer)
    assert "605 more not listed" in words(answer)


def test_a_viewer_looks_and_records_nothing(
    page: Page, viewer: User, open_page: Callable[..., Page]
) -> None:
    client = Client()
    client.force_login(viewer)
    other = Page(client, page.session)
    found = spans(look(other))
    assert record(other, found).status_code == 403


def find(page: Page, start: str, **fields: str) -> HttpResponse:
    asked = {"type": "replace", "end": "", "replacement": "", "step": "find"}
    return page.post("texts", **{**asked, "start": start, **fields})


def apply(page: Page, start: str, **fields: str) -> str:
    """Look for it, and record all that is found."""
    found = words(find(page, start, **fields))
    spans = re.findall(r'name="span" value="([^"]+)"', found)
    listed = re.findall(r'name="listed" value="([^"]+)"', found)[0]
    asked = {"type": "replace", "end": "", "replacement": "", **fields}
    data: dict[str, Any] = {**asked, "start": start, "listed": listed, "span": spans}
    return page.client.post(f"{page.url}texts", data).content.decode()


def reads(page: Page, key: str) -> str:
    page.session.refresh_from_db()
    said = MessageReader(page.session, load_thread(page.session)).effective([key])
    return words_of(said[key].parts)


def test_a_person_replaces_text_of_any_length(page: Page) -> None:
    assert "too short" not in words(find(page, "Hello"))
    answer = apply(page, "Hello", replacement="Ahoy")
    assert "Replace #0" in answer
    assert reads(page, "m0") == "Ahoy"


def test_what_makes_a_message_longer_says_that_it_adds(page: Page) -> None:
    longer = words(find(page, "Hello", replacement="Good morning to all of you"))
    assert "1 match in 1 message: adds " in longer
    assert "saving −" not in longer


def test_an_expression_matches_and_its_groups_stand_in_the_replacement(
    page: Page,
) -> None:
    found = words(find(page, r"START_(\w+) (one|two)", regex="on"))
    assert "3 matches in 2 messages" in found
    apply(page, r"START_(\w+) (one|two)", regex="on", replacement=r"<\2 \1>")
    assert reads(page, "m1") == "First <one LOG> two three four five six END_LOG."


def test_other_replacement_words_are_looked_at_again_before_they_count(
    page: Page,
) -> None:
    found = words(find(page, "Hello"))
    span = re.findall(r'name="span" value="([^"]+)"', found)[0]
    listed = re.findall(r'name="listed" value="([^"]+)"', found)[0]
    fields = {"type": "replace", "start": "Hello", "end": "", "replacement": "Hi"}
    answer = page.post("texts", **fields, span=span, listed=listed)
    assert "1 match in 1 message" in words(answer)
    assert reads(page, "m0") == "Hello"


def test_matches_that_are_gone_by_now_are_refused(page: Page) -> None:
    found = words(find(page, "Hello"))
    listed = re.findall(r'name="listed" value="([^"]+)"', found)[0]
    fields = {"type": "replace", "start": "Hello", "end": "", "replacement": ""}
    answer = page.post("texts", **fields, span="m0 0 0 4 x", listed=listed)
    assert answer.status_code == 409
    assert "look at the matches again" in words(answer)


@pytest.mark.parametrize(
    ("start", "said"),
    [
        ("(", "This is not a valid regular expression"),
        ("(" * 600 + ")" * 600, "An expression has at most 1,000 characters"),
        ("(" * 450 + ")" * 450, "This is not a valid regular expression"),
        ("(?a)(?u)Hello", "flags are mutually incompatible"),
        ("nowhere.+", "Nothing in the thread matches."),
    ],
)
def test_an_expression_that_is_none_is_said_at_its_field(
    page: Page, start: str, said: str
) -> None:
    answer = find(page, start, regex="on")
    assert answer.status_code == 422
    assert said in words(answer)


def test_an_expression_may_end_in_a_comment(page: Page) -> None:
    found = words(find(page, "(?x)H ello # the first word", regex="on"))
    assert "1 match in 1 message" in found


def test_a_group_that_the_expression_has_not_is_refused(page: Page) -> None:
    answer = find(page, "Hello", regex="on", replacement=r"\3")
    assert answer.status_code == 422
    assert "This is not a valid regular expression: " in words(answer)


def test_an_expression_is_given_up_when_it_takes_too_long(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    def impatient(text: str, replacement: str) -> SearchExpression:
        return SearchExpression(text, replacement, seconds=0.05)

    monkeypatch.setattr("operations.edits.arguments.text.SearchExpression", impatient)
    page.edit("revise", targets="m0", text="a" * 60 + "!", role="")
    answer = find(page, r"^(a|aa|b?)+$", regex="on")
    assert answer.status_code == 422
    assert "takes longer than" in words(answer)


@pytest.mark.parametrize(
    "calling", ["(?R)", "a(?0)?", r"\\\\(a(?1)?b)", "(?<n>a(?&n)?)", "(a)(?-1)"]
)
def test_an_expression_that_calls_itself_is_refused(page: Page, calling: str) -> None:
    answer = find(page, calling, regex="on")
    assert answer.status_code == 422
    assert "can&#x27;t call itself" in words(answer)


def test_an_expression_may_look_for_what_would_be_a_call(page: Page) -> None:
    page.edit("revise", targets="m0", text="It said (?1) at the end", role="")
    assert find(page, r"\(\?1\)", regex="on").status_code == 200
    assert find(page, r"(said) (?(1)\()", regex="on").status_code == 200


def test_an_expression_is_given_up_when_it_takes_too_much_memory(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Greedy:
        def finditer(self, *_: Any, **__: Any) -> None:
            raise MemoryError

    def greedy(text: str, replacement: str) -> SearchExpression:
        made = SearchExpression(text, replacement)
        monkeypatch.setattr(made, "_expression", Greedy())
        return made

    monkeypatch.setattr("operations.edits.arguments.text.SearchExpression", greedy)
    answer = find(page, "(a|b)*c", regex="on")
    assert answer.status_code == 422
    assert "takes too much memory" in words(answer)


def test_what_is_in_a_fold_saves_no_tokens_and_says_where_it_is(page: Page) -> None:
    shown = words(look(page))
    page.post("operations", type="snip", targets="m1")
    folded = words(look(page, include_folded="on"))
    assert folded.count('<span class="hit-saves">in a fold</span>') == 1
    each = [int(n) for n in re.findall(r'"hit-saves">saves (\d+) tokens', folded)]
    assert len(each) == 2
    assert f"3 matches in 2 messages: saves {sum(each)} tokens" in folded
    assert f"3 matches in 2 messages: saves {sum(each)} tokens" not in shown
