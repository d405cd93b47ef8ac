"""Pages of imports: uploading files, their reports, their jobs."""

import io
import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django import forms
from django.contrib import messages
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.defaultfilters import pluralize
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.http import urlencode
from django.utils.timezone import is_naive
from django.views.decorators.http import require_POST, require_safe

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Invalid, NotFound
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.jobs import enqueue, request_cancel
from contextstudio.accounts.models import Job, Project
from contextstudio.accounts.responses import go_to
from contextstudio.accounts.selectors import get_job, visible_projects
from threads import imports
from threads.domain.transcript import Warning
from threads.models import Import
from threads.rendering.hidden import visible

from . import cleaning, deleting, jobs
from .reports import shown_files, shown_import, summary_line
from .selectors import get_import, list_files, list_imports
from .upload import Upload, keep_received, received_files

SHOWN_JOBS = 20
SHOWN_IMPORTS = 50
SHOWN_FILES = 100
SHOWN_WARNINGS = 3


@dataclass(frozen=True, slots=True)
class ImportLine:
    """An import in the list: see `templates/threads/imports/jobs.html`."""

    job: Job
    name: str
    sentence: str
    """The progress (`412 of 1,930 messages`), the result, or why it failed."""
    report: uuid.UUID | None = None
    """The id of the import, once it is done."""


class ImportForm(forms.Form):
    """One or more files (`file`, with their `paths`), or a pasted transcript."""

    text = forms.CharField(required=False, strip=False)
    paths = forms.CharField(required=False, strip=False)

    def clean(self) -> dict[str, object]:
        if (
            not self.files.getlist("file")
            and not self.cleaned_data.get("text", "").strip()
        ):
            raise forms.ValidationError("Choose a file or paste a transcript.")
        return self.cleaned_data

    def upload(self) -> Upload:
        """The file, files or text, stored in the blob store."""
        text = self.cleaned_data.get("text", "")
        files = received_files(
            self.files.getlist("file"), self.cleaned_data.get("paths", "")
        )
        if text.strip():
            stream = io.BytesIO(text.encode("utf-8", "surrogatepass"))
            files.append(("", lambda: cleaning.store(stream)))
        return keep_received(files)


@require_POST
def import_transcripts(request: HttpRequest) -> HttpResponse:
    """Import files or pasted text; go to the session if it is the only one, else to the list."""
    caller = caller_of(request)
    form = ImportForm(request.POST, request.FILES)
    if not form.is_valid():
        raise Invalid("Choose a file or paste a transcript.", at=["file"])
    project = _project(caller, request.POST.get("project"))
    upload = form.upload()
    if not imports.is_quick(upload):
        enqueue(project, jobs.KIND, jobs.arguments_of(upload), caller)
        if request.headers.get("HX-Request"):
            return _job_rows(request, caller, status=202)
        return go_to(request, reverse("operations:sessions"))
    imported = imports.import_upload(caller, project, upload)
    sessions, row = imported.sessions, imported.row
    if len(sessions) == 1 and not imports.has_unread_files(imported):
        shown = shown_import(row)
        if shown.is_known:
            messages.info(request, "Imported before: nothing is new.")
        else:
            _add_notice(request, imported.warnings, shown.warnings)
            _add_extras_notice(request, row)
        return go_to(request, reverse("operations:thread", args=[sessions[0].pk]))
    return go_to(request, reverse("threads:report", args=[row.pk]))


@require_safe
def imports_made(request: HttpRequest) -> HttpResponse:
    caller = caller_of(request)
    cursor = request.GET.get("cursor") or None
    found = list_imports(caller, cursor=cursor, limit=SHOWN_IMPORTS)
    address = reverse("threads:imports")
    projects = projects_to_import_into(caller)
    context = {
        "imports": [shown_import(row) for row in found.items],
        "jobs": import_jobs(caller),
        "older_href": f"{address}?{urlencode({'cursor': found.next_cursor})}"
        if found.next_cursor
        else "",
        "newest_href": address if cursor else "",
        "has_project": visible_projects(caller).exists(),
        "may_edit": bool(projects),
        "projects": projects,
    }
    return render(request, "threads/imports/imports.html", context)


@require_safe
def report(request: HttpRequest, import_id: uuid.UUID) -> HttpResponse:
    caller = caller_of(request)
    row = get_import(caller, import_id)
    asked = {name: request.GET.get(name, "") for name in ("q", "outcome", "cursor")}
    files = list_files(
        row,
        query=asked["q"],
        outcome=asked["outcome"],
        cursor=asked["cursor"] or None,
        limit=SHOWN_FILES,
    )
    may_edit = caller.may(Right.EDIT, row.project_id)
    address = reverse("threads:report", args=[row.pk])
    filters = {name: asked[name] for name in ("q", "outcome") if asked[name]}
    older = urlencode({**filters, "cursor": files.next_cursor or ""})
    context = {
        "row": row,
        "report": shown_import(row),
        "files": shown_files(files.items),
        "made_count": deleting.sessions_created_by(caller, row).count()
        if may_edit
        else 0,
        "query": asked["q"],
        "outcome": asked["outcome"],
        "older_href": f"{address}?{older}#files" if files.next_cursor else "",
        "first_href": f"{address}?{urlencode(filters)}#files"
        if asked["cursor"]
        else "",
    }
    return render(request, "threads/imports/report.html", context)


