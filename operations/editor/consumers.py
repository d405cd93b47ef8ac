"""Live updates: a page that looks at a session hears its head and its count of messages."""

import asyncio
import uuid
from typing import Any

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer
from channels.layers import InMemoryChannelLayer
from django.db import DatabaseError
from django.urls import path

from contextstudio.accounts.domain.errors import Forbidden, NotFound
from contextstudio.accounts.models import User
from contextstudio.accounts.selectors import caller_of_user
from threads.models import Session
from threads.store.events import group_name, join, leave, listen_in
from threads.store.selectors import get_session

STRANGER = 4404
TRY_AGAIN = 1013
"""The code by which the standard says that a server can't serve now."""
SECONDS_BETWEEN_LOOKS = 2
"""How often a process that shares its facts with no other looks for what others have written."""
SECONDS_BETWEEN_CHECKS = 10
"""How often one that hears of them looks whether the person may still be here."""


class SessionConsumer(AsyncJsonWebsocketConsumer):
    """Relays facts of one session, never content; what a page sends is not listened to."""

    group = ""
    _told: dict[str, int] | None = None
    _looking: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        """Let in who may read the session, and say at once where it stands."""
        session_id = self.scope["url_route"]["kwargs"]["session_id"]
        self._session_id = session_id
        try:
            await self._session(session_id)
        except NotFound:
            await self.close(STRANGER)
            return
        except DatabaseError:
            await self.close(TRY_AGAIN)
            return
        listen_in(asyncio.get_running_loop())
        self.group = group_name(session_id)
        if not await join(self.channel_layer, self.group, self.channel_name):
            await self.close(TRY_AGAIN)
            return
        await self.accept()
        # It may have changed between the page's answer and the join.
        await self._look(session_id)
        shares = not isinstance(self.channel_layer, InMemoryChannelLayer)
        pause = SECONDS_BETWEEN_CHECKS if shares else SECONDS_BETWEEN_LOOKS
        self._looking = asyncio.create_task(self._keep_looking(pause))

    async def disconnect(self, code: int) -> None:
        if self._looking is not None:
            self._looking.cancel()
        if self.group:
            await leave(self.channel_layer, self.group, self.channel_name)

    async def receive(self, *_: Any, **__: Any) -> None:
        """Ignore whatever the page says: the socket has one direction."""

    async def session_changed(self, event: dict[str, Any]) -> None:
        """Pass on what `threads.store.events` announced, to who may still hear it."""
        if await self._may_stay():
            await self._tell(
                {"head": event["head"], "message_count": event["message_count"]}
            )

    async def session_job(self, event: dict[str, Any]) -> None:
        """Pass on that a job came further, to who may still hear it."""
        if await self._may_stay():
            await self.send_json({"job": event["job"]})

    async def _keep_looking(self, seconds: float) -> None:
        """See again and again whether the person may still be here, and what came meanwhile.

        Commands write in processes of their own, and who loses a right is told by nobody.
        """
        while True:
            await asyncio.sleep(seconds)
            await self._may_stay()

    async def _may_stay(self) -> bool:
        """Say where the session stands; close the socket of who may not know that any more."""
        try:
            await self._look(self._session_id)
        except (NotFound, Forbidden):
            await self.close(STRANGER)
            return False
        except DatabaseError:
            pass  # the page asks again, or hears of it the next time
        return True

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
        browser = self.scope.get("session")
        is_in = isinstance(user, User)
        if is_in and browser is not None:  # who signs out elsewhere leaves here too
            is_in = (
                browser.__class__(browser.session_key).get("_auth_user_id") is not None
            )
        if not is_in or not User.objects.filter(pk=user.pk, is_active=True).exists():
            raise NotFound("There is no such session.")
        return get_session(caller_of_user(user), session_id)


websocket_urlpatterns = [
    path("ws/sessions/<uuid:session_id>/", SessionConsumer.as_asgi()),
]
