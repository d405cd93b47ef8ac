"""What is imported is read without a transaction, and shown in short ones."""

import itertools
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client

from contextstudio.accounts import idempotency
from contextstudio.accounts.domain.errors import Conflict
from contextstudio.accounts.domain.rights import ProjectRole
from contextstudio.accounts.jobs import enqueue, queue, runner
from contextstudio.accounts.models import Job, Membership, Project
from contextstudio.database import steps
from tests.threads.support import stub_format
from tests.threads.support.importing import Take, child, kept
from tests.threads.support.stub_format import says, stub
from threads import imports
from threads.imports import accounting, jobs, publishing
from threads.imports.running import file_groups
from threads.models import Body, Import, Session


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What read a file, each time that one was; each without a transaction."""
    depth, seen = len(connection.atomic_blocks), list[str]()

    def free(reader: str) -> None:
        assert len(connection.atomic_blocks) == depth, reader
        seen.append(reader)

    items = stub_format.Items.__iter__
    count = accounting.reading.count_leaves

    def parsed(given: stub_format.Items) -> Iterator[Any]:
        for item in items(given):
            free("parser")
            yield item

    def counted(*arguments: Any) -> Any:
        free("count")
        return count(*arguments)

    monkeypatch.setattr(stub_format.Items, "__iter__", parsed)
    monkeypatch.setattr(accounting.reading, "count_leaves", counted)
    return seen


def send(client: Client, data: bytes) -> Any:
    return client.post(
        "/api/sessions/import",
        {"file": SimpleUploadedFile("talk.stub", data)},
        headers={"Idempotency-Key": "k"},
    )


@pytest.mark.parametrize("at_once", [0, 200_000], ids=["staged", "small"])
def test_an_import_under_an_idempotency_key_reads_without_a_lock(
    stub_format: None,
    agent: Client,
    read: list[str],
    monkeypatch: pytest.MonkeyPatch,
    at_once: int,
) -> None:
    monkeypatch.setattr(imports, "AT_ONCE", at_once)
    monkeypatch.setattr(file_groups, "AT_ONCE", at_once)
    answers = [send(agent, stub(*says("one", "two"), id="a")) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].content == answers[1].content
    assert answers[1]["Idempotent-Replayed"] == "true"
    assert "parser" in read
    session = Session.objects.get()
    assert (session.message_count, session.staged_by) == (2, None)
    assert Import.objects.get().staged_by is None


@pytest.mark.parametrize("at_once", [0, 200_000], ids=["staged", "small"])
def test_an_import_whose_claim_another_has_taken_over_shows_nothing(
    stub_format: None, agent: Client, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(imports, "AT_ONCE", at_once)
    monkeypatch.setattr(file_groups, "AT_ONCE", at_once)

    def taken(*_: object) -> None:
        raise Conflict("This request took too long.")

    monkeypatch.setattr(idempotency, "_store_response", taken)
    assert send(agent, stub(*says("one"), id="a")).status_code == 409
    assert not Session.objects.filter(staged_by=None).exists()
    assert not Import.objects.filter(staged_by=None).exists()


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which every step takes longer than a transaction may."""
    seconds = itertools.count(step=2 * steps.SECONDS)
    monkeypatch.setattr(steps, "monotonic", lambda: next(seconds))


