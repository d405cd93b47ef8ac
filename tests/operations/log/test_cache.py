"""What the process keeps of sessions, and lets go."""

from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from operations.log import selectors
from operations.log.cache import Cache, forget_everything
from tests.operations.support.rest import make_session, post


@pytest.fixture
def cache() -> Cache[list[int]]:
    return Cache(len, most=10)


@pytest.mark.django_db(transaction=True)
def test_what_was_used_longest_ago_makes_room(cache: Cache[list[int]]) -> None:
    for name in "abc":
        cache.keep(name, [1] * 4)
        assert cache.get("a") is not None
    assert [cache.get(name) is None for name in "abc"] == [False, True, False]
    cache.keep("a", [2])
    assert cache.get("a") == [2]
    cache.keep("huge", [3] * 99)
    assert cache.get("huge") is not None
    assert cache.get("a") is None
    cache.clear()
    assert cache.get("huge") is None


@pytest.mark.django_db(transaction=True)
def test_what_is_rolled_back_was_never_kept(cache: Cache[list[int]]) -> None:
    with transaction.atomic():
        cache.keep("a", [1])
        assert cache.get("a") is None
        transaction.set_rollback(True)
    assert cache.get("a") is None
    with transaction.atomic():
        cache.keep("a", [1])
    assert cache.get("a") == [1]


@pytest.mark.django_db(transaction=True)
def test_what_is_dropped_is_gone_once_that_is_committed(
    cache: Cache[list[int]],
) -> None:
    cache.keep("a", [1])
    with transaction.atomic():
        cache.drop("a")
        assert cache.get("a") == [1]
    assert cache.get("a") is None
    cache.drop("never kept")


def test_of_the_threads_of_a_loop_the_last_ones_are_kept(
    agent: Client, django_capture_on_commit_callbacks: Any
) -> None:
    forget_everything()
    said = [{"role": "user", "content": f"word {number}"} for number in range(9)]
    session_id = make_session(agent, said[:1])
    for end in range(2, 10):
        with django_capture_on_commit_callbacks(execute=True):
            post(agent, f"/api/sessions/{session_id}/apply", {"messages": said[:end]})
    counts = [thread.message_count for thread in selectors._threads._values.values()]
    assert sorted(counts) == [6, 7, 8, 9]
