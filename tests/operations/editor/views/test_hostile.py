"""Transcripts that want more than to be read: the page shows them and nothing else happens."""

from collections.abc import Callable

import pytest

from contextstudio.accounts.models import Project, User
from tests.operations.conftest import Page
from tests.people import caller
from threads.domain.message import Message, Role
from threads.domain.part import Image, Opaque, Text, Thinking, ToolCall, ToolResult
from threads.models import Session
from threads.sessions.services import NewSession, create_session

from .hostile import EVIL, SENT, inert, watched

MESSAGES = [
    Message(role=Role.SYSTEM, parts=(Text(EVIL),)),
    Message(role=Role.USER, parts=(Text(EVIL),), model=EVIL),
    Message(
        role=Role.ASSISTANT,
        parts=(Thinking(EVIL), Text(EVIL), ToolCall("1", EVIL, EVIL)),
    ),
    Message(role=Role.TOOL, parts=(ToolResult("1", (Text(EVIL),), EVIL, True),)),
    Message(role=Role.ASSISTANT, parts=(ToolCall(EVIL, "bash", {EVIL: [EVIL]}),)),
    Message(role=Role.TOOL, parts=(Text(EVIL), Opaque(EVIL, {EVIL: EVIL}))),
    Message(role=Role.USER, parts=(Image("image/svg+xml", url=EVIL),)),
]


@pytest.fixture
def session(editor: User, project: Project) -> Session:
    """A session whose every text is hostile, also its title."""
    return create_session(
        caller(editor), project, NewSession(title=EVIL, messages=MESSAGES)
    )


@pytest.mark.parametrize("view", ["annotated", "effective", "original"])
def test_every_view_shows_it_inertly(page: Page, view: str) -> None:
    inert(watched(page.client.get(page.url, {"view": view})))


def test_whole_rows_show_it_inertly(page: Page) -> None:
    for index in range(len(MESSAGES)):
        inert(watched(page.post(f"folds/m{index}", open="1")))


def test_markers_slips_and_drawer_show_it_inertly(page: Page) -> None:
    page.edit("digest", targets="m2 m3", summary=SENT)
    page.edit("insert", after="m0", role="user", text=SENT)
    page.edit("revise", targets="m1", text="<script>alert(2)</script>", role="")
    page.edit("tag", targets="m0", tags="<script>alert(3)</script>")
    page.post("folds/o1", open="1")
    inert(watched(page.client.get(page.url)))
    for path in ("panel", "log", "outline"):
        inert(watched(page.get(path)))


def test_dialogs_show_it_inertly(page: Page) -> None:
    page.edit("digest", targets="m2 m3", summary="<script>alert(2)</script>")
    for kind in ("amend", "versions", "left-out"):
        inert(watched(page.get(f"dialogs/{kind}", operation="o1")))
    for kind in ("revise", "digest"):
        inert(watched(page.get(f"dialogs/{kind}", targets="m1 m2")))


def test_the_list_shows_it_inertly(page: Page) -> None:
    inert(watched(page.client.get("/sessions/")))


def test_the_raw_page_can_not_act(page: Page) -> None:
    answer = page.get("messages/m1/raw")
    inert(watched(answer))
    assert b"&lt;script&gt;alert(1)" in answer.content
    assert answer["X-Content-Type-Options"] == "nosniff"


def test_what_is_sent_in_place_of_keys_and_numbers_is_refused_in_words(
    page: Page, open_page: Callable[..., Page]
) -> None:
    for path, fields in (
        ("chunk", {"start": SENT}),
        ("chunk", {"start": "١"}),
        ("locate", {"number": "9" * 30}),
        ("changes", {"since": "-1"}),
        ("changes", {"since": "1", "loaded": "x-y"}),
        ("log", {"before": "x"}),
        ("export", {"format": "exe"}),
        ("export", {"view": "sideways"}),
    ):
        assert page.get(path, **fields).status_code == 422, path
    assert page.get("locate", key=SENT).status_code == 204
    gap = page.get("children", operation=SENT, start="0", count="1")
    assert gap.status_code == 404
    assert page.get("selection", keys=SENT).json()["keys"] == []
    assert page.edit(SENT, targets="m1").status_code == 422
