"""The process of `bench.pages.drawing`: rows and pages over its own data folder."""

import gc
import json
import os
import time
from collections.abc import Callable
from functools import partial
from http import HTTPStatus

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextstudio.settings")
django.setup()

from django.conf import settings  # noqa: E402  # only after Django is set up
from django.test import Client  # noqa: E402

from contextstudio.accounts.models import User  # noqa: E402
from contextstudio.accounts.selectors import caller_of_user  # noqa: E402
from operations.editor.rows.sections import draw_chunk  # noqa: E402
from operations.editor.views.requests import look_of  # noqa: E402
from threads.models import Rendering, Session  # noqa: E402
from threads.rendering import fragments  # noqa: E402

from .drawing import ROWS, SIZES  # noqa: E402
from .pages_data import make_session, prepare  # noqa: E402

WARM_ROUNDS, COLD_ROUNDS, PAGE_ROUNDS = 40, 3, 7


def measure() -> dict[str, object]:
    """Seconds of each measurement."""
    owner, project = prepare()
    sessions = {size: make_session(owner, project, size) for size in SIZES}
    client = Client(SERVER_NAME=settings.HOST)
    client.force_login(owner)
    warm, templates, uncached = _rows(owner, sessions[SIZES[1]])

    def answer(session: Session) -> None:
        if client.get(f"/sessions/{session.pk}/").status_code != HTTPStatus.OK:
            raise RuntimeError("the page was not answered")

    pages = {
        size: _least(partial(answer, session), PAGE_ROUNDS)
        for size, session in sessions.items()
    }
    return {"warm": warm, "templates": templates, "uncached": uncached, "pages": pages}


def _rows(owner: User, session: Session) -> tuple[float, float, float]:
    """Seconds for the rows: cached, rendered from ready bodies, rendered from their parts."""
    look = look_of(caller_of_user(owner), session)
    finished: set[str] = set()

    def draw() -> None:
        finished.add(draw_chunk(look, session.message_count // 2, ROWS))

    def draw_from_bodies() -> None:
        fragments.rows.clear()
        draw()

    def draw_from_parts() -> None:
        Rendering.objects.all().delete()
        draw_from_bodies()

    uncached = _least(draw_from_parts, COLD_ROUNDS)
    templates = _least(draw_from_bodies, COLD_ROUNDS)
    warm = _least(draw, WARM_ROUNDS)
    if len(finished) != 1:
        raise AssertionError("a row from the cache is not the row that was rendered")
    return warm, templates, uncached


def _least(work: Callable[[], object], rounds: int) -> float:
    work()
    gc.collect()
    gc.disable()
    taken = []
    for _ in range(rounds):
        begun = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begun)
    gc.enable()
    return min(taken)


if __name__ == "__main__":
    print(json.dumps(measure()))
