"""What operators and their machines ask: is it alive, is it ready, what are its figures."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone

from contextstudio.accounts.jobs import canary
from contextstudio.accounts.selectors import count_jobs, oldest_due_job

from . import counters

_LONGEST_SINCE_CANARY = timedelta(seconds=90)
_LONGEST_ECHO_SECONDS = 3


def alive(request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok", content_type="text/plain")


def ready(request: HttpRequest) -> HttpResponse:
    """Whether what it needs works: 200, or 503; each part says `ok` or what is wrong."""
    parts = {**_database_and_jobs(), "live": _live()}
    healthy = all(state == "ok" for state in parts.values())
    return JsonResponse(parts, status=200 if healthy else 503)


def metrics(request: HttpRequest) -> HttpResponse:
    """The figures in Prometheus' text format; none of them names a person or a session."""
    lines = "".join(f"{line}\n" for line in _figures())
    return HttpResponse(lines, content_type="text/plain; version=0.0.4")


def _database_and_jobs() -> dict[str, str]:
    """A row is written, and a worker that takes it proves that jobs are done."""
    try:
        since = canary.send()
    except DatabaseError:
        return {"database": "The database takes no writes.", "jobs": "unknown"}
    if since is None or since > _LONGEST_SINCE_CANARY:
        return {"database": "ok", "jobs": "No job was done in the last 90 seconds."}
    return {"database": "ok", "jobs": "ok"}


def _live() -> str:
    """Whether the channel layer gives back what it is told."""
    try:
        async_to_sync(_echo)()
    except (OSError, TimeoutError):
        return "The channel layer gives no echo; pages ask for changes by themselves."
    return "ok"


async def _echo() -> None:
    layer = get_channel_layer()
    async with asyncio.timeout(_LONGEST_ECHO_SECONDS):
        channel = await layer.new_channel()
        await layer.send(channel, {"type": "echo"})
        await layer.receive(channel)


def _figures() -> Iterator[str]:
    yield "# HELP contextstudio_jobs Jobs by status."
    yield "# TYPE contextstudio_jobs gauge"
    for status, count in count_jobs().items():
        yield f'contextstudio_jobs{{status="{status}"}} {count}'
    oldest = oldest_due_job()
    waiting = (timezone.now() - oldest).total_seconds() if oldest else 0
    yield "# HELP contextstudio_oldest_due_job_seconds How long the oldest due job has waited."
    yield "# TYPE contextstudio_oldest_due_job_seconds gauge"
    yield f"contextstudio_oldest_due_job_seconds {waiting:.1f}"
    for counter in counters.ALL:
        yield f"# HELP {counter.name} {counter.description}"
        yield f"# TYPE {counter.name} counter"
        yield f"{counter.name} {counter.value}"
