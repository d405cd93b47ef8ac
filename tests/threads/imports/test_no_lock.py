"""What takes long in an import holds no lock."""

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection

from contextstudio.accounts.models import Project
from operations.log import compactions
from operations.models import LogEntry
from tests.threads.support import stub_format
from tests.threads.support.importing import Take, texts
from tests.threads.support.stub_format import says, stub
from threads import imports
from threads.domain import batch
from threads.imports.running import file_groups, ingest
from threads.models import Event, Session
from threads.store import recording


@pytest.fixture
def unlocked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of what was called of what takes time; each call without a transaction."""
    depth, called = len(connection.atomic_blocks), list[str]()

    def watch(module: Any, name: str) -> None:
        real = getattr(module, name)

        def watched(*arguments: Any, **options: Any) -> Any:
            called.append(name)
            assert len(connection.atomic_blocks) == depth, name
            result = real(*arguments, **options)
            if not isinstance(result, Iterator):
                return result
            return map(passed, result)

        monkeypatch.setattr(module, name, watched)

    def passed(item: Any) -> Any:
        assert len(connection.atomic_blocks) == depth
        return item

    watch(ingest, "batches")
    watch(ingest, "guard_parser")
    watch(recording.tokens, "count_words")
    watch(recording.blobs, "store")
    monkeypatch.setattr(file_groups, "AT_ONCE", 0)
    monkeypatch.setattr(batch, "MAX_ITEMS", 2)
    return called


def test_a_job_reads_counts_and_stores_files_without_a_lock(
    stage: Take, unlocked: list[str]
) -> None:
    stage(stub(*says(*"abcdefghi"), id="a"), uuid.uuid4())
    assert {"batches", "count_words"} <= set(unlocked)


def test_what_a_job_appends_to_a_session_is_read_without_a_lock_too(
    take: Take, stage: Take, unlocked: list[str]
) -> None:
    stage(stub(*says(*"abc"), id="a"), job := uuid.uuid4())
    imports.publish(Project.objects.get(), job)
    unlocked.clear()
    seen: list[Any] = []
    stage(
        stub(*says(*"abcdefghi"), id="a"),
        uuid.uuid4(),
        lambda *report: seen.append(report[0]),
    )
    assert {"guard_parser", "count_words"} <= set(unlocked)
    assert texts(Session.objects.get()) == list("abcdefghi")
    assert seen == [2, 4, 6]


FILES = {
    "one file": stub(*says("one", "two"), id="a"),
    "a folder": {
        "a.stub": stub(*says("one"), id="a"),
        "a.stub.part": b"part",
        "b.stub": stub(*says("two"), id="b"),
    },
}


@pytest.fixture
def read_unlocked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One for each time that a file was read; each without a transaction."""
    depth, read = len(connection.atomic_blocks), list[int]()
    real = stub_format.Items.__iter__

    def watched(items: stub_format.Items) -> Iterator[Any]:
        read.append(1)
        for item in real(items):
            assert len(connection.atomic_blocks) == depth
            yield item

    monkeypatch.setattr(stub_format.Items, "__iter__", watched)
    return read


@pytest.mark.parametrize("at_once", [0, 200_000], ids=["large", "small"])
@pytest.mark.parametrize("files", FILES.values(), ids=FILES)
def test_an_import_within_a_request_reads_without_a_lock(
    take: Take,
    read_unlocked: list[int],
    monkeypatch: pytest.MonkeyPatch,
    files: Any,
    at_once: int,
) -> None:
    monkeypatch.setattr(imports, "AT_ONCE", at_once)
    monkeypatch.setattr(file_groups, "AT_ONCE", at_once)
    imported = take(files)
    assert imported.recorded == 2
    assert not Session.objects.exclude(staged_by=None).exists()
    read_unlocked.clear()
    longer = stub(*says("one", "two", "three"), id="a")
    assert take(longer).recorded == (1 if files == FILES["one file"] else 2)
    assert read_unlocked


def test_a_compaction_that_is_appended_is_worked_out_without_a_lock(
    stage: Take, take: Take, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_groups, "AT_ONCE", 0)
    short = stub(*says("one", "two"), id="a")
    take(short)
    depth, called = len(connection.atomic_blocks), list[str]()
    real = compactions.check

    def watched(*arguments: Any, **options: Any) -> Any:
        called.append("check")
        assert len(connection.atomic_blocks) == depth
        return real(*arguments, **options)

    monkeypatch.setattr(compactions, "check", watched)
    compact = {"compact": [0, 1], "into": ["One and two."]}
    stage(short + stub(compact, *says("three"))[len(stub()) :], uuid.uuid4())
    assert called == ["check"]
    assert LogEntry.objects.get().kind == "digest"
    event = Event.objects.get()
    assert (event.type, event.before_index) == ("compaction", 2)
