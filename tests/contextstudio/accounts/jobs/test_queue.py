"""Jobs: one claim at a time, one effect, and an end that says why."""

import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction
from django.test import Client
from django.utils import timezone

from contextstudio.accounts import jobs
from contextstudio.accounts.domain.errors import Invalid, Unavailable
from contextstudio.accounts.domain.rights import ProjectRole, Right
from contextstudio.accounts.jobs import JobContext, canary, queue, runner
from contextstudio.accounts.models import Job, Membership, Project, User
from tests.people import caller

KIND = "test"


class Work:
    """A kind of job whose next runs do what a test sets."""

    def __init__(self) -> None:
        self.runs: list[JobContext] = []
        self.does: Any = lambda context, **arguments: arguments

    def __call__(self, context: JobContext, **arguments: Any) -> Any:
        self.runs.append(context)
        return self.does(context, **arguments)


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Iterator[Work]:
    handler = Work()
    monkeypatch.setitem(queue._kinds, KIND, queue.JobKind(KIND, handler))
    yield handler


@pytest.fixture
def job(work: Work, project: Project, editor: User) -> Job:
    return jobs.enqueue(project, KIND, {"number": 1}, caller(editor))


def run_one(**options: Any) -> None:
    claimed = queue.claim()
    assert claimed is not None
    runner.run(claimed, **options)


def claim_elsewhere() -> None:
    """Take the job that is due as a worker of another process does."""
    queue.running_here.clear()
    assert queue.claim() is not None


def pass_time(monkeypatch: pytest.MonkeyPatch, **time: float) -> None:
    later = timezone.now() + timedelta(**time)
    monkeypatch.setattr(timezone, "now", lambda: later)


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
    from contextstudio.accounts.jobs.queue import work_waits

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


def test_a_refusal_is_the_outcome_and_is_not_tried_again(job: Job, work: Work) -> None:
    def refuse(context: JobContext, **arguments: Any) -> None:
        raise Invalid("This is a Codex rollout.", code="format_unsupported")

    work.does = refuse
    run_one()
    job.refresh_from_db()
    assert (job.status, job.error) == ("failed", "This is a Codex rollout.")
    assert job.result is not None
    assert job.result["code"] == "format_unsupported"
    assert queue.claim() is None


