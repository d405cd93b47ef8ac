"""What an agent asked the next context to hold, by worked examples."""

import uuid
from typing import Any

import pytest
from django.test import Client

from contextstudio.accounts.domain.caller import Caller
from operations.context import policies
from operations.domain.context.selection import Preference
from tests.operations.support.rest import adds_up, context, make_session, operate, said
from threads.models import Session

COUNT = 45


@pytest.fixture
def session_id(agent: Client) -> str:
    return make_session(agent, COUNT)


def ask(caller: Caller, session_id: str, **query: Any) -> None:
    policies.request_slice(caller, uuid.UUID(session_id), Preference(**query))


def sent(client: Client, session_id: str, **query: Any) -> list[str]:
    found = context(client, session_id, **query)
    assert adds_up(found)
    return [one["content"] for one in found["messages"]]


def texts(*indexes: int) -> list[str]:
    return [f"message {index}" for index in indexes]


def test_the_next_context_includes_messages_30_to_39(
    agent: Client, session_id: str, caller: Caller
) -> None:
    ask(caller, session_id, start=30, end=40)
    assert sent(agent, session_id, consume=True) == texts(*range(30, 40))
    assert len(sent(agent, session_id, consume=True)) == COUNT


def test_matches_of_the_last_search_are_added_where_asked(
    agent: Client, session_id: str, caller: Caller
) -> None:
    policies.keep_matches(Session.objects.get(pk=session_id), [34, 5, 12, 5])
    ask(caller, session_id, start=30, end=40, max_context_messages=2)
    assert sent(agent, session_id) == texts(38, 39)
    ask(
        caller,
        session_id,
        start=30,
        end=40,
        max_context_messages=2,
        include_search_results=True,
    )
    assert sent(agent, session_id) == texts(5, 12, 34, 38, 39)


def test_a_limit_alone_keeps_the_newest(
    agent: Client, session_id: str, caller: Caller
) -> None:
    ask(caller, session_id, max_context_messages=3)
    assert sent(agent, session_id) == texts(42, 43, 44)


def test_a_fold_in_the_range_is_kept_whole(
    agent: Client, session_id: str, caller: Caller
) -> None:
    operate(agent, session_id, "digest", range=[25, 31], summary="Sum")
    operate(agent, session_id, "insert", after_idx=31, messages=said(1))
    ask(caller, session_id, start=30, end=33)
    digest, *others = sent(agent, session_id)
    assert "Sum" in digest
    assert others == ["message 0", "message 32"]


def test_the_later_wish_counts(agent: Client, session_id: str, caller: Caller) -> None:
    ask(caller, session_id, start=0, end=5)
    ask(caller, session_id, start=7, end=8)
    assert sent(agent, session_id) == texts(7)
