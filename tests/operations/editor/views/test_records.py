"""The records of a session that are no messages, and where a session comes from."""

import io
import json
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.models import Project, User
from contextstudio.accounts.selectors import caller_of_user
from operations.domain.log.operation import Redact
from operations.domain.tree.span import Span, fingerprint
from operations.edits import services
from tests.threads.support.stub_format import FORMAT, says, stub
from threads import imports
from threads.domain import formats
from threads.imports.upload import keep_upload
from threads.models import Event, Message, Session
from threads.store import blobs, records


@pytest.fixture
def caller(owner: User, monkeypatch: pytest.MonkeyPatch) -> Caller:
    monkeypatch.setattr(formats, "ALL_FORMATS", (FORMAT, *formats.ALL_FORMATS))
    return caller_of_user(owner)


@pytest.fixture
def browser(client: Client, owner: User) -> Client:
    client.force_login(owner)
    return client


def take(caller: Caller, project: Project, *lines: Any, **head: Any) -> Session:
    stream = io.BytesIO(stub(*lines, **head))
    upload = keep_upload(stream, name="talk.stub")
    return imports.import_upload(caller, project, upload).sessions[0]


def content(browser: Client, address: str, **fields: str) -> str:
    answer = browser.get(address, fields)
    assert answer.status_code == 200
    return answer.content.decode()


def test_events_are_listed_by_type_and_paged(
    browser: Client, caller: Caller, project: Project
) -> None:
    events = [{"event": "tick", "n": f"<{n}>"} for n in range(32)]
    session = take(caller, project, *says("one"), *events, {"event": "mode"}, id="a")
    address = f"/sessions/{session.pk}/events"
    page = content(browser, address)
    assert "&lt;0&gt;" in page
    assert "&lt;31&gt;" not in page
    assert "tick, 32" in page
    last = Event.objects.order_by("pk")[29].pk
    assert "&lt;31&gt;" in content(browser, address, after=str(last), type="tick")
    assert "tick, 32" in content(browser, address, type="mode")
    assert "No events" in content(browser, address, type="none")


def test_a_long_record_is_shown_whole_on_its_own(
    browser: Client, caller: Caller, project: Project
) -> None:
    session = take(
        caller, project, *says("one"), {"event": "x", "y": "z" * 9000}, id="a"
    )
    event = Event.objects.get()
    address = f"/sessions/{session.pk}/events"
    assert "z" * 3001 not in content(browser, address)
    assert "z" * 9000 in content(browser, f"{address}/{event.pk}")
    assert browser.get(f"{address}/{event.pk + 1}").status_code == 404


def test_events_are_not_shown_where_something_is_redacted(
    browser: Client, caller: Caller, project: Project
) -> None:
    echo = {"event": "echo", "of": "secret"}
    session = take(caller, project, *says("secret"), echo, id="a")
    sha256 = fingerprint("secret")
    span = Span(key="m0", part=0, start=0, end=6, sha256=sha256)
    edit = Redact(spans=(span,))
    services.record_edit(caller, session.pk, edit)
    page = content(browser, f"/sessions/{session.pk}/events")
    assert "secret" not in page
    assert "redacted" in page


def test_a_session_says_where_it_comes_from_and_what_came_from_it(
    browser: Client, caller: Caller, project: Project
) -> None:
    parent = take(caller, project, *says("one"), {"event": "x"}, id="a", title="Top")
    made = {"external_id": "a", "relation": "subagent"}
    child = take(caller, project, *says("two"), id="b", title="Sub", parent=made)
    page = content(browser, f"/sessions/{parent.pk}/")
    assert f"/sessions/{child.pk}/" in page
    assert "Sub-agents" in page
    assert "talk.stub" in page
    assert "1 record kept as events" in page
    page = content(browser, f"/sessions/{child.pk}/")
    assert f"/sessions/{parent.pk}/" in page
    assert "Sub-agent of" in page
    assert "Sub-agent of" in content(browser, "/sessions/")
    browser.post(f"/sessions/{parent.pk}/delete")
    assert "Sub-agent of" not in content(browser, f"/sessions/{child.pk}/")
    assert "Sub-agent of" not in content(browser, "/sessions/")


def test_of_many_children_the_first_are_listed(
    browser: Client,
    caller: Caller,
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("threads.store.origins.MAX_LISTED", 2)
    parent = take(caller, project, *says("one"), id="a")
    for name in "bcd":
        made = {"external_id": "a", "relation": "subagent"}
        take(caller, project, *says(name), id=name, title=name, parent=made)
    assert "and 1 more" in content(browser, f"/sessions/{parent.pk}/")


def test_a_record_whose_file_is_gone_is_said_to_be(
    browser: Client, caller: Caller, project: Project
) -> None:
    session = take(caller, project, *says("one"), {"event": "x"}, id="a")
    blobs.discard(Event.objects.get().source.sha256)
    assert "Its file has been deleted" in content(
        browser, f"/sessions/{session.pk}/events"
    )


def test_a_record_that_is_too_long_for_the_page_is_had_as_a_file(
    browser: Client,
    caller: Caller,
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(records, "MAX_SHOWN", 10)
    monkeypatch.setattr(records, "_PIECE", 4)
    session = take(caller, project, *says("one longer text"), id="a")
    address = f"/sessions/{session.pk}/messages/m0/raw"
    page = content(browser, address)
    locator = Message.objects.get().records[0]
    href = f"?{urlencode({'record': locator})}"
    assert f'href="{href}"' in page
    answer = browser.get(address + href)
    assert json.loads(answer.getvalue())["say"] == "one longer text"
    assert answer["Content-Disposition"] == 'attachment; filename="m0.txt"'
    for other in ("bytes:0-5", "row:x/1", "x"):
        assert browser.get(address, {"record": other}).status_code == 404


def test_a_record_with_something_redacted_is_no_file(
    browser: Client, caller: Caller, project: Project
) -> None:
    session = take(caller, project, *says("a secret word"), id="a")
    locator = Message.objects.get().records[0]
    span = Span(key="m0", part=0, start=2, end=8, sha256=fingerprint("secret"))
    services.record_edit(caller, session.pk, Redact(spans=(span,)))
    address = f"/sessions/{session.pk}/messages/m0/raw"
    assert browser.get(address, {"record": locator}).status_code == 404
