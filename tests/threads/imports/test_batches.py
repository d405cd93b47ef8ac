"""Imports by a job: in batches, killed anywhere, cancelled."""

import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Conflict, Invalid
from contextstudio.accounts.jobs import Cancelled, enqueue
from contextstudio.accounts.models import Project
from operations.log import compactions
from operations.models import LogEntry
from tests.threads.support import stub_format
from tests.threads.support.importing import Take, texts
from tests.threads.support.stub_format import says, stub
from threads import imports
from threads.domain import batch
from threads.domain.message import Message as Given
from threads.domain.message import Role
from threads.domain.part import Text
from threads.imports.running import import_run, ingest
from threads.models import Event, Import, Message, Session
from threads.sessions import erasing
from threads.sessions.services import append_messages
from threads.store import recording


def test_what_a_job_is_still_bringing_in_is_refused_to_others_with_the_reason(
    stage: Take, take: Take, project: Project
) -> None:
    job = uuid.uuid4()
    stage(stub(*says("one"), id="a"), job)
    with pytest.raises(Conflict, match="Another import is still bringing"):
        take(stub(*says("one", "two"), id="a"))
    imports.publish(project, job)
    assert take(stub(*says("one", "two"), id="a")).recorded == 1


def test_batches_are_committed_one_by_one_and_events_keep_their_places(
    stage: Take, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "MOST", 2)
    lines = [row for i in range(5) for row in ({"say": str(i)}, {"event": str(i)})]
    seen: list[Any] = []
    job = uuid.uuid4()
    early = [{"event": "early"}] * 5
    stage(stub(*early, *lines, id="a"), job, lambda *report: seen.append(report))
    imports.publish(project, job)
    session = Session.objects.get()
    assert texts(session) == list("01234")
    events = Event.objects.order_by("pk").values_list("type", "before_index")
    assert list(events) == [("early", 0)] * 5 + [(str(i), i + 1) for i in range(5)]
    assert seen[-1] == (5, None, "messages")
    assert len(seen) > 3


def test_messages_with_much_in_them_are_recorded_in_smaller_batches(
    stage: Take, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "MOST_BYTES", 1000)
    seen: list[Any] = []
    lines = [{"say": str(i) * 1000} for i in range(3)]
    stage(stub(*lines, id="a"), uuid.uuid4(), lambda *report: seen.append(report[0]))
    assert seen == [1, 2, 3]


def test_a_file_of_events_alone_makes_no_session(
    take: Take, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "MOST", 2)
    with pytest.raises(Invalid) as refusal:
        take(stub(*[{"event": "x"}] * 5, id="a"))
    assert refusal.value.code == "empty"
    assert not Session.objects.exists()


class Killed(BaseException):
    """The process is gone."""


def killer(at: int) -> Callable[..., None]:
    calls = iter(range(1_000_000))

    def progress(*_: Any) -> None:
        if next(calls) == at:
            raise Killed

    return progress


def counts() -> tuple[int, ...]:
    models = (Session, Message, Event, LogEntry)
    return tuple(model.objects.count() for model in models)


@pytest.mark.parametrize("whole", [True, False], ids=["small", "large"])
@pytest.mark.parametrize("at", range(0, 20, 4))
def test_an_import_that_is_killed_anywhere_is_completed_by_the_next_attempt(
    stage: Take,
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    at: int,
    whole: bool,
) -> None:
    monkeypatch.setattr(batch, "MOST", 1)
    if not whole:
        monkeypatch.setattr(import_run, "AT_ONCE", 0)
    files = {
        f"{name}.stub": stub(
            *says("one", "two", "three"),
            {"event": "x"},
            {"compact": [0, 1], "into": ["Some."]},
            id=None if name == "b" else name,
        )
        for name in "abcd"
    }
    files["b.stub.part"] = b"part"
    job = uuid.uuid4()
    with pytest.raises(Killed):
        stage(files, job, killer(at))
    assert not Session.objects.filter(staged_by=None).exists()
    imported = stage(files, job)
    imports.publish(project, job)
    assert counts() == (4, 12, 8, 4)
    assert len(imported.sessions) == 4
    row = Import.objects.get()
    assert row.staged_by is None
    assert row.report["files"] == 5
    assert row.report["messages"] == {"user": 8, "assistant": 4}


