"""`If-Match` is compared wherever a write belongs to a session, and refused everywhere else."""

from typing import Any

import pytest
from django.test import Client

from contextstudio.accounts.models import Project, User
from tests.people import client_of, key_of
from threads.models import Session

from .gated_routes import TABLE, GatedRoute
from .test_gate_of_every_url import knock, places

__all__ = ["places"]

SESSION = "api/sessions/{session}"
UNKNOWN = {"POST api/sessions/{deleted}/restore", "POST api/tools/dance"}
WRITES = (
    ("post", "/messages", {"messages": [{"role": "user", "content": "more"}]}, 201),
    ("patch", "", {"title": "New"}, 200),
    ("put", "/scratchpad", {"content": "noted"}, 200),
    ("put", "/state", {"content": "### STATE"}, 200),
    ("delete", "", None, 204),
)


@pytest.fixture
def session(agent: Client) -> Session:
    """A session with four messages whose log is at entry 1."""
    said = [{"role": "user", "content": f"said {number}"} for number in range(4)]
    made = agent.post("/api/sessions", {"messages": said}, "application/json").json()
    snip = {"type": "snip", "range": [0, 0]}
    agent.post(f"/api/sessions/{made['id']}/operations", snip, "application/json")
    return Session.objects.get(pk=made["id"])


def write(
    agent: Client, session: Session, write: tuple[str, str, Any, int], **headers: str
) -> Any:
    method, path, body, _ = write
    address = f"/api/sessions/{session.pk}{path}"
    return getattr(agent, method)(address, body, "application/json", headers=headers)


def is_write(row: GatedRoute) -> bool:
    return row.path.startswith("api/") and row.method not in ("GET", "FORM", "FILE")


@pytest.mark.sqlite  # what is compared is the same in every database
def test_every_route_compares_the_head_or_says_that_it_has_none(
    places: dict[str, str], owner: User, project: Project
) -> None:
    key = key_of(owner, project)
    stale = Client(headers={"Authorization": f"Bearer {key}", "If-Match": '"999"'})
    for row in filter(is_write, TABLE):
        name, status = f"{row.method} {row.path}", knock(stale, row, places)
        # What is missing from a tool's arguments is told before its head is compared.
        of_session = row.path.startswith(SESSION)
        expected = {409} if of_session else {409, 422}
        assert status in expected or name in UNKNOWN, name


@pytest.mark.django_db
@pytest.mark.parametrize("wanted", WRITES, ids=lambda write: " ".join(write[:2]))
def test_a_write_to_a_session_needs_the_head_that_its_caller_names(
    wanted: tuple[str, str, Any, int], agent: Client, session: Session
) -> None:
    refused = write(agent, session, wanted, **{"If-Match": '"0"'})
    document = refused.json()
    assert (refused.status_code, document["code"]) == (409, "stale_head")
    assert (document["head"], document["at"]) == (1, ["If-Match"])
    left = Session.objects.get(pk=session.pk)
    assert (left.message_count, left.title, left.deleted_at) == (4, session.title, None)
    read = agent.get(f"/api/sessions/{session.pk}/scratchpad").json()
    assert read["content"] == ""
    answer = write(agent, session, wanted, **{"If-Match": '"1"'})
    assert answer.status_code == wanted[3]


@pytest.mark.django_db
def test_a_refused_write_under_a_head_leaves_nothing(
    agent: Client, session: Session
) -> None:
    said = {"messages": [{"role": "user", "content": "x"}], "expected_count": 9}
    append = ("post", "/messages", said, 201)
    refused = write(agent, session, append, **{"If-Match": '"1"'})
    assert refused.json()["code"] == "stale_count"
    session.refresh_from_db()
    assert session.message_count == 4


@pytest.mark.django_db
def test_a_repeat_is_answered_whatever_was_recorded_since(
    agent: Client, session: Session
) -> None:
    twice = {"If-Match": '"1"', "Idempotency-Key": "one"}
    first = write(agent, session, WRITES[0], **twice)
    snip = ("post", "/operations", {"type": "snip", "range": [1, 1]}, 201)
    assert write(agent, session, snip).status_code == 201
    again = write(agent, session, WRITES[0], **twice)
    assert again["Idempotent-Replayed"] == "true"
    assert again.json() == first.json()


@pytest.mark.django_db
def test_what_belongs_to_no_session_says_so_and_changes_nothing(agent: Client) -> None:
    refused = agent.post(
        "/api/sessions", {}, "application/json", headers={"If-Match": '"1"'}
    )
    assert (refused.status_code, refused.json()["at"]) == (422, ["If-Match"])
    assert not Session.objects.exists()


@pytest.mark.django_db
def test_a_stranger_learns_nothing_of_a_head(session: Session, stranger: User) -> None:
    other = client_of(stranger, Project.objects.get(slug="other"))
    for asking, status in ((other, 404), (Client(), 401)):
        refused = write(asking, session, WRITES[1], **{"If-Match": '"0"'})
        assert refused.status_code == status
        assert "head" not in refused.json()
