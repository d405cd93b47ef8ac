"""What a session holds is read before the transaction in which a small file is added to it."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import NotFound
from contextstudio.accounts.models import Project
from tests.threads.support.importing import Take, texts
from tests.threads.support.stub_format import says, stub
from threads import imports, tokens
from threads.domain.message import Message as Given
from threads.domain.message import Role
from threads.domain.part import Text
from threads.imports.running import comparison_cache
from threads.models import Event, Import, Session, Source
from threads.sessions import erasing
from threads.sessions.services import append_messages

SAID = [str(number) for number in range(120)]


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bool, int]]:
    """Of each reading: what, whether a transaction was open, and how many rows."""
    depth, noted = len(connection.atomic_blocks), list[tuple[str, bool, int]]()

    def watch(holder: Any, name: str, rows_of: Callable[[Any], int]) -> None:
        real = getattr(holder, name)

        def watched(*arguments: Any) -> Any:
            found = real(*arguments)
            is_open = len(connection.atomic_blocks) > depth
            noted.append((name, is_open, rows_of(found)))
            return found

        monkeypatch.setattr(holder, name, watched)

    watch(comparison_cache, "load_digests", len)
    watch(comparison_cache.RecordedEvents, "of", lambda _: 1)
    return noted


def rows(read: list[tuple[str, bool, int]], name: str, *, locked: bool) -> int:
    return sum(
        count for what, is_open, count in read if (what, is_open) == (name, locked)
    )


@pytest.mark.parametrize("by_a_job", [False, True], ids=["request", "job"])
def test_the_tokenizer_is_loaded_before_the_transaction(
    take: Take, stage: Take, by_a_job: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    depth, real = len(connection.atomic_blocks), tokens.counter
    is_open: list[bool] = []

    def watched(encoding: str) -> tokens.TokenCounter:
        is_open.append(len(connection.atomic_blocks) > depth)
        return real(encoding)

    monkeypatch.setattr(tokens, "counter", watched)
    data = stub(*says(*SAID), id="a")

    stage(data, uuid.uuid4()) if by_a_job else take(data)

    assert not is_open[0]
    assert any(is_open), "nothing was counted"


@pytest.mark.parametrize("by_a_job", [False, True], ids=["request", "job"])
def test_a_small_file_is_compared_with_a_long_session_before_the_transaction(
    take: Take, stage: Take, read: list[tuple[str, bool, int]], by_a_job: bool
) -> None:
    (session,) = take(stub(*says(*SAID), {"event": "x"}, id="a")).sessions
    read.clear()
    longer = stub(*says(*SAID), {"event": "x"}, *says("new"), id="a")
    imported = stage(longer, uuid.uuid4()) if by_a_job else take(longer)
    assert imported.recorded == 1
    assert texts(session) == [*SAID, "new"]
    assert Event.objects.count() == 1
    assert rows(read, "load_digests", locked=False) == len(SAID)
    assert rows(read, "load_digests", locked=True) == 0
    assert rows(read, "of", locked=True) == 0


def test_another_course_of_a_long_session_is_found_before_the_transaction(
    take: Take, read: list[tuple[str, bool, int]]
) -> None:
    take(stub(*says(*SAID), id="a"))
    (branch,) = take(stub(*says(*SAID[:-1], "other"), id="a")).sessions
    read.clear()
    assert take(stub(*says(*SAID[:-1], "other", "on"), id="a")).sessions == [branch]
    assert rows(read, "load_digests", locked=False) == 2 * len(SAID)
    assert rows(read, "load_digests", locked=True) == 0


@pytest.fixture
def meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[Callable[[], object]], None]:
    """Lets something happen between the reading and the transaction of the next import."""

    def happens(act: Callable[[], object]) -> None:
        real = imports.accounting.count_ahead

        def counted(*arguments: Any) -> Any:
            monkeypatch.setattr(imports.accounting, "count_ahead", real)
            act()
            return real(*arguments)

        monkeypatch.setattr(imports.accounting, "count_ahead", counted)

    return happens


def test_what_others_append_meanwhile_is_all_that_is_read_in_the_transaction(
    take: Take,
    caller: Caller,
    read: list[tuple[str, bool, int]],
    meanwhile: Callable[[Callable[[], object]], None],
) -> None:
    (session,) = take(stub(*says(*SAID), id="a")).sessions
    read.clear()
    one = Given(role=Role.USER, parts=(Text("one more"),))
    meanwhile(lambda: append_messages(caller, session.pk, [one]))
    given = stub(*says(*SAID, "one more", "and another"), id="a")
    assert take(given).recorded == 1
    assert texts(session) == [*SAID, "one more", "and another"]
    assert rows(read, "load_digests", locked=True) == 1


def test_a_file_that_another_brings_meanwhile_adds_its_events_once(
    take: Take, meanwhile: Callable[[Callable[[], object]], None]
) -> None:
    (session,) = take(stub(*says("one"), {"event": "x"}, id="a")).sessions
    longer = stub(*says("one"), {"event": "x"}, *says("two"), {"event": "y"}, id="a")
    meanwhile(lambda: take(longer + b"\n"))
    assert take(longer).recorded == 0
    assert texts(session) == ["one", "two"]
    assert Event.objects.count() == 2


def test_a_session_that_may_not_be_gone_on_refuses_the_file_as_it_did(
    take: Take,
) -> None:
    with pytest.raises(NotFound, match="no such session"):
        take(stub(*says("one"), id="a"), session_id=uuid.uuid4())


def test_what_is_left_of_an_import_is_removed_a_few_files_at_a_time(
    take: Take, stage: Take, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    (session,) = take(stub(*says("one"), id="stands")).sessions
    job = uuid.uuid4()
    known = {f"{n}/known.stub": stub(*says("one"), id="stands") for n in range(5)}
    other = {f"{n}/read.me": f"No transcript {n}".encode() for n in range(5)}
    stage({**known, **other, "a.stub": stub(*says("two"), id="a")}, job)
    monkeypatch.setattr(erasing, "_AT_ONCE", 2)
    changed: list[int] = []

    def noted(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        found = execute(sql, params, many, context)
        if sql.startswith(("UPDATE", "DELETE")) and "threads_source" in sql:
            changed.append(context["cursor"].rowcount)
        return found

    with connection.execute_wrapper(noted):
        imports.unstage(job)
    assert max(changed) <= 2
    assert not Import.objects.filter(staged_by=job).exists()
    assert Session.objects.get() == session
    left = Source.objects.order_by("pk").values_list("session", "brought_by__pk")
    assert [one for one in left if one[0] is None] == []
    assert [brought for _, brought in left[1:]] == [None] * 5