def test_an_append_that_is_killed_is_completed_without_doubles(
    stage: Take, take: Take, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "MOST", 1)
    monkeypatch.setattr(import_run, "AT_ONCE", 0)
    files = {f"{name}.stub": stub(*says("one"), id=name) for name in "ab"}
    take(files)
    for at in range(4):
        more = stub({"say": f"and {at}"})[len(stub()) :]
        files = {name: data + more for name, data in files.items()}
        with pytest.raises(Killed):
            stage(files, job := uuid.uuid4(), killer(at))
        stage(files, job)
        imports.publish(project, job)
        assert Message.objects.count() == 2 * (at + 2)
        assert Session.objects.count() == 2


def test_a_cancelled_import_leaves_nothing(
    stage: Take, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cancel(*_: Any) -> None:
        raise Cancelled

    job = uuid.uuid4()
    with pytest.raises(Cancelled):
        stage(stub(*says("one"), id="a"), job, cancel)
    imports.unstage(job)
    assert counts() == (0, 0, 0, 0)
    assert not Import.objects.exists()


def killed(stage: Take, job: uuid.UUID, *, age: timedelta) -> None:
    """An import that was killed so long ago, in the midst of its file."""
    with pytest.raises(Killed):
        stage(stub(*says(*"abcd"), id="a"), job, killer(2))
    assert Session.objects.filter(staged_by=job).exists()
    for model in (Session, Import):
        model.objects.filter(staged_by=job).update(created_at=timezone.now() - age)


def test_what_a_killed_import_left_goes_once_nobody_completes_it(
    stage: Take, take: Take, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "MOST", 1)
    monkeypatch.setattr(import_run, "AT_ONCE", 0)
    killed(stage, uuid.uuid4(), age=erasing.STRANDED + timedelta(minutes=1))
    erasing.clean()
    assert counts() == (0, 0, 0, 0)
    assert not Import.objects.exists()
    assert take(stub(*says("one"), id="a")).recorded == 1


def test_what_a_job_will_complete_or_was_just_staged_stays(
    stage: Take, project: Project, caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "MOST", 1)
    monkeypatch.setattr(import_run, "AT_ONCE", 0)
    killed(stage, uuid.uuid4(), age=erasing.STRANDED - timedelta(minutes=1))
    erasing.clean()
    assert Import.objects.count() == 1
    Import.objects.all().delete()
    Session.objects.all().delete()
    waiting = enqueue(project, "import", {}, caller)
    killed(stage, waiting.pk, age=erasing.STRANDED + timedelta(days=2))
    erasing.clean()
    assert Session.objects.filter(staged_by=waiting.pk).exists()


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
    watch(ingest, "guarded")
    watch(recording.tokens, "count_words")
    watch(recording.blobs, "store")
    monkeypatch.setattr(import_run, "AT_ONCE", 0)
    monkeypatch.setattr(batch, "MOST", 2)
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
    assert {"guarded", "count_words"} <= set(unlocked)
    assert texts(Session.objects.get()) == list("abcdefghi")
    assert seen == [2, 4, 6]


def test_a_commit_takes_few_batches_however_many_wait(
    stage: Take, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_run, "AT_ONCE", 0)
    monkeypatch.setattr(batch, "MOST", 1)
    depth, commits = len(connection.atomic_blocks), list[Any]()
    record = ingest.record_batch

    def noted(*arguments: Any, **options: Any) -> Any:
        commits.append(connection.atomic_blocks[depth])
        return record(*arguments, **options)

    monkeypatch.setattr(ingest, "record_batch", noted)
    stage(stub(*says(*"abcdefghijkl"), id="a"), uuid.uuid4())
    assert len(commits) == 12
    assert max(Counter(map(id, commits)).values()) <= ingest.MOST_BATCHES_PER_COMMIT


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


FILES = {
    "one file": stub(*says("one", "two"), id="a"),
    "a folder": {
        "a.stub": stub(*says("one"), id="a"),
        "a.stub.part": b"part",
        "b.stub": stub(*says("two"), id="b"),
    },
}


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
    monkeypatch.setattr(import_run, "AT_ONCE", at_once)
    imported = take(files)
    assert imported.recorded == 2
    assert not Session.objects.exclude(staged_by=None).exists()
    read_unlocked.clear()
    longer = stub(*says("one", "two", "three"), id="a")
    assert take(longer).recorded == (1 if files == FILES["one file"] else 2)
    assert read_unlocked


def test_many_small_files_are_recorded_one_by_one(
    take: Take, monkeypatch: pytest.MonkeyPatch
) -> None:
    depth, seen = len(connection.atomic_blocks), list[Any]()
    record = ingest.record_batch

    def noted(*arguments: Any, **options: Any) -> Any:
        seen.append(connection.atomic_blocks[depth])
        return record(*arguments, **options)

    monkeypatch.setattr(ingest, "record_batch", noted)
    names = [str(number) for number in range(imports.FILES_AT_ONCE + 1)]
    files = {f"{name}.stub": stub(*says(name), id=name) for name in names}
    take(files)
    assert len(set(map(id, seen))) == len(seen) == len(files)


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_a_batch_is_written_in_steps_of_few_rows_and_reads_the_same(
    stage: Take,
    take: Take,
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    rows: int,
) -> None:
    monkeypatch.setattr(import_run, "AT_ONCE", 0)
    monkeypatch.setattr(ingest, "ROWS_PER_STEP", rows)
    monkeypatch.setattr(ingest, "LEAST_PER_STEP", rows)
    written: list[int] = []
    for name in ("insert_messages", "insert_events", "insert_bodies"):
        real = getattr(ingest.rows, name)

        def noted(*arguments: Any, real: Any = real) -> Any:
            given = arguments[-1]
            columns = given.types if isinstance(given, batch.Events) else given[0]
            written.append(len(columns))
            return real(*arguments)

        monkeypatch.setattr(ingest.rows, name, noted)
    said = ["same", "b", "same", "c", "d", "e", "same", "f"]
    lines = [
        row
        for number, row in enumerate(says(*said))
        for row in (row, {"event": f"after {number}"})
    ]
    stage(stub(*lines, id="a"), job := uuid.uuid4())
    imports.publish(project, job)
    session = Session.objects.get()
    assert texts(session) == said
    assert session.original_tokens == sum(
        Message.objects.values_list("tokens", flat=True)
    )
    groups = Message.objects.order_by("index").values_list("group_id", flat=True)
    assert list(groups) == [1, 1, 2, 2, 3, 3, 4, 4]
    events = Event.objects.order_by("before_index").values_list("type", "before_index")
    assert list(events) == [(f"after {n}", n + 1) for n in range(8)]
    assert max(written) <= rows


def test_a_long_append_that_is_killed_is_completed_without_doubles(
    stage: Take, take: Take, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "MOST", 2)
    monkeypatch.setattr(import_run, "AT_ONCE", 0)
    short = stub(*says("one"), {"event": "first"}, id="a")
    take(short)
    more = [
        row
        for number, row in enumerate(
            says("two", "three", "four", "five", "six", "seven")
        )
        for row in (row, {"event": "same"}, {"event": f"after {number}"})
    ]
    compact = {"compact": [0, 1], "into": ["One and two."]}
    longer = short + stub(*more, compact)[len(stub()) :]
    with pytest.raises(Killed):
        stage(longer, job := uuid.uuid4(), killer(1))
    left = Event.objects.count()
    assert 1 < left < 14
    stage(longer, job)
    imports.publish(project, job)
    events = Counter(Event.objects.values_list("type", flat=True))
    assert events == {
        "first": 1,
        "same": 6,
        "compaction": 1,
        **{f"after {number}": 1 for number in range(6)},
    }
    said = ["one", "two", "three", "four", "five", "six", "seven"]
    assert texts(Session.objects.get()) == said
    assert LogEntry.objects.count() == 1


def test_a_compaction_that_is_appended_is_worked_out_without_a_lock(
    stage: Take, take: Take, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_run, "AT_ONCE", 0)
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


def test_a_session_that_grows_between_two_batches_of_an_import_keeps_both(
    take: Take, stage: Take, caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_run, "AT_ONCE", 0)
    monkeypatch.setattr(batch, "MOST", 2)
    take(stub(*says("a"), id="a"))
    session = Session.objects.get()
    grown: list[int] = []

    def grow(*_: Any) -> None:
        if not grown:
            grown.append(1)
            between = Given(role=Role.USER, parts=(Text("between"),))
            append_messages(caller, session.pk, [between])

    stage(stub(*says(*"abcde"), id="a"), uuid.uuid4(), grow)
    assert texts(session) == ["a", "b", "c", "between"]
    (branch,) = Session.objects.exclude(pk=session.pk)
    assert texts(branch) == list("abcde")
