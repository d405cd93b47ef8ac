"""The record of a key's requests: what is in it, how long it is, and that nobody waits for it."""

import asyncio
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from contextstudio.accounts.jobs import housekeeping
from contextstudio.accounts.keys import request_log
from contextstudio.accounts.keys.request_log import (
    has_pending,
    note_key,
    note_session,
    note_tool,
    noting_request,
    write_pending,
)
from contextstudio.accounts.models import ApiKey, KeyRequest, Project, User
from contextstudio.accounts.selectors import REQUESTS_SHOWN
from contextstudio.web.request_log import RequestLog
from tests.people import key_of
from threads.models import Session

SESSION = uuid.UUID(int=1)


@pytest.fixture(autouse=True)
def nothing_waits() -> None:
    request_log._pending.clear()


@pytest.fixture
def row(key: str) -> ApiKey:
    return ApiKey.objects.get()


def ask(path: str, key: ApiKey, status: int = 200, *, tool: str = "") -> None:
    with noting_request("GET", path) as note:
        note_key(key.pk)
        note_session(SESSION)
        note_session(uuid.UUID(int=2))
        note_tool(tool)
        note.status = status


@pytest.mark.parametrize(
    ("path", "tool", "route"),
    [
        (f"/api/sessions/{SESSION}/thread", "", "/api/sessions/{session_id}/thread"),
        (
            f"/sessions/{SESSION}/operations/o7/on",
            "",
            "/sessions/{session_id}/operations/{key}/{verb}",
        ),
        ("/api/tools/recall", "recall", "/api/tools/recall"),
        ("/mcp", "snip_messages", "/mcp snip_messages"),
        ("/no/such/place\x00" + "x" * 500, "", ("/no/such/place" + "x" * 500)[:200]),
    ],
)
def test_a_request_is_recorded_with_its_route_status_and_session(
    row: ApiKey, path: str, tool: str, route: str
) -> None:
    ask(path, row, 404, tool=tool)
    write_pending()
    found = KeyRequest.objects.get()
    assert (found.key, found.method, found.status) == (row, "GET", 404)
    assert (found.session_id, found.route) == (SESSION, route)
    assert not has_pending()


def test_what_came_with_no_key_or_was_never_answered_is_not_recorded(
    row: ApiKey,
) -> None:
    with noting_request("GET", "/") as note:
        note.status = 200
    ask("/", row, 0)
    note_key(row.pk)  # outside any request
    assert not has_pending()


def test_the_newest_of_each_key_stay(
    owner: User, project: Project, row: ApiKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_log, "MAX_KEPT", 3)
    key_of(owner, project, name="other")
    other = ApiKey.objects.get(name="other")
    ask("/", other)
    for status in range(200, 205):
        ask("/", row, status)
    write_pending()
    ask("/", row, 205)
    write_pending()
    of_row = row.requests.order_by("pk").values_list("status", flat=True)
    assert list(of_row) == [203, 204, 205]
    assert other.requests.count() == 1


def test_old_ones_are_forgotten(row: ApiKey) -> None:
    ask("/", row)
    ask("/", row)
    write_pending()
    old = timezone.now() - request_log.RETENTION - timedelta(hours=1)
    first = KeyRequest.objects.order_by("pk")[0]
    KeyRequest.objects.filter(pk=first.pk).update(at=old)
    housekeeping.clean()
    assert KeyRequest.objects.count() == 1


def test_where_the_database_is_busy_the_notes_wait(
    row: ApiKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    for status in (200, 201):
        ask("/", row, status)

    def busy(write: Any) -> bool:
        ask("/", row, 202)  # while it is tried, the next comes
        return False

    monkeypatch.setattr(request_log, "write_if_free", busy)
    write_pending()
    assert has_pending()
    monkeypatch.undo()
    write_pending()
    statuses = KeyRequest.objects.order_by("pk").values_list("status", flat=True)
    assert list(statuses) == [200, 201, 202]


def test_what_a_key_that_is_gone_asked_is_left_out(row: ApiKey) -> None:
    ask("/", row)
    row.delete()
    write_pending()
    assert not KeyRequest.objects.exists()
    assert not has_pending()


@pytest.mark.django_db(transaction=True)
def test_the_server_notes_what_came_with_a_key_and_writes_it_after_a_moment(
    row: ApiKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("contextstudio.web.request_log.PAUSE", 0.0)

    async def site(scope: Any, receive: Any, send: Any) -> None:
        note_key(row.pk)
        await send({"type": "http.response.start", "status": 201, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def go() -> None:
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {"type": "http", "method": "POST", "path": "/api/sessions"}
        await RequestLog(site)(scope, send, send)
        assert [one["type"] for one in sent] == [
            *("http.response.start", "http.response.body")
        ]
        assert has_pending()  # the answer was sent before anything was written
        while has_pending() or len(asyncio.all_tasks()) > 1:
            await asyncio.sleep(0)

    asyncio.run(go())
    found = KeyRequest.objects.get()
    assert (found.method, found.route, found.status) == ("POST", "/api/sessions", 201)


def test_the_page_shows_them_newest_first_and_leads_on(
    client: Client, owner: User, row: ApiKey
) -> None:
    client.force_login(owner)
    for number in range(REQUESTS_SHOWN):
        ask("/api/sessions", row, 200 + number % 2)
    write_pending()
    assert client.get(f"/settings/keys/{row.pk}/").context["older"] is None
    ask("/api/sessions", row, 200)
    write_pending()
    page = client.get(f"/settings/keys/{row.pk}/")
    assert len(page.context["requests"]) == REQUESTS_SHOWN
    older = client.get(f"/settings/keys/{row.pk}/?before={page.context['older']}")
    assert len(older.context["requests"]) == 1
    wrong = client.get(f"/settings/keys/{row.pk}/?before={'9' * 40}")
    assert wrong.status_code == 200


def test_the_page_names_sessions_as_they_are_called_to_who_may_see_them(
    client: Client, owner: User, project: Project, stranger: User, row: ApiKey
) -> None:
    elsewhere = Project.objects.get(slug="other")
    made = [
        Session.objects.create(project=one, title=title, deleted_at=deleted)
        for one, title, deleted in (
            (project, "About the port", None),
            (project, "Thrown away", timezone.now()),
            (elsewhere, "Of others", None),
        )
    ]
    for session in made:
        KeyRequest.objects.create(
            key=row, at=timezone.now(), method="GET", status=200, session_id=session.pk
        )
    client.force_login(owner)
    page = client.get(f"/settings/keys/{row.pk}/").content.decode()
    seen, *others = made
    assert f'href="/sessions/{seen.pk}/">About the port</a>' in page
    for session in others:
        assert f"/sessions/{session.pk}/" not in page
        assert session.title not in page
