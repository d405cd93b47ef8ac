"""A Redis that is away costs nothing but what was kept in it."""

import uuid

import pytest
from redis.exceptions import RedisError

from contextstudio.accounts.jobs import tasks
from contextstudio.web.cache import SpareableCache
from threads.store import events


@pytest.fixture
def cache() -> SpareableCache:
    return SpareableCache("redis://127.0.0.1:1/0", {})


def test_a_cache_that_is_away_is_an_empty_one(cache: SpareableCache) -> None:
    cache.set("a", 1)
    assert cache.set_many({"a": 1, "b": 2}) == []
    assert cache.get("a") is None
    assert cache.get("a", 3) == 3
    assert cache.get_many(["a", "b"]) == {}
    assert cache.add("a", 1)


@pytest.mark.django_db
def test_the_sweep_goes_on_without_its_cache(
    cache: SpareableCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "cache", cache)
    tasks.sweep()


def test_nothing_fails_where_those_who_look_on_cannot_be_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Away:
        async def group_send(self, group: str, fact: object) -> None:
            raise RedisError

    monkeypatch.setattr(events, "_loop", None)
    monkeypatch.setattr(events, "get_channel_layer", Away)
    events.announce_job(uuid.uuid4(), uuid.uuid4())
    assert "pages will poll" in caplog.text
