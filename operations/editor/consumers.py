"""Live updates: a page that looks at a session hears its head and its count of messages."""

import asyncio
import uuid
from collections import Counter
from typing import Any

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer
from channels.layers import InMemoryChannelLayer
from django.contrib.auth import HASH_SESSION_KEY
from django.db import DatabaseError
from django.urls import path
from django.utils.crypto import constant_time_compare

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
MOST_OF_ONE = 100
"""Sockets that one person may have at this process: each asks the database again and again, and a
thousand would take half a processor from everybody else."""
TOO_MANY = "You have too many pages open."

_FACTS = ("head", "message_count", "title_mark")
_open = Counter[int]()
"""Sockets that are open at this process, by persons."""


class SessionConsumer(AsyncJsonWebsocketConsumer):
    """Relays facts of one session, never content; what a page sends is not listened to."""

    group = ""
    _told: dict[str, int | None] | None = None
    _looking: asyncio.Task[None] | None = None
    _person: int | None = None
    """Whose socket it is, once it is counted."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve the socket until it ends, however it ends."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            if self._person is not None:
                _open[self._person] -= 1
                if not _open[self._person]:
                    del _open[self._person]

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
        if not self._is_counted():
            await self.close(TRY_AGAIN, TOO_MANY)
            return
        listen_in(asyncio.get_running_loop())
        self.group = group_name(session_id)
        if not await join(self.channel_layer, self.group, self.channel_name):
            await self.close(TRY_AGAIN)
            return
        await self.accept()
        # It may have changed between the page's answer and the join.
        if not await self._may_stay():
            return
        shares = not isinstance(self.channel_layer, InMemoryChannelLayer)
        pause = SECONDS_BETWEEN_CHECKS if shares else SECONDS_BETWEEN_LOOKS
        self._looking = asyncio.create_task(self._keep_looking(pause))

    def _is_counted(self) -> bool:
        """Count this socket as one of its person's, unless there are too many of these."""
        person = self.scope["user"].pk
        if _open[person] >= MOST_OF_ONE:
            return False
        _open[person] += 1
        self._person = person
        return True

    async def disconnect(self, code: int) -> None:
        if self._looking is not None:
            self._looking.cancel()
        if self.group:
            await leave(self.channel_layer, self.group, self.channel_name)

    async def receive(self, *_: Any, **__: Any) -> None:
        """Ignore whatever the page says: the socket has one direction."""

    async def session_changed(self, event: dict[str, Any]) -> None:
        """Pass on what `threads.store.events` announced, to who may still hear it.

        During an upgrade the version before announces, which knows fewer facts.
        """
        if await self._may_stay():
            await self._tell({name: event.get(name) for name in _FACTS})

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
        facts = {name: getattr(session, name) for name in _FACTS}
        if facts != self._told:
            await self._tell(facts)

    async def _tell(self, facts: dict[str, int | None]) -> None:
        self._told = facts
        await self.send_json(facts)

    @database_sync_to_async
    def _session(self, session_id: uuid.UUID) -> Session:
        known, browser = self.scope.get("user"), self.scope.get("session")
        people = User.objects.filter(is_active=True)
        user = people.filter(pk=known.pk).first() if isinstance(known, User) else None
        # Who signs out elsewhere, or gets another password, leaves here too.
        if user is None or (browser is not None and not _is_signed_in(browser, user)):
            raise NotFound("There is no such session.")
        return get_session(caller_of_user(user), session_id)


def _is_signed_in(browser: Any, user: User) -> bool:
    """Whether the session of a browser, as it is stored by now, is still this person's."""
    stored = browser.__class__(browser.session_key)
    proof = str(stored.get(HASH_SESSION_KEY, ""))
    return constant_time_compare(proof, user.get_session_auth_hash())


websocket_urlpatterns = [
    path("ws/sessions/<uuid:session_id>/", SessionConsumer.as_asgi()),
]
