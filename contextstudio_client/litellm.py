"""A callback for LiteLLM's proxy: providers are sent what ContextStudio shows.

    litellm_settings:
      callbacks: ["contextstudio_client.litellm.callback"]

A request's session is named by LiteLLM's own session id: the header `x-litellm-session-id`, or
`session_id` in the metadata. The header `x-session-id` works too. Requests without one are passed
on unchanged, as are, with `CONTEXTSTUDIO_FAILING=open`, those that can't be rewritten. Needs the
extra `contextstudio_client[litellm]`.
"""

import os
from collections.abc import AsyncGenerator, Mapping
from typing import Any, Literal, NamedTuple, get_args

import litellm
from fastapi import HTTPException
from litellm.integrations.custom_logger import CustomLogger

from .clients import AsyncClient, AsyncSession
from .errors import Refused, StudioError, Unwritable
from .hooks import (
    Failing,
    Recent,
    external_id,
    is_gone,
    let_pass,
    not_recorded,
    with_user_first,
)

JSON = dict[str, Any]
Format = Literal["openai", "anthropic"]
_FORMATS: Mapping[str, Format] = {
    "completion": "openai",
    "acompletion": "openai",
    "anthropic_messages": "anthropic",
    "aanthropic_messages": "anthropic",
}
_MASTER_KEY_USER = "default_user_id"
"""The user id that LiteLLM gives its master key: it identifies nobody."""
_SENT_MEMBERS = ("role", "content", "tool_calls")
"""The members of a reply that a client sends again, and by which the reply is recognised."""


class _RecordedSession(NamedTuple):
    """The session to which the reply to a request belongs."""

    session_id: str
    message_count: int
    format: Format


class ContextStudioCallback(CustomLogger):
    """Rewrites the messages of each request with `apply`, and records the reply.

    Chat completions and Anthropic messages are rewritten, everything else passes unchanged. The
    reply is recorded before the client has all of it. A stream in Anthropic's form, or one that
    breaks off, is recorded with the client's next request.
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
        self._under_way: Recent[str, _RecordedSession] = Recent(10_000)

    def session_of(self, data: JSON, user: Any) -> str | None:
        """The name of a request's session, or None. Override this to name sessions differently.

        Equal names of two teams, or of two users without a team, are two sessions.
        """
        request = data.get("proxy_server_request") or {}
        header = (request.get("headers") or {}).get("x-session-id")
        metadata = data.get("metadata") or {}
        name = header or data.get("litellm_session_id") or metadata.get("session_id")
        if not name:
            return None
        owner = getattr(user, "team_id", None) or getattr(user, "user_id", None)
        return external_id(None if owner == _MASTER_KEY_USER else owner, name)

    # LiteLLM calls only hooks that the class itself defines: a subclass that overrides one must
    # call `super()`.

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: JSON, call_type: Any
    ) -> JSON:
        """Return the request with the rewritten messages. Raises HTTPException if it is refused."""
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
        recorded = _RecordedSession(applied.session_id, applied.message_count, form)
        self._under_way.keep(str(data.get("litellm_call_id")), recorded)
        messages = applied.messages
        if form == "openai":
            messages = with_user_first(messages, data["messages"])
        rewritten = {**data, "messages": messages}
        if form == "anthropic":
            rewritten.pop("system", None)  # it may be left out, as a message may
            if applied.system is not None:
                rewritten["system"] = applied.system
        return _without_thinking(rewritten) if applied.thinking_off else rewritten

    async def async_post_call_success_hook(
        self, data: JSON, user_api_key_dict: Any, response: Any
    ) -> Any:
        """Record a complete reply."""
        await self._record(data, response)
        return response

    async def async_post_call_streaming_iterator_hook(
        self, user_api_key_dict: Any, response: Any, request_data: JSON
    ) -> AsyncGenerator[Any, None]:
        """Pass a stream on, and record its content once it has ended."""
        pieces: list[Any] = []
        async for piece in response:
            pieces.append(piece)
            yield piece
        if pieces and isinstance(pieces[0], litellm.ModelResponseStream):
            await self._record(request_data, litellm.stream_chunk_builder(pieces))

    def _session(self, name: str) -> AsyncSession:
        if known := self._ids.get(name):
            return self._get_client().session(known)
        return self._get_client().session(external_id=name, project=self._project)

    def _get_client(self) -> AsyncClient:
        if self._client is None:
            self._client = AsyncClient()
        return self._client

    async def _record(self, data: JSON, response: Any) -> None:
        recorded = self._under_way.take(str(data.get("litellm_call_id")))
        reply = _reply(response, recorded.format) if recorded else None
        if recorded is None or reply is None:
            return
        session = self._get_client().session(recorded.session_id)
        try:
            await session.append([reply], expected_count=recorded.message_count)
        except StudioError as error:
            not_recorded(error)


def _without_thinking(data: JSON) -> JSON:
    """The request without thinking that its provider would refuse, and edits that require it."""
    mode, editing = data.get("thinking"), data.get("context_management")
    if not isinstance(mode, dict) or mode.get("type") != "enabled":
        return data
    kept = {name: value for name, value in data.items() if name != "thinking"}
    if isinstance(editing, dict) and isinstance(edits := editing.get("edits"), list):
        left = [one for one in edits if not _clears_thinking(one)]
        kept["context_management"] = {**editing, "edits": left}
        if not left:
            del kept["context_management"]
    return kept


def _clears_thinking(edit: Any) -> bool:
    return isinstance(edit, dict) and str(edit.get("type")).startswith(
        "clear_thinking_"
    )


def _status(error: StudioError) -> int:
    """The HTTP status for a refused request: whether to change it or to try again."""
    if isinstance(error, Refused):
        return error.status
    return 422 if isinstance(error, Unwritable) else 503


def _reply(response: Any, form: Format) -> JSON | None:
    """The reply as the client will send it again; None if it is empty."""
    answer = response.model_dump() if hasattr(response, "model_dump") else response
    if not isinstance(answer, dict):
        return None
    if form == "anthropic":
        said = answer
    else:
        said = next((one["message"] for one in answer.get("choices") or ()), {})
    reply = {name: said[name] for name in _SENT_MEMBERS if said.get(name)}
    return reply if {"content", "tool_calls"} & set(reply) else None


def _failing() -> Failing:
    value = os.environ.get("CONTEXTSTUDIO_FAILING", "closed")
    if value not in get_args(Failing):
        raise ValueError(
            f"CONTEXTSTUDIO_FAILING is {value!r}; it takes closed or open."
        )
    return "open" if value == "open" else "closed"


callback = ContextStudioCallback(failing=_failing())
"""The callback to name in a configuration; for other settings, instantiate the class."""
