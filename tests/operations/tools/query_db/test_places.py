"""Two queries of a caller run at once and four of all; the others wait, or are refused."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from threading import Barrier, Event

import pytest

from contextstudio.accounts.domain.errors import TooMany
from operations.tools.query_db import places
from operations.tools.query_db.places import place_of


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "PATIENCE", 0.01)


def test_a_third_query_of_a_caller_is_refused_and_says_when_to_come_again(
    hurried: None,
) -> None:
    with place_of("key:1"), place_of("key:1"):
        with pytest.raises(TooMany) as refusal, place_of("key:1"):
            pass
        assert (refusal.value.status, refusal.value.retry_after) == (429, 1)
        with place_of("key:2"):
            pass
    with place_of("key:1"):
        pass


def test_a_fifth_query_of_all_is_refused(hurried: None) -> None:
    with ExitStack() as stack:
        for number in range(places.MAX_PER_PROCESS):
            stack.enter_context(place_of(f"key:{number}"))
        with pytest.raises(TooMany), place_of("key:9"):
            pass
    assert not places._running


def test_who_waits_gets_the_place_that_becomes_free() -> None:
    begun, over = Barrier(3), Event()

    def hold() -> None:
        with place_of("key:1"):
            begun.wait()
            over.wait()

    def follow() -> bool:
        with place_of("key:1"):
            return over.is_set()

    with ThreadPoolExecutor(3) as pool:
        holders = [pool.submit(hold) for _ in range(2)]
        begun.wait()
        follower = pool.submit(follow)
        over.set()
        assert follower.result()
    assert all(holder.done() for holder in holders)
