"""Jobs: one claim at a time, one effect, and progress that is seen."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from contextstudio.accounts import jobs
from contextstudio.accounts.jobs import JobContext, canary, queue, runner
from contextstudio.accounts.models import Job, Project, User
from tests.people import caller

from .working import KIND, Work, claim_elsewhere, pass_time, run_one


def test_no_job_waits_until_a_clock_that_was_set_back_is_as_late_again(
    job: Job, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    canary.send()
    Job.objects.filter(pk=canary._ID).update(
        status=Job.Status.DONE, finished_at=timezone.now()
    )
    with monkeypatch.context() as earlier:
        pass_time(earlier, hours=-1)
        assert queue.claim(job.pk) is not None
        canary.send()
        assert queue.claim(canary._ID) is not None
    queue.running_here.clear()
    with monkeypatch.context() as earlier:
        pass_time(earlier, hours=-2)
        assert queue.claim(job.pk) is not None


def test_a_worker_is_still_alive_where_the_clock_was_set_back_by_seconds(
    job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert queue.claim(job.pk) is not None
    pass_time(monkeypatch, seconds=-20)
    claimed = queue.claim(job.pk)
    assert claimed is None


def test_a_job_is_done_for_the_one_who_asked(
    job: Job, work: Work, project: Project, editor: User
) -> None:
    run_one()
    job.refresh_from_db()
    assert (job.status, job.result, job.error) == ("done", {"number": 1}, "")
    assert job.finished_at is not None
    (context,) = work.runs
    assert context.project == project
    assert context.caller == caller(editor)
    assert context.job_id == job.pk


def test_a_job_that_is_rolled_back_with_its_caller_is_not_there(
    work: Work, project: Project, editor: User
) -> None:
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        jobs.enqueue(project, KIND, {}, caller(editor))
        raise ZeroDivisionError
    assert queue.claim() is None


def test_a_worker_is_woken_once_the_caller_commits(
    work: Work, project: Project, editor: User, django_capture_on_commit_callbacks: Any
) -> None:
    from contextstudio.accounts.jobs.waking import work_waits

    work_waits.clear()
    with django_capture_on_commit_callbacks(execute=True):
        jobs.enqueue(project, KIND, {}, caller(editor))
        assert not work_waits.is_set()
    assert work_waits.is_set()


def test_a_kind_that_nobody_does_is_refused_at_once(
    project: Project, editor: User
) -> None:
    with pytest.raises(LookupError):
        jobs.enqueue(project, "unheard-of", {}, caller(editor))


@pytest.mark.django_db(transaction=True)
def test_of_many_workers_one_gets_a_job(job: Job) -> None:
    def claim(_: int) -> bool:
        try:
            return queue.claim() is not None
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(claim, range(16))) == 1


def test_the_oldest_due_job_comes_first_and_none_before_its_time(
    job: Job, project: Project, editor: User
) -> None:
    second = jobs.enqueue(project, KIND, {}, caller(editor))
    Job.objects.filter(pk=second.pk).update(
        run_after=timezone.now() - timedelta(minutes=1)
    )
    Job.objects.filter(pk=job.pk).update(
        run_after=timezone.now() + timedelta(minutes=1)
    )
    claimed = queue.claim()
    assert claimed is not None
    assert claimed.pk == second.pk
    assert queue.claim() is None
    assert queue.claim(job.pk) is None


def test_a_job_of_a_dead_worker_is_taken_over_once_its_lease_has_run_out(
    job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = queue.claim()
    assert first is not None
    assert queue.claim() is None
    pass_time(monkeypatch, seconds=31)
    second = queue.claim()
    assert second is not None
    assert (second.attempts, second.lease_owner) != (first.attempts, first.lease_owner)


def test_a_worker_that_lost_its_lease_has_no_effect(
    job: Job, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stall(context: JobContext, **arguments: Any) -> None:
        context.on_finish(lambda: Project.objects.create(slug="effect", name=""))
        pass_time(monkeypatch, seconds=31)
        claim_elsewhere()

    work.does = stall
    run_one()
    job.refresh_from_db()
    assert job.status == "running"
    assert not Project.objects.filter(slug="effect").exists()


def test_renewing_keeps_a_job(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = queue.claim()
    assert mine is not None
    pass_time(monkeypatch, seconds=20)
    assert queue.renew(mine)
    pass_time(monkeypatch, seconds=20)
    assert queue.claim() is None
    pass_time(monkeypatch, seconds=20)
    assert queue.claim() is not None
    assert not queue.renew(mine)


def test_the_effect_and_the_end_of_a_job_are_one(job: Job, work: Work) -> None:
    def half(context: JobContext, **arguments: Any) -> None:
        context.on_finish(lambda: Project.objects.create(slug="effect", name=""))
        context.on_finish(lambda: 1 / 0)

    work.does = half
    run_one()
    job.refresh_from_db()
    assert job.status == "queued"
    assert not Project.objects.filter(slug="effect").exists()


def test_progress_is_written_and_seen(job: Job, work: Work) -> None:
    seen: list[Any] = []

    def report(context: JobContext, **arguments: Any) -> None:
        for done in (0, 1, 3):
            context.progress(done, total=3, unit="messages")
            seen.append(Job.objects.values_list("done", "total", "unit").get())

    work.does = report
    run_one()
    assert seen == [(0, 3, "messages"), (0, 3, "messages"), (3, 3, "messages")]


def test_progress_tells_a_worker_that_it_lost_its_lease(
    job: Job, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stall(context: JobContext, **arguments: Any) -> None:
        pass_time(monkeypatch, seconds=31)
        claim_elsewhere()
        with pytest.raises(runner.LeaseLost):
            context.progress(1)
        raise runner.LeaseLost

    work.does = stall
    run_one()
    assert Job.objects.get().status == "running"
