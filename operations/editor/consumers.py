"""Live updates: a page that shows a session receives its head, message count and title mark.

It also receives what its user may do there, since a role may change while the page is open.
"""

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
from redis.exceptions import RedisError

from contextstudio.accounts.domain.errors import Forbidden, NotFound
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.models import User
from contextstudio.accounts.selectors import caller_of_user
from threads.models import Session
from threads.store.events import group_name, join, leave, set_event_loop
from threads.store.selectors import get_session

STRANGER = 4404
TRY_AGAIN = 1013
"""The WebSocket close code for a server that can't serve now."""
SECONDS_BETWEEN_LOOKS = 2
"""How often a process that shares no channel layer polls for what other processes have written."""
SECONDS_BETWEEN_CHECKS = 10
"""How often a process with a shared channel layer checks whether the user may still be here."""
MAX_PER_USER = 100
"""Most sockets that one user may have in this process.

Each polls the database, and a thousand would take half a processor from everybody else.
"""
TOO_MANY = "You have too many pages open."

_FACTS = ("head", "message_count", "title_mark")
_RIGHTS = (Right.EDIT, Right.PROPOSE, Right.READ)
"""What a page offers more or less by, from the most to the least."""
_open = Counter[int]()
"""Map of user id to the number of sockets open in this process."""


class SessionConsumer(AsyncJsonWebsocketConsumer):
    """Relays facts about one session, never content; ignores what the page sends."""

    group = ""
    _last_sent: dict[str, Any] | None = None
    _looking: asyncio.Task[None] | None = None
    _person: int | None = None
    """The id of the user, once the socket is counted."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve the socket, and stop counting and looking when it ends, however it ends."""
        try:
            await super().__call__(scope, receive, send)
        except RedisError:
            pass  # nothing more can be heard here: the page connects again, and polls until then
        finally:
            self._stop_looking()
            if self._person is not None:
                _open[self._person] -= 1
                if not _open[self._person]:
                    del _open[self._person]

    async def connect(self) -> None:
        """Accept users who may read the session, and send its current facts at once."""
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
        set_event_loop(asyncio.get_running_loop())
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
        """Count this socket as one of its user's; returns False if there are too many."""
        person = self.scope["user"].pk
        if _open[person] >= MAX_PER_USER:
            return False
        _open[person] += 1
        self._person = person
        return True

    async def disconnect(self, code: int) -> None:
        self._stop_looking()
        if self.group:
            await leave(self.channel_layer, self.group, self.channel_name)

    async def receive(self, *_: Any, **__: Any) -> None:
        """Ignore what the page sends: the socket is one-way."""

    async def session_changed(self, event: dict[str, Any]) -> None:
        """Relay what `threads.store.events` announced, if the user may still read the session.

        During an upgrade the event may come from the previous version, which sends fewer facts.
        """
        if await self._may_stay():
            told = {name: event.get(name) for name in _FACTS}
            await self._send_facts({**(self._last_sent or {}), **told})

    async def session_job(self, event: dict[str, Any]) -> None:
        """Relay that a job made progress, if the user may still read the session."""
        if await self._may_stay():
            await self.send_json({"job": event["job"]})

    async def _keep_looking(self, seconds: float) -> None:
        """Check repeatedly whether the user may still be here, and whether the session changed.

        Commands write in other processes, and losing a right is announced by nobody.
        """
        while True:
            await asyncio.sleep(seconds)
            await self._may_stay()

    def _stop_looking(self) -> None:
        if self._looking is not None:
            self._looking.cancel()

    async def _may_stay(self) -> bool:
        """Send the session's facts, or close the socket if the user may no longer read them.

        Returns whether the socket stays open.
        """
        try:
            await self._look(self._session_id)
        except (NotFound, Forbidden):
            await self.close(STRANGER)
            return False
        except DatabaseError:
            pass  # the page asks again, or gets it the next time
        return True

    async def _look(self, session_id: uuid.UUID) -> None:
        """Send the session's facts, unless they are the ones sent last."""
        session, right = await self._session(session_id)
        facts = {name: getattr(session, name) for name in _FACTS} | {"right": right}
        if facts != self._last_sent:
            await self._send_facts(facts)

    async def _send_facts(self, facts: dict[str, Any]) -> None:
        self._last_sent = facts
        await self.send_json(facts)

    @database_sync_to_async
    def _session(self, session_id: uuid.UUID) -> tuple[Session, Right]:
        """The session, and the user's right to it that includes the others. Raises NotFound."""
        known, browser = self.scope.get("user"), self.scope.get("session")
        people = User.objects.filter(is_active=True)
        user = people.filter(pk=known.pk).first() if isinstance(known, User) else None
        # Signing out elsewhere, or a new password, ends this socket too.
        if user is None or (browser is not None and not _is_signed_in(browser, user)):
            raise NotFound("There is no such session.")
        caller = caller_of_user(user)
        session = get_session(caller, session_id)
        rights = (one for one in _RIGHTS if caller.may(one, session.project_id))
        return session, next(rights)


def _is_signed_in(browser: Any, user: User) -> bool:
    """Whether a browser's session, as stored now, still belongs to this user."""
    stored = browser.__class__(browser.session_key)
    proof = str(stored.get(HASH_SESSION_KEY, ""))
    return constant_time_compare(proof, user.get_session_auth_hash())


websocket_urlpatterns = [
    path("ws/sessions/<uuid:session_id>/", SessionConsumer.as_asgi()),
]
