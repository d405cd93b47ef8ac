"""The jobs that import a large upload and that bring the search indexes up to date."""

import uuid
from collections.abc import Collection
from dataclasses import asdict
from typing import Any

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Unavailable
from contextstudio.accounts.jobs import JobContext, enqueue
from contextstudio.accounts.models import Job
from contextstudio.database.best_effort import write_if_free
from contextstudio.database.prepared import Prepared
from threads import imports
from threads.models import Import
from threads.search import meaning, word_index
from threads.store import commits

from .presentation import present_import
from .selectors import current_titles
from .upload import Upload

KIND = "import"
INDEX = "index"
_SYSTEM = Caller(actor="system", name="ContextStudio")
_WAITING = Prepared(
    lambda: Job.objects.filter(kind=INDEX, status=Job.Status.QUEUED).values_list(
        "pk", flat=True
    )[:1]
)
"""Queried after every import."""


def arguments_of(upload: Upload) -> dict[str, Any]:
    session = upload.session_id
    return {**asdict(upload), "session_id": str(session) if session else None}


def names_of_files(names: Collection[str]) -> dict[str, str]:
    """Map each upload's name to itself: an upload is shown under its own name."""
    return {name: name for name in names}


def names_of_imports(ids: Collection[str]) -> dict[str, str]:
    """Map ids of imports to the names of what was imported."""
    found = Import.objects.filter(pk__in=ids).values_list("pk", "name")
    return {str(pk): name for pk, name in found}


def run_import(context: JobContext, **arguments: Any) -> dict[str, Any]:
    """Import a stored upload; the result is the body that a quick import returns with 201."""
    session = arguments.pop("session_id")
    upload = Upload(**arguments, session_id=uuid.UUID(session) if session else None)
    if _is_imported_already(context.job, upload):
        raise Unavailable("Another job is importing the same file.")  # then it is known
    imported = imports.import_staged(
        context.caller,
        context.project,
        upload,
        job_id=context.job_id,
        progress=lambda done, total, unit: context.progress(
            done, total=total, unit=unit
        ),
    )
    count = imported.recorded
    # The last check that the job is still wanted, and its caller still permitted; then all is
    # shown.
    context.progress(count, total=count, unit="messages")
    # Outside the transaction that ends the job, which so many sessions could make too long.
    imports.show(context.project, context.job_id)
    context.on_finish(lambda: imports.publish(context.project, context.job_id))
    return present_import(imported)


def _is_imported_already(job: Job, upload: Upload) -> bool:
    """Whether an earlier job of the project is queued or running for the same file."""
    same = Job.objects.filter(
        kind=KIND,
        project=job.project,
        status__in=(Job.Status.QUEUED, Job.Status.RUNNING),
        arguments__sha256=upload.sha256,
    )
    # Compared here: SQLite's clock writes timestamps in another form than Django does.
    begun = same.values_list("created_at", "pk")
    return any(other < (job.created_at, job.pk) for other in begun)


def shown_result(job: Job) -> dict[str, Any] | None:
    """The result of an import with the current titles of its sessions; "" for deleted ones.

    An old title may contain text that was redacted since.
    """
    result: dict[str, Any] | None = job.result
    if not result or "sessions" not in result:
        return result
    titles = current_titles(one["id"] for one in result["sessions"])
    named = [one | {"title": titles.get(one["id"], "")} for one in result["sessions"]]
    return result | {"sessions": named}


def run_index(context: JobContext) -> dict[str, Any]:
    """Add new texts to the word indexes; the result is how many.

    Then adds their vectors, if search by meaning is on.
    """
    done = 0
    # A power cut loses the index entries together with their mark, so they are added again.
    with commits.deferred_sync():
        for index in word_index.registered():
            for some in index.catch_up():
                done += some
                context.progress(done, unit="texts")
        vectors = 0
        for some in meaning.catch_up():
            vectors += some
            context.progress(done + vectors, unit="texts")
    # Most of the calls above write nothing: this one stores the final figure.
    context.progress(done + vectors, total=done + vectors, unit="texts")
    return {"indexed": done} | ({"vectors": vectors} if meaning.is_on() else {})


def enqueue_index_if_due(*_: object) -> None:
    """A hook that enqueues one index job if enough texts are new to be worth it."""
    if _is_worth():
        _enqueue_once()


def enqueue_index_if_free() -> None:
    """Like `enqueue_index_if_due`, for callers that only read and must not wait for writers."""
    if _is_worth():
        write_if_free(_enqueue_once)


def enqueue_index_if_behind() -> None:
    """Enqueue one index job if any text is new."""
    words = any(index.is_behind() for index in word_index.registered())
    if words or meaning.is_behind():
        _enqueue_once()


def _is_worth() -> bool:
    words = any(index.is_worth_a_job() for index in word_index.registered())
    return words or meaning.is_worth_a_job()


def _enqueue_once() -> None:
    if not _WAITING.rows():
        enqueue(None, INDEX, {}, _SYSTEM)
