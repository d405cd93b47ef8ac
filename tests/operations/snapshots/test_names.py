"""Names of snapshots are masked as all other text of their session."""

from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client

from operations.models import Snapshot
from tests.operations.conftest import Page
from tests.operations.support.rest import Tools, get, make_session, operate, post

SECRET = "sk-123456"
PATTERN = {"start": "Question 5"}


@pytest.fixture
def session_id(agent: Client) -> str:
    return make_session(agent, [{"role": "user", "content": f"The key is {SECRET}."}])


@pytest.fixture
def path(session_id: str) -> str:
    return f"/api/sessions/{session_id}"


def take(client: Client, path: str, name: str, *, expect: int = 201) -> Any:
    return post(client, f"{path}/snapshots", {"name": name}, expect=expect)


def redact(client: Client, session_id: str) -> Any:
    return operate(client, session_id, "redact", patterns=[{"start": SECRET}])


def names(client: Client, path: str) -> list[str]:
    return [one["name"] for one in get(client, f"{path}/snapshots")["items"]]


def test_a_redaction_masks_names_while_it_is_on(
    agent: Client, session_id: str, path: str
) -> None:
    take(agent, path, f"Before {SECRET}")
    redaction = redact(agent, session_id)
    assert names(agent, path) == ["Before [redacted]"]
    get(agent, f"{path}/snapshots/Before%20{SECRET}", expect=404)
    point = f"{path}/snapshots/{quote('Before [redacted]')}"
    assert get(agent, point)["name"] == "Before [redacted]"
    post(agent, f"{point}/restore")
    assert SECRET not in str(get(agent, f"{path}/log"))
    post(agent, f"/api/operations/{redaction['operation_id']}/toggle", {"active": 0})
    assert names(agent, path) == [f"Before {SECRET}"]


def test_two_that_would_read_the_same_are_told_apart(
    agent: Client, session_id: str, path: str
) -> None:
    for name in (f"At {SECRET}", "At [redacted]", "x" * 97 + SECRET[:3]):
        take(agent, path, name)
    redact(agent, session_id)
    both = ["At [redacted] (2)", "At [redacted]"]
    assert names(agent, path)[1:] == both
    for name in both:
        assert agent.delete(f"{path}/snapshots/{quote(name)}").status_code == 204
    assert len(names(agent, path)) == 1


def test_a_name_is_taken_without_what_is_masked(
    agent: Client, session_id: str, path: str
) -> None:
    redact(agent, session_id)
    assert take(agent, path, f"At {SECRET}")["name"] == "At [redacted]"
    assert take(agent, path, f"At {SECRET}", expect=409)["code"] == "taken"
    assert SECRET not in str(list(Snapshot.objects.values()))


@pytest.mark.django_db(transaction=True)
def test_what_was_purged_is_masked_in_names_for_good(
    agent: Client, session_id: str, path: str
) -> None:
    for name in (f"At {SECRET}", "At [redacted]", "At other words"):
        take(agent, path, name)
    redact(agent, session_id)
    before = names(agent, path)
    Tools(agent, session_id)("remove_group", group_id=1)
    assert names(agent, path) == before
    assert SECRET not in str(list(Snapshot.objects.values()))


def test_the_pages_show_masked_names_and_go_by_them(page: Page) -> None:
    page.post("snapshots", name="At Question 5")
    operate(page.client, str(page.session.pk), "redact", patterns=[PATTERN])
    for shown in ("log", "context"):
        path = f"/sessions/{page.session.pk}/{shown}"
        words = page.client.get(path).content.decode()
        assert "At Question 5" not in words and "At [redacted]" in words
    assert page.post("snapshots/restore", name="At Question 5").status_code == 404
    assert page.post("snapshots/restore", name="At [redacted]").status_code == 200
