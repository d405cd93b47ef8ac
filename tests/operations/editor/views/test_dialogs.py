"""The dialogs, and what stands beside the thread."""

import re
from collections.abc import Callable

import pytest

from contextstudio.accounts.models import User
from operations.editor.panels import drawer, outline
from operations.editor.views import dialogs
from operations.edits.purging import remove_group
from operations.log.selectors import load_thread
from tests.operations.conftest import Page
from tests.people import caller
from threads.domain.message import Message, Role
from threads.domain.part import Text
from threads.sessions.services import NewSession, create_session


@pytest.mark.parametrize("kind", ["digest", "tag", "revise", "move"])
def test_a_dialog_says_what_it_is_about(page: Page, kind: str) -> None:
    content = page.get(f"dialogs/{kind}", targets="m1 m2").content.decode()
    assert "2 messages, #1–#2" in content
    assert "<form" in content


def test_a_dialog_says_that_it_proposes_to_who_may_not_edit(
    page: Page, open_page: Callable[..., Page], reviewer: User
) -> None:
    proposing = open_page(reviewer)
    for kind in ("digest", "move"):
        shown = [
            one.get(f"dialogs/{kind}", targets="m1").content.decode()
            for one in (page, proposing)
        ]
        assert [">Propose<kbd>" in one for one in shown] == [False, True]
    refused = proposing.edit("tag", targets="m1", tags="#", dialog="1")
    assert ">Propose<kbd>" in refused.content.decode()
    found = proposing.post(
        "texts", type="replace", start="Question", replacement="?", step="find"
    )
    assert ">Propose selected<kbd>" in found.content.decode()


def test_the_outline_of_a_long_session_lists_its_beginning_and_its_end(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outline, "FIRST_GROUPS", 1)
    monkeypatch.setattr(outline, "LAST_GROUPS", 2)
    listed = page.get("outline").content.decode()
    assert re.findall(r'id="g-(m\d+)"|data-more>([^<]*)', listed) == [
        ("m0", ""),
        ("", "1 more"),
        ("m10", ""),
        ("m15", ""),
    ]


def test_a_move_asks_for_a_place(page: Page) -> None:
    content = page.get("dialogs/move", targets="m1").content.decode()
    assert "To the end" in content
    assert "optional" not in content


def test_a_revise_begins_with_the_words_of_now(page: Page) -> None:
    assert (
        "Answer 4</textarea>"
        in page.get("dialogs/revise", targets="m4").content.decode()
    )


def test_a_revise_says_where_it_begins_with_the_words_of_some_alone(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dialogs, "MAX_QUOTED", 2)
    said = "The text is that of the first 2."
    two = page.get("dialogs/revise", targets="m3 m4").content.decode()
    three = page.get("dialogs/revise", targets="m3 m4 m6").content.decode()
    assert said not in two and said in three
    assert "Answer 6" not in three


def test_an_amendment_begins_with_the_words_in_force(page: Page) -> None:
    page.edit("digest", targets="m2 m3", summary="First words")
    content = page.get("dialogs/amend", operation="o1").content.decode()
    assert "First words</textarea>" in content
    assert f"{page.url}operations/o1/amend" in content


def test_an_insert_says_where_it_goes(page: Page) -> None:
    assert "After #3" in page.get("dialogs/insert", after="m3").content.decode()
    assert "At the top" in page.get("dialogs/insert", after="").content.decode()


def test_a_digest_that_takes_in_a_fold_names_its_messages(page: Page) -> None:
    page.edit("digest", targets="m2 m3 m4", summary="Sum")
    content = page.get("dialogs/digest", targets="o1 m5").content.decode()
    assert 'value="m2 m3 m4 m5"' in content


def test_a_digest_tells_what_it_leaves_out(page: Page) -> None:
    answer = page.edit(
        "digest", targets="m1 m2 m3", summary="Ran the tests of module_3.py"
    )
    assert "Leaves out 1 path and 1 command" in answer.content.decode()
    listed = page.get("dialogs/left-out", operation="o1").content.decode()
    assert "tests/part_1.py" in listed
    assert "pytest tests/part_1.py" in listed
    assert "src/module_3.py" not in listed


def test_a_decision_is_offered_until_somebody_has_decided(page: Page) -> None:
    page.edit("snip", targets="m2 m3", propose="1")
    assert (
        'data-action="accept"'
        in page.get("dialogs/decide", operation="o1").content.decode()
    )
    page.post("operations/o1/reject")
    decided = page.get("dialogs/decide", operation="o1").content.decode()
    assert "already been decided" in decided


def test_there_is_no_dialog_for_what_is_not_there(page: Page) -> None:
    assert page.get("dialogs/explode").status_code == 404
    assert page.get("dialogs/amend", operation="o9").status_code == 404


