"""Imports by a job: in batches that are committed one by one."""

import uuid
from collections import Counter
from typing import Any

import pytest
from django.db import connection

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Conflict, Invalid
from contextstudio.accounts.models import Project
from tests.threads.support.importing import Take, texts
from tests.threads.support.stub_format import says, stub
from threads import imports
from threads.domain import batch
from threads.domain.message import Message as Given
from threads.domain.message import Role
from threads.domain.part import Text
from threads.imports.running import file_groups, ingest
from threads.models import Event, Message, Session
from threads.sessions.services import append_messages


def test_what_a_job_is_still_bringing_in_is_refused_to_others_with_the_reason(
    stage: Take, take: Take, project: Project
) -> None:
    job = uuid.uuid4()
    stage(stub(*says("one"), id="a"), job)
    with pytest.raises(Conflict, match="Another import of this conversation"):
        take(stub(*says("one", "two"), id="a"))
    imports.publish(project, job)
    assert take(stub(*says("one", "two"), id="a")).recorded == 1


def test_batches_are_committed_one_by_one_and_events_keep_their_places(
    stage: Take, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "MAX_ITEMS", 2)
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
    monkeypatch.setattr(batch, "MAX_BYTES", 1000)
    seen: list[Any] = []
    lines = [{"say": str(i) * 1000} for i in range(3)]
    stage(stub(*lines, id="a"), uuid.uuid4(), lambda *report: seen.append(report[0]))
    assert seen == [1, 2, 3]


def test_a_file_of_events_alone_makes_no_session(
    take: Take, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "MAX_ITEMS", 2)
    with pytest.raises(Invalid) as refusal:
        take(stub(*[{"event": "x"}] * 5, id="a"))
    assert refusal.value.code == "empty"
    assert not Session.objects.exists()


def test_a_commit_takes_few_batches_however_many_wait(
    stage: Take, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_groups, "AT_ONCE", 0)
    monkeypatch.setattr(batch, "MAX_ITEMS", 1)
    depth, commits = len(connection.atomic_blocks), list[Any]()
    record = ingest.record_batch

    def noted(*arguments: Any, **options: Any) -> Any:
        commits.append(connection.atomic_blocks[depth])
        return record(*arguments, **options)

    monkeypatch.setattr(ingest, "record_batch", noted)
    stage(stub(*says(*"abcdefghijkl"), id="a"), uuid.uuid4())
    assert len(commits) == 12
    assert max(Counter(map(id, commits)).values()) <= ingest.MAX_BATCHES_PER_COMMIT


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
    monkeypatch.setattr(file_groups, "AT_ONCE", 0)
    monkeypatch.setattr(ingest, "ROWS_PER_STEP", rows)
    monkeypatch.setattr(ingest, "MIN_PER_STEP", rows)
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


def test_a_session_that_grows_between_two_batches_of_an_import_keeps_both(
    take: Take, stage: Take, caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_groups, "AT_ONCE", 0)
    monkeypatch.setattr(batch, "MAX_ITEMS", 2)
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
