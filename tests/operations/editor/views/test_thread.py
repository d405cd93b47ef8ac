"""The thread page: its views, chunks, folds and what a page behind is told."""

import json
import uuid
from collections.abc import Callable

import pytest
from django.test import Client

from contextstudio.accounts.models import User
from operations.editor.rows.sections import SIZE
from operations.requests import View
from tests.operations.conftest import Page, read
from tests.people import caller
from threads.domain.message import Message, Role
from threads.domain.part import Text
from threads.models import Rendering, Session
from threads.rendering import fragments
from threads.sessions.services import NewSession, append_messages, create_session


def test_the_page_shows_every_message_of_a_short_session(page: Page) -> None:
    assert page.rows() == [f"n-m{index}" for index in range(20)]


def test_what_is_drawn_as_an_icon_alone_has_its_name_as_a_tooltip(page: Page) -> None:
    shown = page.get("").content.decode()
    names = ("Sessions", "Imports", "Projects", "Jobs", "Keys", "Shortcuts", "Theme")
    for name in (*names, "Find in thread", "Outline", "Provider checks"):
        assert shown.count(f'title="{name}"') == 1, name


def test_a_message_without_content_says_so(page: Page, editor: User) -> None:
    assert ">empty</span>" not in page.get("").content.decode()
    said = [Message(role=Role.ASSISTANT, parts=())]
    append_messages(caller(editor), page.session.pk, said)
    assert page.get("").content.decode().count(">empty</span>") == 1


def test_a_stranger_finds_no_session(
    open_page: Callable[..., Page], stranger: User
) -> None:
    page = open_page(stranger)
    for path in (
        "",
        "chunk",
        "changes",
        "selection",
        "locate",
        "panel",
        "log",
        "outline",
    ):
        assert page.get(path).status_code == 404, path
    assert page.edit("snip", targets="m1").status_code == 404
    assert page.get("messages/m1/raw").status_code == 404
    assert page.get("export").status_code == 404


def test_who_is_not_signed_in_is_asked_to(client: Client, session: Session) -> None:
    answer = client.get(f"/sessions/{session.pk}/")
    assert answer.status_code == 302
    assert answer["Location"].startswith("/sign-in")


def test_a_session_that_is_not_there_is_not_found(page: Page) -> None:
    assert page.client.get(f"/sessions/{uuid.uuid4()}/").status_code == 404


def test_brief_rows_name_the_tool_of_a_result(page: Page) -> None:
    content = page.get().content.decode()
    assert (
        '<span class="model">bash</span> <span class="exit">ok</span> 2 passed'
        in content
    )


def test_brief_rows_show_the_tags_of_their_message(page: Page) -> None:
    page.edit("tag", targets="m2", tags="evidence")
    brief = page.get().content.decode().split('data-key="m2"')[1].split("</button>")[1]
    assert 'class="brief"' in brief
    assert '<span class="tag" title="evidence">evidence</span>' in brief


def test_the_meter_says_what_is_saved_or_added(page: Page) -> None:
    page.edit("insert", after="m3", role="user", text="Between the two of them")
    assert " added <b>+" in page.get().content.decode()
    page.edit("snip", targets="m2 m3 m4 m5")
    assert " saved <b>−" in page.get().content.decode()


def test_the_effective_view_shows_what_the_model_sees(page: Page) -> None:
    page.edit("digest", targets="m2 m3 m4", summary="Three in one")
    page.edit("snip", targets="m6 m7")
    page.edit("insert", after="m0", role="user", text="Between")
    page.view = "effective"
    assert page.rows()[:6] == ["n-m0", "n-o3_0", "n-m1", "n-o1_0", "n-m5", "n-o2"]


def test_the_original_view_shows_the_originals_in_order(page: Page) -> None:
    page.edit("digest", targets="m2 m3 m4", summary="Three in one")
    page.edit("resequence", moved="m10", behind="")
    page.view = "original"
    assert page.rows() == [f"n-m{index}" for index in range(20)]