def test_a_fault_is_tried_again_later_each_time_and_then_given_up(
    job: Job, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(context: JobContext, **arguments: Any) -> None:
        raise ArithmeticError("a bug")

    work.does = fail
    waits = []
    for _ in range(queue.MOST_ATTEMPTS):
        run_one()
        job.refresh_from_db()
        waits.append((job.run_after - timezone.now()).total_seconds())
        pass_time(monkeypatch, hours=1)
    assert waits[:4] == pytest.approx([2, 4, 8, 16], abs=1)
    assert job.status == "failed"
    assert job.error == (
        "This job stopped 5 times with an unexpected ArithmeticError; "
        "the server's log has the details."
    )


def test_a_job_survives_any_number_of_killed_workers(
    job: Job, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    while job.interruptions < 40:
        claimed = queue.claim()  # and its worker is killed; or it is put off
        assert claimed is None or claimed.attempts == 1
        pass_time(monkeypatch, minutes=2)
        job.refresh_from_db()
    run_one()
    job.refresh_from_db()
    assert (job.status, job.attempts) == ("done", 1)


def test_a_job_over_which_workers_died_waits_longer_each_time(
    job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = []
    for _ in range(9):
        pass_time(monkeypatch, minutes=2)
        if queue.claim() is None:
            job.refresh_from_db()
            waits.append((job.run_after - timezone.now()).total_seconds())
            pass_time(monkeypatch, minutes=2)
            assert queue.claim() is not None
    assert waits == pytest.approx([2, 4, 8, 16, 32, 60], abs=1)


@pytest.mark.parametrize(
    "fault",
    [OperationalError("the connection was closed"), Unavailable("Others write to it.")],
    ids=["a database", "a session"],
)
def test_what_is_away_or_busy_is_no_fault_of_the_job(
    job: Job, work: Work, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    def fail(context: JobContext, **arguments: Any) -> None:
        raise fault

    work.does = fail
    for times in range(1, 3 * queue.MOST_ATTEMPTS):
        run_one()
        job.refresh_from_db()
        assert (job.status, job.attempts) == ("queued", 0)
        assert job.interruptions == times
        pass_time(monkeypatch, hours=1)


def test_a_job_that_is_run_here_is_not_taken_over_here_however_late_its_lease(
    job: Job, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stall(context: JobContext, **arguments: Any) -> None:
        pass_time(monkeypatch, minutes=10)
        assert queue.claim() is None

    work.does = stall
    run_one()
    job.refresh_from_db()
    assert job.status == "done"


def test_progress_within_a_transaction_locks_no_job(job: Job, work: Work) -> None:
    def report(context: JobContext, **arguments: Any) -> None:
        with transaction.atomic():
            context.progress(1)
            assert Job.objects.get().done == 0
        context.progress(2)
        assert Job.objects.get().done == 2

    work.does = report
    run_one()


def test_a_worker_that_stops_puts_its_job_back_unharmed(job: Job, work: Work) -> None:
    work.does = lambda context, **arguments: context.progress(1)
    run_one(stopping=lambda: True)
    job.refresh_from_db()
    assert (job.status, job.attempts) == ("queued", 0)
    run_one()
    job.refresh_from_db()
    assert job.status == "done"


def test_a_waiting_job_is_cancelled_at_once(job: Job) -> None:
    assert jobs.request_cancel(job).status == "cancelled"
    assert queue.claim() is None


def test_a_running_job_is_cancelled_at_its_next_report(job: Job, work: Work) -> None:
    def step(context: JobContext, **arguments: Any) -> None:
        assert jobs.request_cancel(context.job).status == "running"
        context.progress(1)

    work.does = step
    run_one()
    job.refresh_from_db()
    assert job.status == "cancelled"


def test_a_job_that_was_cancelled_while_its_worker_died_ends(
    job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    claimed = queue.claim()
    assert claimed is not None
    jobs.request_cancel(claimed)
    pass_time(monkeypatch, minutes=1)
    assert queue.claim() is None
    job.refresh_from_db()
    assert job.status == "cancelled"


@pytest.mark.parametrize("times", [1, queue.INTERRUPTIONS_AT_ONCE])
def test_what_killed_runs_left_of_a_job_goes_before_it_is_cancelled(
    job: Job, work: Work, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    taken_back: list[uuid.UUID] = []
    kind = queue.JobKind(KIND, work, take_back=taken_back.append)
    monkeypatch.setitem(queue._kinds, KIND, kind)
    for minutes in range(times):
        pass_time(monkeypatch, minutes=minutes)
        claim_elsewhere()
    pass_time(monkeypatch, minutes=times)
    if times > 1:  # put off, so that it waits again
        assert queue.claim() is None
    job.refresh_from_db()
    assert jobs.request_cancel(job).status != "cancelled"
    run_one()
    job.refresh_from_db()
    assert (job.status, taken_back, work.runs) == ("cancelled", [job.pk], [])


@pytest.fixture
def taken_back(work: Work, monkeypatch: pytest.MonkeyPatch) -> list[uuid.UUID]:
    """The jobs that were taken back, of a kind that takes the right to edit."""
    jobs_: list[uuid.UUID] = []
    kind = queue.JobKind(KIND, work, take_back=jobs_.append, right=Right.EDIT)
    monkeypatch.setitem(queue._kinds, KIND, kind)
    return jobs_


@pytest.mark.parametrize("step", ["progress", "pay"])
def test_a_job_of_one_who_loses_the_right_to_it_ends_at_its_next_step_and_leaves_nothing(
    job: Job, work: Work, taken_back: list[uuid.UUID], step: str
) -> None:
    effects: list[str] = []

    def does(context: JobContext, **_: object) -> None:
        context.on_finish(lambda: effects.append("done"))
        context.progress(0, total=1)
        Membership.objects.update(role=ProjectRole.VIEWER)
        if step == "pay":
            context.pay("a call")
        context.progress(1, total=1)

    work.does = does
    run_one()
    job.refresh_from_db()
    assert (job.status, effects, taken_back) == ("failed", [], [job.pk])
    assert job.notes == {}
    assert "right to edit" in job.error


def test_a_job_of_one_who_has_lost_the_right_to_it_is_not_begun(
    job: Job, work: Work, taken_back: list[uuid.UUID]
) -> None:
    Membership.objects.all().delete()
    run_one()
    job.refresh_from_db()
    assert (job.status, work.runs, taken_back) == ("failed", [], [job.pk])


def test_what_a_job_leaves_stays_for_its_next_run_where_something_was_busy(
    job: Job, work: Work, taken_back: list[uuid.UUID]
) -> None:
    def does(context: JobContext, **_: object) -> None:
        raise Unavailable("Busy.")

    work.does = does
    run_one()
    job.refresh_from_db()
    assert (job.status, taken_back) == ("queued", [])


def test_what_has_ended_stays_as_it_is(job: Job) -> None:
    run_one()
    assert jobs.request_cancel(job).status == "done"


def test_the_api_says_how_far_a_job_is_and_cancels_it(agent: Client, job: Job) -> None:
    Job.objects.update(done=2, total=5, unit="messages")
    answer = agent.get(f"/api/jobs/{job.pk}").json()
    wanted = {
        "status": "queued",
        "done": 2,
        "total": 5,
        "unit": "messages",
        "error": None,
    }
    assert wanted.items() <= answer.items()
    cancelled = agent.post(f"/api/jobs/{job.pk}/cancel").json()
    assert cancelled["status"] == "cancelled"
    assert agent.get(f"/api/jobs/{uuid.uuid4()}").status_code == 404


def test_the_api_tells_nobody_of_the_products_own_jobs(agent: Client) -> None:
    canary.send()
    assert agent.get(f"/api/jobs/{Job.objects.get().pk}").status_code == 404


def test_a_job_without_a_project_works_in_none(work: Work, editor: User) -> None:
    jobs.enqueue(None, KIND, {}, caller(editor))
    run_one()
    with pytest.raises(LookupError):
        _ = work.runs[0].project


def test_why_a_job_waited_is_not_said_of_it_any_more_once_it_runs_or_is_cancelled(
    job: Job, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []

    def wait(context: JobContext, **arguments: Any) -> None:
        said.append(Job.objects.values_list("error", flat=True).get())
        raise jobs.Later("Others write to this session.")

    work.does = wait
    run_one()
    pass_time(monkeypatch, seconds=60)
    run_one()
    assert said == ["", ""]
    job.refresh_from_db()
    assert job.error == "Others write to this session."
    assert queue.request_cancel(job).error == ""


@pytest.mark.parametrize(("odd", "kept"), [("\x00", "\ufffd"), ("\ud83d", "?")])
def test_words_that_no_database_holds_end_no_job_otherwise(
    work: Work, project: Project, editor: User, odd: str, kept: str
) -> None:
    asked = jobs.enqueue(project, KIND, {"wish": f"a{odd}b"}, caller(editor))

    def answer(context: JobContext, wish: str) -> dict[str, Any]:
        context.note(by=odd)
        return {"wish": [wish], odd: odd}

    work.does = answer
    run_one()
    asked.refresh_from_db()
    answered = {"wish": [f"a{kept}b"], kept: kept}
    assert (asked.status, asked.result) == ("done", answered)

    def refuse(context: JobContext) -> None:
        raise Invalid(f"No {odd}.", facts={"said": odd})

    work.does = refuse
    refused = jobs.enqueue(project, KIND, {}, caller(editor))
    run_one()
    refused.refresh_from_db()
    assert (refused.status, refused.error) == ("failed", f"No {kept}.")

    def wait(context: JobContext) -> None:
        raise jobs.Later(f"Busy {odd}")

    work.does = wait
    waiting = jobs.enqueue(project, KIND, {}, caller(editor))
    run_one()
    waiting.refresh_from_db()
    assert (waiting.status, waiting.error) == ("queued", f"Busy {kept}")
