"""Originals that are kept with their words: each read once, and gone after a purge."""

from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from django.test import Client

from operations.edits import purging
from operations.log.cache import forget_everything
from operations.messages import reader
from tests.operations.support.rest import Tools, get, make_session, operate, post, said
from threads.models import Session
from threads.store.originals import Original, load_recorded_at

COUNT = 6


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[list[int]]]:
    """The indexes of the originals that were read, each time; all of them are kept."""
    found: list[list[int]] = []

    def load(session: Session, indexes: Iterable[int]) -> dict[int, Original]:
        found.append(sorted(indexes))
        return load_recorded_at(session, found[-1])

    monkeypatch.setattr(reader, "FEW", 0)
    monkeypatch.setattr(reader, "load_recorded_at", load)
    forget_everything()
    yield found
    forget_everything()


def words(client: Client, session_id: str) -> list[Any]:
    found = get(client, f"/api/sessions/{session_id}/context", provider="openai")
    return [message["content"] for message in found["messages"]]


@pytest.mark.django_db(transaction=True)
def test_what_was_read_is_not_read_again_when_a_session_changes(
    agent: Client, read: list[list[int]]
) -> None:
    session_id = make_session(agent, COUNT)
    assert words(agent, session_id) == [one["content"] for one in said(COUNT)]
    operate(agent, session_id, "snip", range=[1, 1])
    operate(agent, session_id, "revise", range=[3, 3], replacements=said(1))
    assert words(agent, session_id)[:3] == ["message 0", "message 2", "message 0"]
    assert read == [list(range(COUNT))]
    more = {"messages": said(1)}
    post(agent, f"/api/sessions/{session_id}/messages", more, expect=201)
    assert words(agent, session_id)[-1] == "message 0"
    assert read[1:] == [[COUNT]]


@pytest.mark.django_db(transaction=True)
def test_words_that_are_purged_are_kept_no_longer(
    agent: Client, read: list[list[int]]
) -> None:
    session_id = make_session(agent, COUNT)
    assert "message 2" in words(agent, session_id)
    tools = Tools(agent, session_id)
    tools("remove_group", group_id=2)
    assert not reader._kept.values()
    tools("undo_operation", session_id=session_id)
    assert "message 2" not in str(words(agent, session_id))
    assert len(read) == 2


@pytest.mark.django_db(transaction=True)
def test_words_that_another_process_purged_are_kept_no_longer(
    agent: Client, read: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(purging, "forget_everything", lambda: None)
    session_id = make_session(agent, COUNT)
    assert "message 2" in words(agent, session_id)
    tools = Tools(agent, session_id)
    tools("remove_group", group_id=2)
    tools("undo_operation", session_id=session_id)
    assert "message 2" not in str(words(agent, session_id))


def test_few_originals_are_read_for_themselves(
    agent: Client, read: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "FEW", 2)
    session_id = make_session(agent, COUNT)
    operate(agent, session_id, "snip", range=[0, 3])
    assert words(agent, session_id) == ["message 4", "message 5"]
    assert read == [[4, 5]]