def test_an_opened_fold_shows_its_originals_and_stays_open_for_this_person(
    page: Page, open_page: Callable[..., Page], owner: User
) -> None:
    page.edit("digest", targets="m2 m3 m4", summary="Three in one")
    answer = page.post("folds/o1", open="1", depth="0")
    assert read(answer).articles == ["n-o1", "n-m2", "n-m3", "n-m4"]
    assert "n-m3" in page.rows()
    assert "n-m3" not in open_page(owner).rows()
    page.post("folds/o1", open="0")
    assert "n-m3" not in page.rows()


def test_folds_open_inside_opened_folds(page: Page) -> None:
    page.edit("revise", targets="m3", text="Other", role="")
    page.edit("digest", targets="m2 m3 m4", summary="Three in one")
    page.post("folds/o2", open="1")
    answer = page.post("folds/o1", open="1", depth="1")
    assert read(answer).articles == ["n-o1", "n-m3"]
    assert "level 2" in answer.content.decode()
    assert page.rows()[2:6] == ["n-o2", "n-m2", "n-o1", "n-m3"]


def test_a_large_fold_opens_with_a_gap_that_can_be_filled(page: Page) -> None:
    more = [Message(role=Role.USER, parts=(Text(f"More {n}"),)) for n in range(180)]
    append_messages(caller_of(page), page.session.pk, more)
    page.session.refresh_from_db()
    targets = " ".join(f"m{index}" for index in range(10, 190))
    page.edit("digest", targets=targets, summary="Many in one")
    content = page.post("folds/o1", open="1").content.decode()
    assert 'data-action="fill"' in content
    assert 'data-start="40" data-count="136"' in content
    rest = page.get("children", operation="o1", start=40, count=136)
    assert len(read(rest).articles) == 100
    assert 'data-start="140" data-count="36"' in rest.content.decode()
    there = page.get("children", operation="o1", start=40, count=136, at=60)
    assert read(there).articles[0] == "n-m70"
    assert 'data-start="40" data-count="20"' in there.content.decode()
    assert 'data-start="160" data-count="16"' in there.content.decode()


def caller_of(page: Page):  # type: ignore[no-untyped-def]
    user = User.objects.get(pk=page.client.session["_auth_user_id"])
    return caller(user)


def test_all_folds_open_and_close_at_once_also_those_that_are_not_loaded(
    page: Page,
) -> None:
    page.edit("digest", targets="m2 m3", summary="Near")
    page.edit("digest", targets="m12 m13", summary="Far")
    page.loaded = "0-5"
    opened = read(page.post("folds", open="1"))
    assert set(opened.articles) == {"n-o1", "n-m2", "n-m3"}
    assert opened.facts["data-splices"] == "[]"
    assert 'id="n-m12"' in page.get("chunk", start=0, count=100).content.decode()
    closed = read(page.post("folds", open="0"))
    assert closed.articles == ["n-o1"]
    assert 'id="n-m12"' not in page.get("chunk", start=0, count=100).content.decode()


def test_a_brief_row_opens_and_closes_again(page: Page) -> None:
    opened = page.post("folds/m2", open="1").content.decode()
    assert 'class="body"' in opened
    assert ">Show less</button>" in opened
    assert 'class="brief"' in page.post("folds/m2", open="0").content.decode()


def test_only_the_section_around_the_anchor_holds_rows(page: Page) -> None:
    more = [Message(role=Role.USER, parts=(Text(f"More {n}"),)) for n in range(480)]
    append_messages(caller_of(page), page.session.pk, more)
    content = page.client.get(page.url, {"at": "m250"}).content.decode()
    assert 'id="n-m250"' in content
    assert 'id="n-m199"' not in content
    assert content.count('<section class="chunk"') == 5
    assert content.count("data-height=") == 4
    assert f"start={2 * SIZE - SIZE}" in content  # without a script: the section before


def test_a_chunk_tells_its_head(page: Page) -> None:
    page.edit("snip", targets="m2 m3")
    answer = page.get("chunk", start=1, count=3)
    assert read(answer).articles == ["n-m1", "n-o1", "n-m4"]
    assert answer["X-Head"] == "1"


def test_a_page_that_is_up_to_date_is_told_nothing(page: Page) -> None:
    assert page.get("changes", since=0, messages=20, loaded="0-20").status_code == 204


