"""The server of `bench.forwarding.loop`: the product with extra views that make sessions."""

import gc
import os
import sys
from pathlib import Path

import django
import orjson
import uvicorn

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextstudio.settings")
django.setup()

from django.conf import settings  # noqa: E402  # only after Django is set up
from django.http import HttpRequest, HttpResponse  # noqa: E402
from django.urls import path  # noqa: E402
from django.views.decorators.csrf import csrf_exempt  # noqa: E402

from bench.address_server import AddressPrinter  # noqa: E402
from bench.context.hook_process import edits_of  # noqa: E402
from bench.pages.pages_data import prepare  # noqa: E402
from bench.transcript import messages  # noqa: E402
from contextstudio import urls  # noqa: E402
from contextstudio.accounts.domain.rights import Right  # noqa: E402
from contextstudio.accounts.keys.services import create_key  # noqa: E402
from contextstudio.accounts.models import Project  # noqa: E402
from contextstudio.accounts.selectors import caller_of_user  # noqa: E402
from contextstudio.memory import return_free_memory  # noqa: E402
from operations.context.policies import set_policy  # noqa: E402
from operations.edits import services  # noqa: E402
from threads.domain.formats.openai.messages import read_messages  # noqa: E402
from threads.sessions.services import NewSession, create_session  # noqa: E402

_AT_ONCE = 500


def main() -> None:
    """Create the first project, print the address and the key, and serve.

    If a key is given, another process has created both.
    """
    owner, project = prepare()
    key = sys.argv[1] if len(sys.argv) > 1 else ""
    if not key:
        made = create_key(owner, project, name="bench", scopes=frozenset(Right))
        key = made.text

    @csrf_exempt
    def make(request: HttpRequest) -> HttpResponse:
        """Create a session with messages and operations."""
        wanted = orjson.loads(request.body)
        found = read_messages(list(messages(wanted["count"])))
        new = NewSession(title="Loop", messages=found, model="gpt-4o")
        caller = caller_of_user(owner)
        session = create_session(caller, Project.objects.get(pk=project.pk), new)
        edits = list(edits_of(found, wanted["operations"]))
        for start in range(0, len(edits), _AT_ONCE):
            services.record_bundle(caller, session.pk, edits[start : start + _AT_ONCE])
        if wanted["tiers"]:
            set_policy(caller, session.pk, {"preset": "slop", "window": 20})
        return HttpResponse(orjson.dumps({"id": str(session.pk)}))

    @csrf_exempt
    def resident(request: HttpRequest) -> HttpResponse:
        """The resident memory in bytes, as it would be a minute after the last request."""
        gc.collect()
        return_free_memory()
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return HttpResponse(orjson.dumps(pages * os.sysconf("SC_PAGE_SIZE")))

    urls.urlpatterns += [path("bench/session", make), path("bench/memory", resident)]
    from contextstudio.asgi import application  # noqa: PLC0415

    config = uvicorn.Config(
        application,
        host=settings.HOST,
        port=0,
        log_level="warning",
        lifespan="off",
        timeout_keep_alive=3600,
    )
    AddressPrinter(config, f"{os.getpid()} {key}").run()


if __name__ == "__main__":
    main()