def test_the_log_tells_everything_newest_first(page: Page) -> None:
    page.edit("digest", targets="m2 m3", summary="Sum")
    page.post("operations/o1/off")
    page.post("undo")
    page.post("tags", tags="short")
    content = page.get("log").content.decode()
    assert (
        content.index("Active tags") < content.index("Undo") < content.index("Toggle")
    )
    assert "digest o1 (#2–#3) off" in content


def test_one_message_of_one_token_is_told_as_one(page: Page, owner: User) -> None:
    said = (Message(role=Role.USER, parts=(Text("Hi"),)),)
    new = NewSession(title="Short", messages=said)
    page.session = create_session(caller(owner), page.session.project, new)
    assert "1 message, #0, 1 token<" in page.get("dialogs/tag", targets="m0").text
    assert "Snip #0, −1 token." in page.edit("snip", targets="m0").text
    page.post("operations/o1/revert")
    remove_group(caller(owner), page.session.pk, 1)
    assert "<b>Purge</b> 1 message<" in page.get("log").text


def test_a_long_log_has_older_pages(page: Page) -> None:
    page.edit("digest", targets="m2 m3", summary="Sum")
    for _ in range(30):
        page.post("operations/o1/off")
        page.post("operations/o1/on")
    first = page.get("log").content.decode()
    assert "?before=12" in first
    older = page.get("log", before=12).content.decode()
    assert ">o1<" in older
    assert "?before=" not in older
    read = page.get("log", down_to=5).content.decode()
    assert ">o5<" in read
    assert ">o4<" not in read
    assert "?before=5" in read
    assert ">o12<" in page.get("log", down_to=40).content.decode()


def test_the_outline_nests_what_lies_in_folds(page: Page) -> None:
    page.edit("revise", targets="m3", text="Other", role="")
    page.edit("digest", targets="m2 m3 m4", summary="Sum")
    content = page.get("outline").content.decode()
    assert "Question 5" in content
    assert content.index("Digest") < content.index("Revise")


def test_the_drawer_offers_undo_to_whose_it_is(
    page: Page, open_page: Callable[..., Page], owner: User
) -> None:
    page.edit("snip", targets="m2 m3")
    undo = 'data-action="undo"'
    mine = page.get("panel").content.decode().split(undo)[1].split(">")[0]
    theirs = open_page(owner).get("panel").content.decode().split(undo)[1].split(">")[0]
    assert "disabled" not in mine
    assert "disabled" in theirs


def test_a_long_drawer_shows_the_newest_until_more_are_asked_for(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawer, "MAX_LISTED", 2)
    monkeypatch.setattr(drawer, "MAX_REQUESTED", 3)
    for index in range(2, 6):
        page.edit("tag", targets=f"m{index}", tags="goal")
    shown = page.get("panel").content.decode()
    assert 'id="p-o4"' in shown
    assert 'id="p-o2"' not in shown
    assert "2 older operations" in shown
    more = page.get("panel", more=1).content.decode()
    assert 'id="p-o2"' in more
    assert "1 older operation in the log" in more


def test_what_the_drawer_does_not_list_is_counted(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawer, "MAX_LISTED", 1)
    for index in range(2, 7):
        waits = {"propose": "1"} if index > 4 else {}
        answer = page.edit("snip", targets=f"m{index}", **waits)
    for key in ("o1", "o2", "o3"):
        answer = page.post(f"operations/{key}/revert")
    for said in (answer.text, page.get().text):
        assert ">2 waiting<" in said
        assert 'Reverted <span class="dim">3</span>' in said


def test_what_is_being_written_is_counted_as_it_would_be_kept(page: Page) -> None:
    counted = page.post("tokens", text="One\r\ntwo").json()["tokens"]
    page.edit("insert", after="m3", role="user", text="One\r\ntwo")
    page.session.refresh_from_db()
    made = load_thread(page.session).made_message("o1.0")
    assert made is not None
    assert counted == made.tokens > 0
    assert page.post("tokens", text="").json() == {"tokens": 0}
    assert (
        "data-count-tokens" in page.get("dialogs/digest", targets="m2").content.decode()
    )


def test_a_select_is_never_called_optional(page: Page) -> None:
    content = page.get("dialogs/revise", targets="m3 m4").content.decode()
    role = content.split('<label for="id_role">')[1].split("</label>")[0]
    assert role == "Role"
    assert "optional" in content.split('<label for="id_tags">')[1].split("</label>")[0]


def test_the_log_tells_what_was_only_proposed(page: Page) -> None:
    page.edit("snip", targets="m2")
    page.edit("snip", targets="m4", propose="1")
    page.edit("snip", targets="m6", stage="1")
    log = page.get("log").content.decode().split('<ol class="log">')[1]
    entries = log.split("</li>")[:3]
    told = [re.sub(r"<[^>]*>", "", entry).partition("editor")[0] for entry in entries]
    assert told == ["o3Snip #6 staged", "o2Snip #4 proposed", "o1Snip #2"]