@pytest.fixture
def transactions(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The transactions in which sessions were shown, one for each time."""
    depth, seen = len(connection.atomic_blocks), list[Any]()
    real = publishing._show_some

    def noted(*arguments: Any) -> None:
        seen.append(connection.atomic_blocks[depth])
        real(*arguments)

    monkeypatch.setattr(publishing, "_show_some", noted)
    monkeypatch.setattr(publishing, "AT_ONCE", 2)
    return seen


def family(count: int) -> dict[str, bytes]:
    """A parent in the midst of its children."""
    names = [f"{number}" for number in range(count)]
    files = {
        f"{name}.stub": stub(*says(name), id=name, **child("subagent"))
        for name in names
    }
    return files | {f"{count // 2}a.stub": stub(*says("parent"), id="a")}


def linked() -> int:
    return Session.objects.filter(staged_by=None, parent__external_id="a").count()


def test_many_sessions_are_shown_in_several_transactions_beside_their_parents(
    stage: Take, project: Project, slow: None, transactions: list[Any]
) -> None:
    stage(family(6), job := uuid.uuid4())
    assert not Session.objects.filter(staged_by=None).exists()
    imports.publish(project, job)
    assert len(set(map(id, transactions))) == len(transactions) == 4
    assert linked() == 6
    assert len(set(Session.objects.values_list("updated_at"))) == 1


def job_of(data: Any, project: Project, caller: Any) -> Any:
    arguments = jobs.arguments_of(kept(data))
    return queue.claim(enqueue(project, jobs.KIND, arguments, caller).pk)


def test_a_job_has_shown_its_sessions_before_the_transaction_in_which_it_ends(
    stub_format: None,
    project: Project,
    caller: Any,
    slow: None,
    transactions: list[Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown: list[tuple[int, int]] = []
    publish = imports.publish

    def last(*arguments: Any) -> None:
        shown.append((linked(), len(transactions)))
        publish(*arguments)

    monkeypatch.setattr(imports, "publish", last)
    job = job_of(family(6), project, caller)
    runner.run(job)
    assert shown == [(6, 4)]
    assert len(transactions) == 4
    assert Import.objects.get().staged_by is None


def test_an_import_of_one_who_may_not_edit_any_more_is_taken_back_before_it_is_shown(
    stub_format: None, project: Project, caller: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    staged = imports.import_staged

    def lowered(*arguments: Any, **options: Any) -> Any:
        imported = staged(*arguments, **options)
        assert Session.objects.filter(staged_by=job.pk).count() == 3
        Membership.objects.update(role=ProjectRole.REVIEWER)
        return imported

    monkeypatch.setattr(imports, "import_staged", lowered)
    job = job_of(family(2), project, caller)
    runner.run(job)
    job.refresh_from_db()
    assert job.status == "failed"
    assert "right to edit" in job.error
    assert not Session.objects.exists()
    assert not Import.objects.exists()
    assert not Body.objects.exists()


def test_of_two_jobs_with_one_file_the_later_waits_and_finds_it_known(
    stub_format: None, project: Project, caller: Any
) -> None:
    data = stub(*says("one", "two"))
    first, second = job_of(data, project, caller), job_of(data, project, caller)
    runner.run(second)
    second.refresh_from_db()
    assert (second.status, second.attempts) == ("queued", 0)
    runner.run(first)
    claimed = queue.claim(second.pk)
    assert claimed is not None
    runner.run(claimed)
    second.refresh_from_db()
    assert (second.status, second.error) == ("done", "")
    assert Session.objects.count() == 1


def test_a_file_that_another_import_has_brought_by_the_time_it_is_read_makes_no_session(
    stub_format: None, project: Project, caller: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "AT_ONCE", 0)
    upload, staged = kept(stub(*says("one", "two"))), imports.import_staged

    def overtaken(*arguments: Any, **options: Any) -> Any:
        imported = staged(*arguments, **options)
        monkeypatch.setattr(imports, "import_staged", staged)
        imports.import_upload(caller, project, upload)
        return imported

    monkeypatch.setattr(imports, "import_staged", overtaken)
    with pytest.raises(Conflict, match="in the meantime"):
        imports.import_upload(caller, project, upload)
    assert Session.objects.get().staged_by is None
    assert not imports.import_upload(caller, project, upload).created


@pytest.mark.django_db(transaction=True)
def test_one_file_that_is_sent_several_times_at_once_becomes_one_session(
    stub_format: None, agent: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = stub(*says("one", "two"))
    together = Barrier(2)
    real = accounting.count_ahead

    def at_once(*arguments: Any) -> Any:
        together.wait()  # both have looked for it by now
        return real(*arguments)

    monkeypatch.setattr(accounting, "count_ahead", at_once)

    def sent(number: int) -> int:
        try:
            file = SimpleUploadedFile("talk.stub", data)
            return agent.post("/api/sessions/import", {"file": file}).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as threads:
        assert sorted(threads.map(sent, range(2))) == [200, 201]
    assert Session.objects.count() == 1


def test_what_is_taken_back_leaves_only_what_others_say_too(
    stage: Take, take: Take
) -> None:
    take(stub(*says("shared"), id="before"))
    known = set(Body.objects.values_list("pk", flat=True))
    stage(stub(*says("shared", "alone"), id="a"), job := uuid.uuid4())
    assert Body.objects.count() > len(known)
    imports.unstage(job)
    assert set(Body.objects.values_list("pk", flat=True)) == known


class Killed(BaseException):
    """The process is gone."""


@pytest.fixture
def killed_midway(
    stub_format: None,
    project: Project,
    caller: Any,
    slow: None,
    transactions: list[Any],
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[], Any]:
    """A job that was killed when it had shown some of its sessions; made by a call."""

    def kill() -> Any:
        real = publishing._show_some

        def dies(*arguments: Any) -> None:
            if len(transactions) == 2:
                raise Killed
            real(*arguments)

        with monkeypatch.context() as patch:
            patch.setattr(publishing, "_show_some", dies)
            before = Session.objects.count()
            job = job_of(family(6), project, caller)
            with pytest.raises(Killed):
                runner.run(job)
        assert Session.objects.filter(staged_by=None).count() == before + 4
        return job

    return kill


@pytest.mark.django_db(transaction=True)
def test_a_job_that_is_killed_while_it_shows_its_sessions_shows_the_rest_later(
    killed_midway: Callable[[], Any],
) -> None:
    runner.run(killed_midway())
    assert (Session.objects.filter(staged_by=None).count(), linked()) == (7, 6)
    assert Import.objects.get().staged_by is None


@pytest.mark.django_db(transaction=True)
def test_a_job_that_is_cancelled_then_takes_back_what_it_has_shown(
    killed_midway: Callable[[], Any], take: Take
) -> None:
    before = take(stub(*says("before"), id="before")).sessions
    job = killed_midway()
    Job.objects.exclude(pk=job.pk).delete()  # an import may have its words indexed
    Job.objects.update(lease_until=job.created_at, cancel_requested=True)
    claimed = queue.claim()
    assert claimed is not None
    runner.run(claimed)
    assert Job.objects.get().status == "cancelled"
    assert list(Session.objects.all()) == before
    assert Import.objects.count() == 1
