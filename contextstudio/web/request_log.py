"""Notes requests with keys while they are answered, and writes the notes in bulk a moment later."""

import asyncio
import logging
from typing import Any

from asgiref.sync import ThreadSensitiveContext
from channels.db import database_sync_to_async

from contextstudio.accounts.keys import request_log

from .guard import Application, Receive, Scope, Send

logger = logging.getLogger(__name__)

PAUSE = 2.0
"""Seconds between two writes; if a process is killed, its notes since the last one are lost."""
_tasks: set[asyncio.Task[None]] = set()


class RequestLog:
    """An ASGI application that notes requests with keys, and the status of their responses."""

    def __init__(self, application: Application) -> None:
        self.application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the connection on."""
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return
        with request_log.noting_request(scope["method"], scope["path"]) as note:

            async def noting(message: dict[str, Any]) -> None:
                if message["type"] == "http.response.start":
                    note.status = message["status"]
                await send(message)

            await self.application(scope, receive, noting)
        if not _tasks and request_log.has_pending():
            _tasks.add(asyncio.create_task(write_soon()))


async def write_soon() -> None:
    """Write the notes collected in each pause together, until there are none."""
    try:
        while request_log.has_pending():
            await asyncio.sleep(PAUSE)
            async with ThreadSensitiveContext():
                await _write()
    finally:
        _tasks.clear()  # at once: later notes need another task


async def _write() -> None:
    try:
        await database_sync_to_async(request_log.write_pending)()
    except Exception:  # recording must not stop because one batch failed
        logger.exception("Requests of keys were not recorded.")
