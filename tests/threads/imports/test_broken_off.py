"""An import by a job that is killed anywhere or cancelled."""

import uuid
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.jobs import Cancelled, enqueue
from contextstudio.accounts.models import Project
from operations.models import LogEntry
from tests.threads.support.importing import Take, texts
from tests.threads.support.stub_format import says, stub
from threads import imports
from threads.domain import batch
from threads.imports.running import file_groups
from threads.models import Event, Import, Message, Session
from threads.sessions import erasing


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
    monkeypatch.setattr(batch, "MAX_ITEMS", 1)
    if not whole:
        monkeypatch.setattr(file_groups, "AT_ONCE", 0)
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
    monkeypatch.setattr(batch, "MAX_ITEMS", 1)
    monkeypatch.setattr(file_groups, "AT_ONCE", 0)
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
    monkeypatch.setattr(batch, "MAX_ITEMS", 1)
    monkeypatch.setattr(file_groups, "AT_ONCE", 0)
    killed(stage, uuid.uuid4(), age=erasing.STRANDED + timedelta(minutes=1))
    erasing.clean()
    assert counts() == (0, 0, 0, 0)
    assert not Import.objects.exists()
    assert take(stub(*says("one"), id="a")).recorded == 1


def test_what_a_job_will_complete_or_was_just_staged_stays(
    stage: Take, project: Project, caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "MAX_ITEMS", 1)
    monkeypatch.setattr(file_groups, "AT_ONCE", 0)
    killed(stage, uuid.uuid4(), age=erasing.STRANDED - timedelta(minutes=1))
    erasing.clean()
    assert Import.objects.count() == 1
    Import.objects.all().delete()
    Session.objects.all().delete()
    waiting = enqueue(project, "import", {}, caller)
    killed(stage, waiting.pk, age=erasing.STRANDED + timedelta(days=2))
    erasing.clean()
    assert Session.objects.filter(staged_by=waiting.pk).exists()


def test_a_long_append_that_is_killed_is_completed_without_doubles(
    stage: Take, take: Take, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "MAX_ITEMS", 2)
    monkeypatch.setattr(file_groups, "AT_ONCE", 0)
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
