"""Telling those who look at a session that it has changed: facts, never content."""

import asyncio
import logging
import uuid
from collections.abc import Awaitable

from asgiref.sync import async_to_sync
from channels.layers import BaseChannelLayer, get_channel_layer
from django.db import transaction

from threads.models import Session

logger = logging.getLogger(__name__)

LAYER_SECONDS = 2
"""How long whoever has something else to do waits for the channel layer, which has no limit."""


def group_name(session_id: uuid.UUID) -> str:
    """The channel group of those who look at a session."""
    return f"session.{session_id.hex}"


def announce(session: Session) -> None:
    """Once the transaction is committed, tell the head, the count of messages, the title's mark.

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
    """Tell at once that a job about a session came further; the page asks how far."""
    _send(group_name(session_id), {"type": "session.job", "job": str(job_id)})


def _send(group: str, fact: dict[str, object]) -> None:
    if _loop is not None and _loop.is_running():
        asyncio.run_coroutine_threadsafe(_tell(group, fact), _loop)
    else:
        async_to_sync(_tell)(group, fact)


async def join(layer: BaseChannelLayer, group: str, channel: str) -> bool:
    """Whether the channel hears of the group from now on: not while the layer doesn't answer."""
    return await _done(layer.group_add(group, channel))


async def leave(layer: BaseChannelLayer, group: str, channel: str) -> None:
    """Hear no more of the group; a layer that doesn't answer forgets the channel by itself."""
    await _done(layer.group_discard(group, channel))


def listen_in(loop: asyncio.AbstractEventLoop) -> None:
    """Name the event loop in which this process's pages listen.

    The queues of an in-memory layer wake only who waits in the loop that they are used in,
    and jobs announce from threads that have none.
    """
    global _loop
    _loop = loop


_loop: asyncio.AbstractEventLoop | None = None


async def _tell(group: str, fact: dict[str, object]) -> None:
    layer = get_channel_layer()
    if layer is None:
        return
    await _done(layer.group_send(group, fact))


async def _done(asked: Awaitable[None]) -> bool:
    """Whether the layer did in time what it was asked; where it didn't, the log says so."""
    try:
        async with asyncio.timeout(LAYER_SECONDS):
            await asked
    except Exception:  # noqa: BLE001  # each layer has errors of its own
        logger.warning("The channel layer can't be reached; pages will poll.")
        return False
    return True
