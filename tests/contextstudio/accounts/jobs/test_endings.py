"""How a job ends: done, given up, cancelled or forbidden, each with its reason."""

import uuid
from typing import Any

import pytest
from django.db import OperationalError, transaction
from django.test import Client
from django.utils import timezone

from contextstudio.accounts import jobs
from contextstudio.accounts.domain.errors import Invalid, Unavailable
from contextstudio.accounts.domain.rights import ProjectRole, Right
from contextstudio.accounts.jobs import JobContext, canary, kinds, queue, runner
from contextstudio.accounts.models import Job, Membership, Project, User
from tests.people import caller

from .working import KIND, Work, claim_elsewhere, pass_time, run_one


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
    for _ in range(queue.MAX_ATTEMPTS):
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


@pytest.mark.parametrize("fault", [None, ArithmeticError("a bug"), Invalid("no")])
def test_what_a_job_has_freed_goes_back_to_the_system(
    fault: Exception | None, job: Job, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    endings = []

    def end(context: JobContext, **arguments: Any) -> None:
        assert not endings
        if fault:
            raise fault

    work.does = end
    monkeypatch.setattr(
        runner, "return_free_memory", lambda: endings.append("given back")
    )
    run_one()
    assert endings == ["given back"]


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
    for times in range(1, 3 * queue.MAX_ATTEMPTS):
        run_one()
        job.refresh_from_db()
        assert (job.status, job.attempts) == ("queued", 0)
        assert job.interruptions == times
        pass_time(monkeypatch, hours=1)


def test_an_outage_takes_one_line_of_the_log_and_a_bug_all_that_led_to_it(
    job: Job,
    work: Work,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    faults = iter([OperationalError("database or\n disk is full"), ValueError("a bug")])

    def fail(context: JobContext, **arguments: Any) -> None:
        raise next(faults)

    work.does = fail
    run_one()
    (line,) = caplog.messages
    assert line == f"Job {job.pk} ({KIND}) stopped: database or disk is full"
    assert caplog.records.pop().exc_info is None
    pass_time(monkeypatch, hours=1)
    run_one()
    assert "ValueError: a bug" in caplog.text


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
    kind = kinds.JobKind(KIND, work, clean_up=taken_back.append)
    monkeypatch.setitem(kinds._kinds, KIND, kind)
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
    kind = kinds.JobKind(KIND, work, clean_up=jobs_.append, right=Right.EDIT)
    monkeypatch.setitem(kinds._kinds, KIND, kind)
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
        raise jobs.RetryLater("Others write to this session.")

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
        raise jobs.RetryLater(f"Busy {odd}")

    work.does = wait
    waiting = jobs.enqueue(project, KIND, {}, caller(editor))
    run_one()
    waiting.refresh_from_db()
    assert (waiting.status, waiting.error) == ("queued", f"Busy {kept}")
