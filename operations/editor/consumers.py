"""Live updates: a page that looks at a session hears its head and its count of messages."""

import asyncio
import uuid
from typing import Any

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer
from channels.layers import InMemoryChannelLayer
from django.db import DatabaseError
from django.urls import path

from contextstudio.accounts.domain.errors import NotFound
from contextstudio.accounts.models import User
from contextstudio.accounts.selectors import caller_of_user
from threads.models import Session
from threads.store.events import group_name, listen_in
from threads.store.selectors import get_session

STRANGER = 4404
SECONDS_BETWEEN_LOOKS = 2
"""How often a process that shares its facts with no other looks for what others have written."""


class SessionConsumer(AsyncJsonWebsocketConsumer):
    """Relays facts of one session, never content; what a page sends is not listened to."""

    group = ""
    _told: dict[str, int] | None = None
    _looking: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        """Let in who may read the session, and say at once where it stands."""
        session_id = self.scope["url_route"]["kwargs"]["session_id"]
        try:
            await self._session(session_id)
        except NotFound:
            await self.close(STRANGER)
            return
        listen_in(asyncio.get_running_loop())
        self.group = group_name(session_id)
        await self.channel_layer.group_add(self.group, self.channel_name)
        await self.accept()
        # It may have changed between the page's answer and the join.
        await self._look(session_id)
        if isinstance(self.channel_layer, InMemoryChannelLayer):
            self._looking = asyncio.create_task(self._keep_looking(session_id))

    async def disconnect(self, code: int) -> None:
        if self._looking is not None:
            self._looking.cancel()
        if self.group:
            await self.channel_layer.group_discard(self.group, self.channel_name)

    async def receive(self, *_: Any, **__: Any) -> None:
        """Ignore whatever the page says: the socket has one direction."""

    async def session_changed(self, event: dict[str, Any]) -> None:
        """Pass on what `threads.store.events` announced."""
        await self._tell(
            {"head": event["head"], "message_count": event["message_count"]}
        )

    async def _keep_looking(self, session_id: uuid.UUID) -> None:
        """Hear of what commands have written: they run in processes of their own."""
        while True:
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
            try:
                await self._look(session_id)
            except (NotFound, DatabaseError):
                continue

    async def _look(self, session_id: uuid.UUID) -> None:
        """Say where the session stands, unless that was said last."""
        session = await self._session(session_id)
        facts = {"head": session.head, "message_count": session.message_count}
        if facts != self._told:
            await self._tell(facts)

    async def _tell(self, facts: dict[str, int]) -> None:
        self._told = facts
        await self.send_json(facts)

    @database_sync_to_async
    def _session(self, session_id: uuid.UUID) -> Session:
        user = self.scope.get("user")
        if not isinstance(user, User):
            raise NotFound("There is no such session.")
        return get_session(caller_of_user(user), session_id)


websocket_urlpatterns = [
    path("ws/sessions/<uuid:session_id>/", SessionConsumer.as_asgi()),
]
