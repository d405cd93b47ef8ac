"""The Celery app of production workers: `celery -A contextstudio worker`.

A message only wakes a worker (see `contextstudio.accounts.jobs`): it is acknowledged after the work
and delivered again if the worker dies. There is no countdown, since `run_after` is a column.
"""

import os
from typing import Any

from celery import Celery
from django.conf import settings
from kombu.transport import redis, virtual

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextstudio.settings")

# Three times the longest that a job is expected to take; Celery's documentation names all
# three places where the shortest value wins.
_VISIBILITY_SECONDS = 3 * 3600
SECONDS_TO_SEND = 2
"""Seconds that sending a message may delay a request: the sweep finds what was not sent."""


class TolerantQoS(redis.QoS):
    """The messages that a worker has in hand.

    Once the connection is gone, kombu's own class can neither return nor acknowledge them, and the
    error ends the worker. Here they are lost instead, as any message may be.
    """

    def restore_unacked(self, client: Any = None) -> None:
        """Return the messages that were not acknowledged."""
        if self._is_disconnected():
            self._delivered.clear()
        else:
            super().restore_unacked(client)  # type: ignore[no-untyped-call]

    def ack(self, delivery_tag: str) -> None:
        """Acknowledge a message."""
        if self._is_disconnected():
            virtual.QoS.ack(self, delivery_tag)  # type: ignore[no-untyped-call]
        else:
            super().ack(delivery_tag)  # type: ignore[no-untyped-call]

    def _is_disconnected(self) -> bool:
        # A channel that is closed has no transport, a transport that is closed no client.
        transport = self.channel.connection
        return transport is None or transport.client is None


redis.Channel.QoS = TolerantQoS


class Application(Celery):
    """A Celery app in which senders of messages give up sooner than receivers."""

    def connection_for_write(self, url: str | None = None, **options: Any) -> Any:
        """A connection for sending, also within requests, which must not wait long."""
        given = options.pop("transport_options", None) or {}
        hurried = {"socket_timeout": SECONDS_TO_SEND, "max_retries": 0, **given}
        return super().connection_for_write(url, transport_options=hurried, **options)


app = Application("contextstudio", broker=settings.REDIS_URL or None)
app.conf.update(
    accept_content=["json"],
    task_serializer="json",
    task_ignore_result=True,
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    task_create_missing_queues=True,
    task_default_queue="default",
    worker_prefetch_multiplier=1,
    worker_soft_shutdown_timeout=30,
    worker_hijack_root_logger=False,
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    broker_pool_acquire_timeout=SECONDS_TO_SEND,
    broker_transport_options={
        "visibility_timeout": _VISIBILITY_SECONDS,
        "unacked_restore_interval": 5,
        "unacked_restore_throttle": 1,
        "socket_connect_timeout": 2,
        "socket_timeout": 30,
    },
    result_backend_transport_options={"visibility_timeout": _VISIBILITY_SECONDS},
    visibility_timeout=_VISIBILITY_SECONDS,
)
app.autodiscover_tasks(["contextstudio.accounts.jobs"])
