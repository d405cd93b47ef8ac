"""A callback for LiteLLM's proxy: what providers are sent is what ContextStudio shows.

    litellm_settings:
      callbacks: ["contextstudio_client.litellm.callback"]

A request is of the session that LiteLLM knows it by: the header `x-litellm-session-id`, or
`session_id` in its metadata; `x-session-id` counts too. One without is passed on as it is.
`CONTEXTSTUDIO_FAILING=open` passes on what can't be rewritten. Needs the extra
`contextstudio_client[litellm]`.
"""

import os
from collections.abc import AsyncGenerator, Mapping
from typing import Any, Literal, NamedTuple, get_args

import litellm
from fastapi import HTTPException
from litellm.integrations.custom_logger import CustomLogger

from .clients import AsyncClient, AsyncSession
from .errors import Refused, StudioError, Unwritable
from .hooks import Failing, Recent, external_id, is_gone, let_pass, not_recorded

JSON = dict[str, Any]
Format = Literal["openai", "anthropic"]
_FORMATS: Mapping[str, Format] = {
    "completion": "openai",
    "acompletion": "openai",
    "anthropic_messages": "anthropic",
    "aanthropic_messages": "anthropic",
}
_MASTER = "default_user_id"
"""Whom LiteLLM takes its master key to be: nobody to be told from others."""
_SENT = ("role", "content", "tool_calls")
"""What a client sends again of a reply, and by which it is known then."""


class _Recorded(NamedTuple):
    """Where the reply to a request belongs."""

    session_id: str
    message_count: int
    format: Format


class ContextStudioCallback(CustomLogger):
    """Rewrites the messages of each request by `apply`, and records the reply.

    Chat completions and Anthropic's messages are rewritten, all else passes. The reply is recorded
    before the client has all of it; of a stream in Anthropic's form, and of one that breaks off,
    the client's next request brings it.
    """

    def __init__(
        self,
        *,
        client: AsyncClient | None = None,
        project: str | None = None,
        failing: Failing = "closed",
    ) -> None:
        super().__init__()
        self._client = client
        self._project = project
        self._failing = failing
        self._ids: Recent[str, str] = Recent()
        self._under_way: Recent[str, _Recorded] = Recent(10_000)

    def session_of(self, data: JSON, user: Any) -> str | None:
        """The name of a request's session, None where it has none; to be overridden.

        The same name of two teams, or of two users without a team, are two sessions.
        """
        request = data.get("proxy_server_request") or {}
        header = (request.get("headers") or {}).get("x-session-id")
        metadata = data.get("metadata") or {}
        name = header or data.get("litellm_session_id") or metadata.get("session_id")
        if not name:
            return None
        owner = getattr(user, "team_id", None) or getattr(user, "user_id", None)
        return external_id(None if owner == _MASTER else owner, name)

    # LiteLLM calls only hooks that the class itself defines: who overrides one calls `super()`.

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: JSON, call_type: Any
    ) -> JSON:
        """The request with what is shown. Raises HTTPException where it is refused."""
        form = _FORMATS.get(str(call_type))
        name = self.session_of(data, user_api_key_dict) if form else None
        if form is None or name is None or not isinstance(data.get("messages"), list):
            return data
        session = self._session(name)
        try:
            applied = await session.apply(
                data["messages"],
                system=data.get("system") if form == "anthropic" else None,
                tools=data.get("tools"),
                model=data.get("model"),
                format=form,
            )
        except StudioError as error:
            if is_gone(error):
                self._ids.take(name)
            try:
                let_pass(error, self._failing)
            except StudioError:
                raise HTTPException(
                    _status(error), f"ContextStudio: {error}"
                ) from error
            return data
        self._ids.keep(name, session.id)
        recorded = _Recorded(applied.session_id, applied.message_count, form)
        self._under_way.keep(str(data.get("litellm_call_id")), recorded)
        rewritten = {**data, "messages": applied.messages}
        if form == "anthropic":
            rewritten.pop("system", None)  # it may be left out, as a message may
            if applied.system is not None:
                rewritten["system"] = applied.system
        return rewritten

    async def async_post_call_success_hook(
        self, data: JSON, user_api_key_dict: Any, response: Any
    ) -> Any:
        """Record a reply that came whole."""
        await self._record(data, response)
        return response

    async def async_post_call_streaming_iterator_hook(
        self, user_api_key_dict: Any, response: Any, request_data: JSON
    ) -> AsyncGenerator[Any, None]:
        """Pass a stream on, and record what it said once it has ended."""
        pieces: list[Any] = []
        async for piece in response:
            pieces.append(piece)
            yield piece
        if pieces and isinstance(pieces[0], litellm.ModelResponseStream):
            await self._record(request_data, litellm.stream_chunk_builder(pieces))

    def _session(self, name: str) -> AsyncSession:
        if known := self._ids.get(name):
            return self._studio().session(known)
        return self._studio().session(external_id=name, project=self._project)

    def _studio(self) -> AsyncClient:
        if self._client is None:
            self._client = AsyncClient()
        return self._client

    async def _record(self, data: JSON, response: Any) -> None:
        recorded = self._under_way.take(str(data.get("litellm_call_id")))
        reply = _reply(response, recorded.format) if recorded else None
        if recorded is None or reply is None:
            return
        session = self._studio().session(recorded.session_id)
        try:
            await session.append([reply], expected_count=recorded.message_count)
        except StudioError as error:
            not_recorded(error)


def _status(error: StudioError) -> int:
    """Of the answer to a request that is refused: whether to change it or to try again."""
    if isinstance(error, Refused):
        return error.status
    return 422 if isinstance(error, Unwritable) else 503


def _reply(response: Any, form: Format) -> JSON | None:
    """What was answered, as the client will send it again; None where that is nothing."""
    answer = response.model_dump() if hasattr(response, "model_dump") else response
    if not isinstance(answer, dict):
        return None
    if form == "anthropic":
        said = answer
    else:
        said = next((one["message"] for one in answer.get("choices") or ()), {})
    reply = {name: said[name] for name in _SENT if said.get(name)}
    return reply if {"content", "tool_calls"} & set(reply) else None


def _failing() -> Failing:
    value = os.environ.get("CONTEXTSTUDIO_FAILING", "closed")
    if value not in get_args(Failing):
        raise ValueError(
            f"CONTEXTSTUDIO_FAILING is {value!r}; it takes closed or open."
        )
    return "open" if value == "open" else "closed"


callback = ContextStudioCallback(failing=_failing())
"""The callback that a configuration names; another of other settings is made from the class."""