def test_the_drawer_of_an_empty_thread_says_where_messages_come_from(
    page: Page, editor: User
) -> None:
    assert "Tick messages or press" in page.get("panel").content.decode()
    new = NewSession(title="Empty")
    page.session = create_session(caller(editor), page.session.project, new)
    said = page.get("panel").content.decode()
    assert "Tick messages" not in said
    assert "Append them through the API" in said
    assert ">import a transcript</a>" in said


@pytest.mark.parametrize("view", View)
def test_every_view_of_an_empty_thread_says_that_there_are_no_messages(
    page: Page, editor: User, view: View
) -> None:
    new = NewSession(title="Empty")
    page.session = create_session(caller(editor), page.session.project, new)
    assert "No messages yet" in page.client.get(page.url, {"view": view}).text


def test_a_page_that_is_behind_gets_the_rows_that_changed(page: Page) -> None:
    page.edit("snip", targets="m2 m3")
    answer = read(page.get("changes", since=0, messages=20, loaded="0-20"))
    assert answer.articles == ["n-o1"]
    assert json.loads(answer.facts["data-splices"]) == [[2, 2, 1]]


def test_messages_that_were_appended_reach_a_page_that_is_behind(page: Page) -> None:
    append_messages(
        caller_of(page),
        page.session.pk,
        [Message(role=Role.USER, parts=(Text("New"),))],
    )
    answer = read(page.get("changes", since=0, messages=20, loaded="0-20"))
    assert answer.articles == ["n-m20"]
    assert answer.facts["data-message-count"] == "21"


def test_bodies_are_rendered_once_and_kept_per_content(page: Page) -> None:
    page.get()
    kept = Rendering.objects.count()
    assert kept == 20
    fragments.rows.clear()
    page.get()
    assert Rendering.objects.count() == kept


def test_a_warm_page_reads_no_body(
    page: Page, django_assert_max_num_queries: Callable[..., object]
) -> None:
    page.get()
    with django_assert_max_num_queries(8) as queries:
        page.get("chunk", start=0, count=20)
    assert not any("threads_body" in query["sql"] for query in queries.captured_queries)


@pytest.mark.parametrize("view", ["annotated", "effective", "original"])
def test_a_session_without_messages_says_so(
    view: str, open_page: Callable[..., Page], editor: User
) -> None:
    page = open_page(editor)
    page.session.messages.all().delete()
    Session.objects.filter(pk=page.session.pk).update(
        message_count=0, original_tokens=0
    )
    assert page.client.get(page.url, {"view": view}).status_code == 200


def test_a_key_that_is_gone_leads_to_the_top(page: Page) -> None:
    assert page.rows(at="o9")[0] == "n-m0"
    assert page.rows(at="nonsense")[0] == "n-m0"


def test_an_unknown_view_is_refused(page: Page) -> None:
    assert page.get(view="sideways").status_code == 422


def test_the_raw_page_shows_what_was_recorded(page: Page) -> None:
    answer = page.get("messages/m1/raw")
    assert "pytest tests/part_1.py" in answer.content.decode()


def test_what_the_model_sees_can_be_downloaded(page: Page) -> None:
    page.edit("digest", targets="m1 m2 m3 m4", summary="Four in one")
    answer = page.get("export", format="openai", view="effective")
    content = b"".join(answer.streaming_content)  # type: ignore[attr-defined]
    assert b"Four in one" in content
    assert b'"Words 1"' not in content


def test_who_may_only_propose_is_offered_no_switch(
    page: Page, open_page: Callable[..., Page], reviewer: User
) -> None:
    page.edit("digest", targets="m2 m3", summary="Sum")
    mine, theirs = (
        one.client.get(one.url).content.decode() for one in (page, open_page(reviewer))
    )
    assert "data-may-edit" in mine
    assert "data-may-edit" not in theirs
    row = theirs[theirs.index('id="p-o1"') :]
    row = row[: row.index("</li>")]
    assert '<span class="op-state">On</span>' in row
    assert 'data-action="toggle"' not in row
    assert ">Turn off</span>" in mine
    assert ">Turn off</span>" not in theirs
