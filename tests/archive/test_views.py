"""The page of memos, and of recalling what a reference names."""

from collections.abc import Callable

import pytest
from django.test import Client

from archive.models import Memo, MemoReader
from contextstudio.accounts.models import Project, User
from operations.domain.log.operation import Redact
from operations.domain.tree.span import Span, fingerprint
from operations.edits.services import record_edit
from tests.operations.editor.views.hostile import SENT
from tests.people import caller
from threads.domain.message import Message, Role
from threads.domain.part import Text
from threads.models import Message as Row
from threads.models import Session
from threads.sessions.services import NewSession, create_session

UTC = "Moments are stored in UTC."


@pytest.fixture
def session(editor: User, project: Project) -> Session:
    """One message of three lines."""
    said = Message(role=Role.USER, parts=(Text("one\ntwo\nthree"),))
    return create_session(caller(editor), project, NewSession(messages=[said]))


@pytest.fixture
def browse(session: Session) -> Callable[[User], Client]:
    def of(user: User) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return of


def text(client: Client, session: Session, **fields: str) -> str:
    answer = client.get(f"/sessions/{session.pk}/memos", fields)
    assert answer.status_code == 200
    return str(answer.content.decode())


def test_a_memo_is_saved_found_and_looking_makes_it_no_layer(
    session: Session, editor: User, viewer: User, browse: Callable[[User], Client]
) -> None:
    client, address = browse(editor), f"/sessions/{session.pk}/memos"
    assert "No memos yet." in text(client, session)
    assert not MemoReader.objects.exists()
    assert client.post(address, {"content": " "}).status_code == 422
    crowd = {"content": "x", "tags": " ".join(f"t{n}" for n in range(21))}
    assert client.post(address, crowd).status_code == 422
    saved = client.post(address, {"content": UTC, "tags": "#time, gotcha"})
    assert saved.status_code == 302
    memo = Memo.objects.get()
    assert (memo.tags, memo.session) == (["time", "gotcha"], session)
    client.post(address, {"content": "Seats are held."})
    for fields in ({"q": "which moments"}, {"tag": "time"}):
        found = text(client, session, **fields)
        assert UTC in found
        assert str(memo.pk) in found
        assert "Seats are held." not in found
    read = text(browse(viewer), session)
    assert UTC in read
    assert "Save a memo" not in read
    assert browse(viewer).post(address, {"content": "x"}).status_code == 403


def test_a_change_that_is_refused_stays_at_its_memo(
    session: Session, editor: User, browse: Callable[[User], Client]
) -> None:
    client, address = browse(editor), f"/sessions/{session.pk}/memos"
    client.post(address, {"content": UTC, "tags": '"time zones" gotcha'})
    memo = Memo.objects.get()
    shown = text(client, session)
    assert f'id="id_{memo.pk}_content"' in shown
    assert f'<label for="id_{memo.pk}_content">' in shown
    assert shown.count(f'id="memo-{memo.pk}"') == 1
    assert 'value="&quot;time zones&quot; gotcha"' in shown
    change = {"content": "Local time.", "tags": " ".join(f"t{n}" for n in range(21))}
    for n in range(20):
        client.post(address, {"content": f"Something newer {n}."})
    refused = client.post(f"{address}/{memo.pk}?q=moments", change)
    assert refused.status_code == 422
    page = refused.content.decode()
    assert f'id="id_{memo.pk}_tags_error">A memo has at most 20 tags.' in page
    assert page.count("Local time.</textarea>") == 1
    blank = client.post(f"{address}/{memo.pk}", {"content": " ", "tags": ""})
    assert blank.status_code == 422
    memo.refresh_from_db()
    assert bytes(memo.content).decode() == UTC


def test_a_tag_is_changed_without_the_words_that_a_redaction_masks(
    session: Session, editor: User, browse: Callable[[User], Client]
) -> None:
    client, address = browse(editor), f"/sessions/{session.pk}/memos"
    client.post(address, {"content": "It says two there."})
    covered = Span(key="m0", part=0, start=4, end=7, sha256=fingerprint("two"))
    record_edit(caller(editor), session.pk, Redact(spans=(covered,)))
    assert "It says [redacted] there.</textarea>" in text(client, session)
    memo = Memo.objects.get()
    change = {"content": "It says [redacted] there.", "tags": "numbers"}
    assert client.post(f"{address}/{memo.pk}", change).status_code == 302
    memo.refresh_from_db()
    assert memo.tags == ["numbers"]
    assert bytes(memo.content).decode() == "It says two there."


def test_what_a_reference_names_is_shown_or_why_it_names_nothing(
    session: Session, editor: User, browse: Callable[[User], Client]
) -> None:
    client = browse(editor)
    name = Row.objects.get(session=session).short_id
    for reference in ("m0", name, f"[recall:{name}]"):
        shown = text(client, session, ref=reference, lines="2-3")
        assert ">two\nthree</pre>" in shown
        assert f'href="/sessions/{session.pk}/?at=m0#n-m0">Open in thread</a>' in shown
    assert "Reference not found: m7" in text(client, session, ref="m7")
    assert "Give lines as a range" in text(client, session, ref="m0", lines="x")


def test_a_stranger_finds_no_memos(
    session: Session, stranger: User, browse: Callable[[User], Client]
) -> None:
    client, address = browse(stranger), f"/sessions/{session.pk}/memos"
    assert client.get(address).status_code == 404
    assert client.post(address, {"content": "x"}).status_code == 404


def test_hostile_memos_and_references_stay_words(
    session: Session, editor: User, browse: Callable[[User], Client]
) -> None:
    client, address = browse(editor), f"/sessions/{session.pk}/memos"
    client.post(address, {"content": SENT, "tags": '"><b>x'})
    for fields in ({}, {"q": SENT}, {"ref": SENT}, {"tag": SENT}):
        shown = text(client, session, **fields)
        assert "<script>alert" not in shown
        assert "<svg onload" not in shown
        assert "<b>x" not in shown
