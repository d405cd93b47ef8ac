"""What the process keeps of sessions, and lets go."""

import pytest
from django.db import transaction

from operations.log.cache import Cache


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
