"""`query_db`: a session's own history in SQL."""

import json

import pytest
from django.test import Client

from contextstudio.accounts.models import Project, User
from operations.domain.log.operation import Redact
from operations.domain.tree.span import Span, fingerprint
from operations.edits import services
from operations.tools.query_db.query import run_query
from tests.people import caller, key_of
from threads.models import Session
from threads.store.originals import load_messages

pytestmark = pytest.mark.django_db(transaction=True)
MESSAGES = [
    {"role": "system", "content": "You build ships."},
    {"role": "user", "content": "Where is the refactor plan?\0 \ud83d token-4711"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "c1",
                "type": "function",
                "function": {"name": "bash", "arguments": '{"command": "ls plans"}'},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "plan.md"},
    {"role": "assistant", "content": "In plan.md."},
    {"role": "user", "content": "Thanks."},
    {"role": "assistant", "content": "Gladly."},
]


@pytest.fixture
def headers(owner: User, project: Project) -> dict[str, str]:
    return {"Authorization": f"Bearer {key_of(owner, project)}"}


def post(path: str, body: object, headers: dict[str, str]) -> dict[str, object]:
    data = json.dumps(body)
    answer = Client().post(f"/api{path}", data, "application/json", headers=headers)
    assert answer.status_code < 300, answer.content
    return answer.json()


@pytest.fixture
def session(headers: dict[str, str]) -> Session:
    made = post("/sessions", {"messages": MESSAGES}, headers)
    return Session.objects.get(pk=made["id"])


def edit(session: Session, headers: dict[str, str], **fields: object) -> None:
    post(f"/sessions/{session.pk}/operations", fields, headers)
    session.refresh_from_db()


def ask(session: Session, sql: str) -> list[list[object]]:
    return run_query(session, sql)["rows"]


def test_the_seeds_own_query_finds_the_plan(session: Session):
    answered = run_query(
        session,
        "SELECT role, content FROM messages WHERE status != 'dropped'"
        " AND content LIKE '%refactor plan%' ORDER BY id DESC LIMIT 5;",
    )
    words = "Where is the refactor plan?\ufffd ? token-4711"
    assert answered == {
        "columns": ["role", "content"],
        "rows": [["user", words]],
        "truncated": False,
    }


def test_rows_are_originals_with_what_they_are(session: Session):
    rows = ask(session, "SELECT id, key, group_id, tool_name, status FROM messages")
    assert rows == [
        [0, "m0", 0, None, "active"],
        [1, "m1", 1, None, "active"],
        [2, "m2", 1, "bash", "tool_call"],
        [3, "m3", 1, "bash", "tool_call"],
        [4, "m4", 1, None, "active"],
        [5, "m5", 2, None, "active"],
        [6, "m6", 2, None, "active"],
    ]
    assert ask(session, "SELECT content FROM messages WHERE id IN (2, 3)") == [
        ["bash\nls plans"],
        ["plan.md"],
    ]


def test_status_and_tags_are_those_of_the_thread(
    session: Session, headers: dict[str, str]
):
    edit(session, headers, type="tag", start_idx=4, end_idx=4, tags=["done"])
    edit(session, headers, type="snip", start_idx=5, end_idx=5)
    edit(session, headers, type="digest", start_idx=4, end_idx=6, summary="Plans.")
    found = ask(session, "SELECT id, status, tags FROM messages WHERE id > 2")
    assert found == [
        [3, "tool_call", "[]"],
        [4, "folded", '["done"]'],
        [5, "dropped", "[]"],
        [6, "folded", "[]"],
    ]


def test_what_is_redacted_is_not_there(session: Session, owner: User):
    words = load_messages(session, 1, 2)[0].parts[0].text
    start = words.index("4711")
    span = Span(
        key="m1", part=0, start=start, end=start + 4, sha256=fingerprint("4711")
    )
    edit = Redact(spans=(span,))
    services.record_edit(caller(owner), session.pk, edit)
    session.refresh_from_db()
    assert ask(session, "SELECT id FROM messages WHERE content LIKE '%4711%'") == []
    assert ask(
        session, "SELECT content LIKE '%token-[redacted]' FROM messages WHERE id = 1"
    ) == [[1]]
