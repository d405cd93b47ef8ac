"""A Redis that is away costs nothing but what was kept in it."""

import socket
import uuid
from collections.abc import Iterator

import pytest
from django.core.cache import caches
from redis.exceptions import RedisError

from contextstudio.accounts.jobs import tasks
from contextstudio.database import outages
from contextstudio.web.cache import FailSafeCache
from threads.store import events

pytestmark = pytest.mark.usefixtures("redis_unknown")


@pytest.fixture
def cache() -> FailSafeCache:
    return FailSafeCache("redis://127.0.0.1:1/0", {})


def test_a_cache_that_is_away_is_an_empty_one(cache: FailSafeCache) -> None:
    cache.set("a", 1)
    assert cache.set_many({"a": 1, "b": 2}) == []
    assert cache.get("a") is None
    assert cache.get("a", 3) == 3
    assert cache.get_many(["a", "b"]) == {}
    assert cache.add("a", 1)


class Frozen:
    """A Redis that lets in who knocks, and never answers."""

    def __init__(self, door: socket.socket) -> None:
        self._door = door
        door.setblocking(False)
        where = f"redis://127.0.0.1:{door.getsockname()[1]}/0"
        limits = {"socket_timeout": 0.01, "socket_connect_timeout": 1}
        self.cache = FailSafeCache(where, {"OPTIONS": limits})

    def knocks(self) -> int:
        """How many have knocked since it was asked last."""
        count = 0
        while True:
            try:
                self._door.accept()[0].close()
            except BlockingIOError:
                return count
            count += 1


@pytest.fixture
def frozen() -> Iterator[Frozen]:
    with socket.create_server(("127.0.0.1", 0)) as door:
        yield Frozen(door)


def test_a_frozen_redis_is_waited_for_once_and_not_by_every_question(
    frozen: Frozen,
) -> None:
    assert frozen.cache.get("a", 3) == 3
    assert frozen.knocks()
    frozen.cache.set("a", 1)
    assert frozen.cache.get_many(["a"]) == {}
    assert not frozen.knocks()


def test_a_redis_that_was_frozen_is_asked_again(
    frozen: Frozen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outages, "BACKOFF_SECONDS", 0)
    frozen.cache.get("a")
    assert frozen.knocks()
    frozen.cache.get("a")
    assert frozen.knocks()


def test_an_outage_of_the_cache_is_logged_once(
    cache: FailSafeCache,
    frozen: Frozen,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(outages, "BACKOFF_SECONDS", 0)
    cache.get("a")
    frozen.cache.set("a", 1)
    assert cache.get("b", 3) == 3
    assert len(caplog.records) == 1


@pytest.mark.redis
def test_an_outage_of_the_cache_after_another_is_logged_again(
    cache: FailSafeCache, frozen: Frozen, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(2):
        cache.get("a")
        caches["default"].get("a")
    assert len(caplog.records) == 2


@pytest.mark.redis
def test_no_page_waits_long_for_a_frozen_redis() -> None:
    pool = caches["default"]._cache.get_client().connection_pool  # type: ignore[attr-defined]
    limits = pool.connection_kwargs
    assert limits["socket_timeout"] <= 2
    assert limits["socket_connect_timeout"] <= 2
    assert events.LAYER_SECONDS <= 2


@pytest.mark.django_db
def test_the_sweep_goes_on_without_its_cache(
    cache: FailSafeCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "cache", cache)
    tasks.sweep()


def test_nothing_fails_where_those_who_look_on_cannot_be_told_and_it_is_logged_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Away:
        async def group_send(self, group: str, fact: object) -> None:
            raise RedisError

    monkeypatch.setattr(events, "_loop", None)
    monkeypatch.setattr(events, "get_channel_layer", Away)
    for _ in range(2):
        events.announce_job(uuid.uuid4(), uuid.uuid4())
    assert len(caplog.records) == 1
    assert "pages will poll" in caplog.text
