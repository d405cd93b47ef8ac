"""Notifies viewers of a session that it has changed: facts, never content."""

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Callable
from functools import partial

from asgiref.sync import async_to_sync
from channels.layers import BaseChannelLayer, get_channel_layer
from django.db import transaction
from redis import exceptions as redis

from contextstudio.database.outages import DispensableServer
from threads.models import Session

logger = logging.getLogger(__name__)

LAYER_SECONDS = 2
"""Seconds to wait for the channel layer, which has no timeout of its own."""


def group_name(session_id: uuid.UUID) -> str:
    """The channel group of a session's viewers."""
    return f"session.{session_id.hex}"


def announce(session: Session) -> None:
    """After the commit, send the head, the number of messages and the title's checksum.

    Best effort: a page that misses it asks by number.
    """
    fact = {
        "type": "session.changed",
        "head": session.head,
        "message_count": session.message_count,
        "title_mark": session.title_mark,
    }
    group = group_name(session.pk)
    transaction.on_commit(lambda: _send(group, fact), robust=True)


def announce_job(session_id: uuid.UUID, job_id: uuid.UUID) -> None:
    """Announce at once that a job about a session has progressed; the page asks how far."""
    _send(group_name(session_id), {"type": "session.job", "job": str(job_id)})


def _send(group: str, fact: dict[str, object]) -> None:
    if _loop is not None and _loop.is_running():
        asyncio.run_coroutine_threadsafe(_tell(group, fact), _loop)
    else:
        async_to_sync(_tell)(group, fact)


async def join(layer: BaseChannelLayer, group: str, channel: str) -> bool:
    """Join a group; returns False if the channel layer doesn't respond."""
    return await _done(partial(layer.group_add, group, channel))


async def leave(layer: BaseChannelLayer, group: str, channel: str) -> None:
    """Leave a group; if the channel layer doesn't respond, it drops the channel by itself."""
    await _done(partial(layer.group_discard, group, channel))


def set_event_loop(loop: asyncio.AbstractEventLoop) -> None:
    """Set the event loop in which this process's pages listen.

    The queues of an in-memory layer only wake up waiters in the loop that they are used in, and
    jobs announce from threads that have no loop.
    """
    global _loop
    _loop = loop


_loop: asyncio.AbstractEventLoop | None = None


async def _tell(group: str, fact: dict[str, object]) -> None:
    layer = get_channel_layer()
    if layer is None:
        return
    await _done(partial(layer.group_send, group, fact))


async def _done(ask: Callable[[], Awaitable[None]]) -> bool:
    """Whether the channel layer did in time what it was asked."""
    if _server.is_silent():
        return False
    try:
        async with asyncio.timeout(LAYER_SECONDS):
            await ask()
    except Exception as error:  # noqa: BLE001  # each layer has its own exceptions
        was_silent = isinstance(error, TimeoutError | redis.TimeoutError)
        _server.failed(in_time=not was_silent)
        return False
    _server.answered()
    return True


_server = DispensableServer(
    logger, "The channel layer can't be reached; pages will poll."
)
