"""A request is answered whatever leaves its code, a StopIteration too."""

import asyncio
from types import ModuleType

import httpx
import pytest
from django.http import HttpRequest, HttpResponse
from django.test import override_settings
from django.urls import path

from contextstudio.asgi import pages
from contextstudio.database.thread_pool import in_thread

PATIENCE_SECONDS = 60


def take_the_first(_: HttpRequest) -> HttpResponse:
    return next(iter(()))


def urls() -> ModuleType:
    module = ModuleType("urls_of_a_bug")
    module.urlpatterns = [path("bug", take_the_first)]  # type: ignore[attr-defined]  # its own
    module.handler500 = "contextstudio.web.middleware.server_error"  # type: ignore[attr-defined]
    return module


@pytest.mark.sqlite
@pytest.mark.django_db(transaction=True)
async def test_a_view_that_a_stop_iteration_leaves_is_answered() -> None:
    transport = httpx.ASGITransport(pages, raise_app_exceptions=False)
    async with httpx.AsyncClient(
        transport=transport, base_url="http://testserver"
    ) as asking:
        with override_settings(ROOT_URLCONF=urls()):
            answer = await asyncio.wait_for(asking.get("/bug"), PATIENCE_SECONDS)
    assert answer.status_code == 500


async def test_what_a_stop_iteration_leaves_in_another_thread_fails() -> None:
    with pytest.raises(RuntimeError):
        await asyncio.wait_for(in_thread(next, iter(())), PATIENCE_SECONDS)
