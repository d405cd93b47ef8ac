"""What came with a key is noted while it is answered, and written after a moment, with others."""

import asyncio
import logging
from typing import Any

from asgiref.sync import ThreadSensitiveContext
from channels.db import database_sync_to_async

from contextstudio.accounts.keys import request_log

from .guard import Application, Receive, Scope, Send

logger = logging.getLogger(__name__)

PAUSE = 2.0
"""Seconds between two writes; what a process that is killed had noted meanwhile is lost."""
_tasks: set[asyncio.Task[None]] = set()


class RequestLog:
    """An ASGI application that notes the requests of keys, and what they were answered."""

    def __init__(self, application: Application) -> None:
        self.application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer by the application."""
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return
        with request_log.noted(scope["method"], scope["path"]) as note:

            async def noting(message: dict[str, Any]) -> None:
                if message["type"] == "http.response.start":
                    note.status = message["status"]
                await send(message)

            await self.application(scope, receive, noting)
        if not _tasks and request_log.has_waiting():
            _tasks.add(asyncio.create_task(write_soon()))


async def write_soon() -> None:
    """Write the notes of a while at once, until there are none."""
    try:
        while request_log.has_waiting():
            await asyncio.sleep(PAUSE)
            async with ThreadSensitiveContext():
                await _write()
    finally:
        _tasks.clear()  # at once: what is noted from now on needs another task


async def _write() -> None:
    try:
        await database_sync_to_async(request_log.write_waiting)()
    except Exception:  # the record must not end for one batch
        logger.exception("Requests of keys were not recorded.")