@require_POST
def delete_sessions(request: HttpRequest, import_id: uuid.UUID) -> HttpResponse:
    """Hide the sessions that an import created; the notice offers to restore them."""
    caller = caller_of(request)
    row = get_import(caller, import_id)
    count, moment = deleting.delete_sessions(caller, row)
    undo = reverse("threads:restore_sessions", args=[row.pk])
    words = f"Deleted {count:,} session{pluralize(count)}."
    messages.success(
        request, words, extra_tags=f"{undo}?{urlencode({'at': moment.isoformat()})}"
    )
    return go_to(request, reverse("threads:report", args=[row.pk]))


@require_POST
def restore_sessions(request: HttpRequest, import_id: uuid.UUID) -> HttpResponse:
    """Restore the sessions of an import that were deleted together at the moment `at`."""
    caller = caller_of(request)
    row = get_import(caller, import_id)
    moment = _moment(request.GET.get("at", ""))
    count = deleting.restore_sessions(caller, row, moment)
    messages.success(request, f"Restored {count:,} session{pluralize(count)}.")
    return go_to(request, reverse("threads:report", args=[row.pk]))


@require_safe
def job_rows(request: HttpRequest) -> HttpResponse:
    return _job_rows(request, caller_of(request))


@require_POST
def cancel_job(request: HttpRequest, job_id: uuid.UUID) -> HttpResponse:
    caller = caller_of(request)
    request_cancel(get_job(caller, job_id, Right.EDIT))
    return _job_rows(request, caller)


@require_POST
def forget_job(request: HttpRequest, job_id: uuid.UUID) -> HttpResponse:
    """Remove a failed import from the list."""
    caller = caller_of(request)
    job = get_job(caller, job_id, Right.EDIT)
    if job.kind != jobs.KIND:
        raise NotFound("There is no such import.", at=["job_id"])
    if job.status in (Job.Status.FAILED, Job.Status.CANCELLED):
        job.delete()
    return _job_rows(request, caller)


def import_jobs(caller: Caller, watched: Collection[str] = ()) -> list[ImportLine]:
    """The caller's unfinished or failed imports of the last day, and finished `watched` ones."""
    recent = timezone.now() - timedelta(days=1)
    found = Job.objects.filter(
        project__in=visible_projects(caller), actor=caller.actor, kind=jobs.KIND
    ).filter(~Q(status=Job.Status.DONE) | Q(pk__in=watched))
    found = found.filter(created_at__gt=recent).order_by("-created_at", "-pk")
    return [_line(job) for job in found[:SHOWN_JOBS]]


def _line(job: Job) -> ImportLine:
    name = str(job.arguments.get("name") or "pasted text")
    if job.status == Job.Status.DONE:
        made = Import.objects.filter(pk=str((job.result or {})["import_id"])).first()
        return (
            ImportLine(job, name, summary_line(made), made.pk)
            if made
            else ImportLine(job, name, "")
        )
    return ImportLine(job, name, job.error or job.progress)


def projects_to_import_into(caller: Caller) -> list[Project]:
    """The projects in which the caller may edit."""
    return [
        project
        for project in visible_projects(caller)
        if caller.may(Right.EDIT, project.pk)
    ]


def _job_rows(
    request: HttpRequest, caller: Caller, *, status: int = 200
) -> HttpResponse:
    watched = (request.POST or request.GET).get("watched", "")
    context = {"jobs": import_jobs(caller, _ids(watched))}
    return render(request, "threads/imports/jobs.html", context, status=status)


def _ids(words: str) -> list[str]:
    """The ids in a comma-separated field."""
    found = [word for word in words.split(",") if word]
    try:
        return [str(uuid.UUID(word)) for word in found[:SHOWN_JOBS]]
    except ValueError as error:
        raise Invalid(
            "watched must list the ids of jobs: UUIDs.", at=["watched"]
        ) from error


def _moment(words: str) -> datetime:
    try:
        moment = parse_datetime(words)
    except ValueError:
        moment = None
    if moment is None or is_naive(moment):
        raise Invalid("at must be an ISO 8601 date and time with its zone.", at=["at"])
    return moment


def _project(caller: Caller, slug: str | None) -> Project:
    """The named project, or the first in which the caller may edit."""
    projects = [
        project
        for project in projects_to_import_into(caller)
        if slug in (None, "", project.slug)
    ]
    if not projects:
        raise Invalid("You can't import into any project here.", at=["project"])
    return projects[0]


def _add_notice(request: HttpRequest, warnings: Sequence[Warning], count: int) -> None:
    """Show a notice on the next page with the first warnings and the number of further ones."""
    if not warnings:
        return
    words = " ".join(warning.message for warning in warnings[:SHOWN_WARNINGS])
    more = count - SHOWN_WARNINGS
    words += f" And {more:,} more like these." if more > 0 else ""
    messages.warning(request, visible(words))


def _add_extras_notice(request: HttpRequest, row: Import) -> None:
    """Show a notice on the next page about what a file held besides messages."""
    for source in row.sources.filter(report__has_key="brought"):
        brought = source.report["brought"].items()
        found = " and ".join(f"{count:,} {what}" for what, count in brought)
        messages.success(request, f"Imported with {found}.")
