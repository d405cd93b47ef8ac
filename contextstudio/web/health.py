"""Endpoints for operators and their machines: liveness, readiness, metrics.

Also counts what they report: responses, faults, and violations of the Content-Security-Policy that
browsers report.
"""

import asyncio
import json
import logging
import threading
from datetime import timedelta

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.conf import settings
from django.db import Error, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from contextstudio.accounts.jobs import canary
from contextstudio.accounts.selectors import count_jobs, oldest_due_job
from contextstudio.database.write_queue import queue_of

logger = logging.getLogger("contextstudio.csp")

_MAX_REPORT_BYTES = 16 * 1024
_MAX_SINCE_CANARY = timedelta(seconds=90)
_MAX_ECHO_SECONDS = 3


class Counter:
    """A counter of this process since its start; thread-safe."""

    def __init__(self, name: str, description: str) -> None:
        self.name = name
        self.description = description
        self.value = 0
        self._lock = threading.Lock()

    def add(self) -> None:
        with self._lock:
            self.value += 1


answers = Counter("contextstudio_answers_total", "Requests that Django answered.")
faults = Counter(
    "contextstudio_faults_total", "Requests that were answered with a 5xx."
)
csp_reports = Counter(
    "contextstudio_csp_reports_total",
    "Violations of the policy that browsers reported.",
)
ALL = (answers, faults, csp_reports)


def alive(request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok", content_type="text/plain")


def ready(request: HttpRequest) -> HttpResponse:
    """Whether all components work: 200, or 503; each part says `ok` or what is wrong."""
    parts = {"database": "ok", "jobs": "ok", "live": "ok"}
    try:
        # A row is written, and a worker that takes it proves that jobs are done.
        since = canary.send()
    except Error:
        parts |= {"database": "The database accepts no writes.", "jobs": "unknown"}
    else:
        if since is None or since > _MAX_SINCE_CANARY:
            parts["jobs"] = "No job was done in the last 90 seconds."
    try:
        async_to_sync(_echo)()
    except Exception:  # noqa: BLE001  # each layer has its own exceptions
        parts["live"] = "The channel layer does not answer; pages poll for changes."
    healthy = all(state == "ok" for state in parts.values())
    return JsonResponse(parts, status=200 if healthy else 503)


async def _echo() -> None:
    layer = get_channel_layer()
    async with asyncio.timeout(_MAX_ECHO_SECONDS):
        channel = await layer.new_channel()
        await layer.send(channel, {"type": "echo"})
        await layer.receive(channel)


def metrics(request: HttpRequest) -> HttpResponse:
    """Metrics in Prometheus's text format; none of them names a person or a session."""
    oldest = oldest_due_job()
    waiting = (timezone.now() - oldest).total_seconds() if oldest else 0
    lines = [
        "# HELP contextstudio_jobs Jobs by status.",
        "# TYPE contextstudio_jobs gauge",
        *(
            f'contextstudio_jobs{{status="{status}"}} {count}'
            for status, count in count_jobs().items()
        ),
        "# HELP contextstudio_oldest_due_job_seconds How long the oldest due job has waited.",
        "# TYPE contextstudio_oldest_due_job_seconds gauge",
        f"contextstudio_oldest_due_job_seconds {waiting:.1f}",
    ]
    if settings.ON_SQLITE:
        held = queue_of(str(connection.settings_dict["NAME"])).longest
        lines += [
            "# HELP contextstudio_longest_write_seconds"
            " The longest time that this process held the write lock.",
            "# TYPE contextstudio_longest_write_seconds gauge",
            f"contextstudio_longest_write_seconds {held:.3f}",
        ]
    for counter in ALL:
        lines.append(f"# HELP {counter.name} {counter.description}")
        lines.append(f"# TYPE {counter.name} counter")
        lines.append(f"{counter.name} {counter.value}")
    text = "".join(f"{line}\n" for line in lines)
    return HttpResponse(text, content_type="text/plain; version=0.0.4")


@csrf_exempt
@require_POST
def record_report(request: HttpRequest) -> HttpResponse:
    """Log a report on one line and count it. Anyone may send one, so it is kept short."""
    try:
        report = json.loads(request.read(_MAX_REPORT_BYTES))
    except (ValueError, RecursionError):
        return HttpResponse(status=400)
    csp_reports.add()
    logger.warning("CSP report %s", json.dumps(report)[:2000])
    return HttpResponse(status=204)
