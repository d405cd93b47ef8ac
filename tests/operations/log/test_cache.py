"""What the process keeps of sessions, and lets go."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from operations.log import selectors
from operations.log.cache import Cache, Memory, forget_everything
from tests.operations.support.rest import make_session, operate, post


@pytest.fixture
def cache() -> Cache[list[int]]:
    return Cache(lambda numbers: 100 * len(numbers), Memory(1_500))


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
def test_values_of_all_kinds_make_room_for_each_other() -> None:
    memory = Memory(1_600)
    texts, lists = Cache(len, memory), Cache(lambda one: 100 * len(one), memory)
    texts.keep("a", "x" * 400)
    lists.keep("a", [1] * 5)
    assert (texts.get("a"), lists.get("a")) == ("x" * 400, [1] * 5)
    texts.keep("b", "y" * 200)
    assert (texts.get("a"), texts.values(), lists.get("a")) == (
        None,
        ["y" * 200],
        [1] * 5,
    )
    lists.clear()
    assert (texts.get("b"), lists.get("a")) == ("y" * 200, None)


def seen_by_others(cache: Cache[list[int]]) -> list[int] | None:
    """What a thread beside this one finds, which has a connection of its own."""
    with ThreadPoolExecutor(max_workers=1) as beside:
        return beside.submit(cache.get, "a").result()


@pytest.mark.django_db(transaction=True)
def test_what_is_rolled_back_was_never_kept(cache: Cache[list[int]]) -> None:
    with transaction.atomic():
        cache.keep("a", [1])
        assert cache.get("a") == [1]
        assert seen_by_others(cache) is None
        transaction.set_rollback(True)
    assert cache.get("a") is None
    with transaction.atomic():
        cache.keep("a", [1])
    assert cache.get("a") == seen_by_others(cache) == [1]


@pytest.mark.django_db(transaction=True)
def test_a_savepoint_that_is_rolled_back_leaves_what_was_kept_before_it(
    cache: Cache[list[int]],
) -> None:
    with transaction.atomic():
        cache.keep("a", [1])
        with transaction.atomic():
            cache.keep("a", [2])
            cache.drop("b")
            assert cache.get("a") == [2]
            transaction.set_rollback(True)
        assert cache.get("a") == [1]
        with transaction.atomic():
            cache.keep("a", [3])
        assert cache.get("a") == [3]
    assert cache.get("a") == seen_by_others(cache) == [3]


@pytest.mark.django_db(transaction=True)
def test_what_is_dropped_is_gone_for_others_once_that_is_committed(
    cache: Cache[list[int]],
) -> None:
    cache.keep("a", [1])
    with transaction.atomic():
        cache.drop("a")
        assert cache.get("a") is None
        assert seen_by_others(cache) == [1]
    assert cache.get("a") is None
    assert seen_by_others(cache) is None
    cache.drop("never kept")


@pytest.mark.django_db(transaction=True)
def test_what_was_made_before_everything_was_forgotten_is_not_kept_after_it(
    cache: Cache[list[int]],
) -> None:
    with transaction.atomic():
        cache.keep("a", [1])
        forget_everything()
        assert cache.get("a") is None
        cache.keep("b", [2])
    assert cache.get("a") is None
    assert cache.get("b") == [2]


def test_the_first_request_of_a_process_reads_each_entry_and_each_original_once(
    agent: Client,
) -> None:
    said = [
        {"role": ("user", "assistant")[place % 2], "content": f"word {place}"}
        for place in range(200)
    ]
    session_id = make_session(agent, said)
    for place in range(10, 190, 20):
        operate(agent, session_id, "snip", targets=[f"m{place}"])
    forget_everything()
    with CaptureQueriesContext(connection) as queries:
        answer = post(agent, f"/api/sessions/{session_id}/apply", {"messages": said})
    assert len(answer["applied"]) == 9
    asked = [one["sql"] for one in queries]
    assert [sql for sql in asked if 'FROM "operations_logentry"' in sql][1:] == []
    # Their digests, what they are in the thread, which of them bring STATE, and their words.
    assert len([sql for sql in asked if 'FROM "threads_message"' in sql]) == 4


def test_of_the_threads_of_a_loop_the_last_ones_are_kept(
    agent: Client, django_capture_on_commit_callbacks: Any
) -> None:
    forget_everything()
    said = [{"role": "user", "content": f"word {number}"} for number in range(9)]
    session_id = make_session(agent, said[:1])
    for end in range(2, 10):
        with django_capture_on_commit_callbacks(execute=True):
            post(agent, f"/api/sessions/{session_id}/apply", {"messages": said[:end]})
    counts = [thread.message_count for thread in selectors._threads.values()]
    assert sorted(counts) == [6, 7, 8, 9]


def test_of_the_versions_that_edits_make_the_last_ones_are_kept(
    agent: Client, django_capture_on_commit_callbacks: Any
) -> None:
    forget_everything()
    said = [{"role": "user", "content": f"word {number}"} for number in range(9)]
    session_id = make_session(agent, said)
    for number in range(8):
        with django_capture_on_commit_callbacks(execute=True):
            operate(agent, session_id, "tag", targets=[f"m{number}"], tags=["seen"])
    heads = [thread.head for thread in selectors._threads.values()]
    assert sorted(heads) == [5, 6, 7, 8]
