"""A middleware for LangChain agents: the model is sent what ContextStudio shows.

    agent = create_agent(model, tools, middleware=[ContextStudioMiddleware()])
    agent.invoke({"messages": […]}, {"configurable": {"thread_id": "run-17"}})

The agent's own messages stay unchanged. Needs the extra `contextstudio_client[langchain]`.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import (
    AnyMessage,
    BaseMessage,
    SystemMessage,
    convert_to_messages,
    convert_to_openai_messages,
)
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.config import get_config

from .clients import AsyncClient, Client
from .errors import StudioError
from .hooks import (
    Failing,
    Recent,
    external_id,
    is_gone,
    let_pass,
    not_recorded,
    with_user_first,
)
from .session_api import Named
from .shapes import Applied

Handler = Callable[[ModelRequest[Any]], ModelResponse[Any]]
AsyncHandler = Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
JSON = dict[str, Any]


class ContextStudioMiddleware(AgentMiddleware[Any, Any, Any]):
    """Rewrites the messages of each model call with `apply`, and records the reply.

    `session` names the session; by default that is the `thread_id` of the call. `client` and
    `async_client` are created from the environment if not given. `failing` says what to do with a
    call that can't be rewritten.
    """

    def __init__(
        self,
        *,
        session: str | Callable[[ModelRequest[Any]], str] | None = None,
        project: str | None = None,
        failing: Failing = "closed",
        client: Client | None = None,
        async_client: AsyncClient | None = None,
    ) -> None:
        super().__init__()
        self._named = session
        self._project = project
        self._failing = failing
        self._client = client
        self._async_client = async_client
        self._ids: Recent[str, str] = Recent()

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Handler
    ) -> ModelResponse[Any]:
        """Send the rewritten messages, and record the reply."""
        client, name, given = (
            self._get_client(),
            self._name(request),
            _openai_messages(request),
        )
        try:
            with client.session(self._ids.get(name), **self._new(name)) as session:
                applied = session.apply(
                    [one.form for one in given],
                    model=_model(request),
                    tools=_tools(request),
                )
        except StudioError as error:
            self._handle_failure(name, error)
            return handler(request)
        self._ids.keep(name, session.id)
        response = handler(_rewrite(request, given, applied))
        try:
            client.session(applied.session_id).append(
                _replies(response), expected_count=applied.message_count
            )
        except StudioError as error:
            not_recorded(error)
        return response

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: AsyncHandler
    ) -> ModelResponse[Any]:
        """Send the rewritten messages, and record the reply."""
        client, name, given = (
            self._get_async_client(),
            self._name(request),
            _openai_messages(request),
        )
        try:
            async with client.session(
                self._ids.get(name), **self._new(name)
            ) as session:
                applied = await session.apply(
                    [one.form for one in given],
                    model=_model(request),
                    tools=_tools(request),
                )
        except StudioError as error:
            self._handle_failure(name, error)
            return await handler(request)
        self._ids.keep(name, session.id)
        response = await handler(_rewrite(request, given, applied))
        try:
            await client.session(applied.session_id).append(
                _replies(response), expected_count=applied.message_count
            )
        except StudioError as error:
            not_recorded(error)
        return response

    def _new(self, name: str) -> Named:
        """Arguments to find or create the session if its id isn't known."""
        if self._ids.get(name):
            return {}
        return {"external_id": name, "project": self._project}

    def _get_client(self) -> Client:
        if self._client is None:
            self._client = Client()
        return self._client

    def _get_async_client(self) -> AsyncClient:
        if self._async_client is None:
            self._async_client = AsyncClient()
        return self._async_client

    def _name(self, request: ModelRequest[Any]) -> str:
        """The name of the session. Raises ValueError if there is none."""
        named = self._named
        name = named(request) if callable(named) else named or _thread_id()
        if not name:
            raise ValueError(
                "Name the session: by ContextStudioMiddleware(session=…), or by a thread_id in "
                "the call's configurable."
            )
        return external_id(name)

    def _handle_failure(self, name: str, error: StudioError) -> None:
        if is_gone(error):
            self._ids.take(name)
        let_pass(error, self._failing)


def _thread_id() -> str:
    try:
        return str(get_config().get("configurable", {}).get("thread_id") or "")
    except RuntimeError:  # not within a graph
        return ""


def _model(request: ModelRequest[Any]) -> str | None:
    name = getattr(request.model, "model_name", None)
    return name or getattr(request.model, "model", None)


def _tools(request: ModelRequest[Any]) -> list[JSON]:
    """The tools of a call in OpenAI's form: the server mentions `recall` only if listed."""
    return [convert_to_openai_tool(tool) for tool in request.tools]


class _OpenAIMessage(NamedTuple):
    """A message of a call in OpenAI's form."""

    form: JSON
    own: AnyMessage | None
    """The agent's own message object, if it corresponds to exactly this message."""


def _openai_messages(request: ModelRequest[Any]) -> list[_OpenAIMessage]:
    """The messages of a call in OpenAI's form, the system message first."""
    system = [] if request.system_message is None else [request.system_message]
    written: list[_OpenAIMessage] = []
    for message in [*system, *request.messages]:
        forms = _to_openai([message])  # several, if results come with text
        own = message if len(forms) == 1 else None
        written += [_OpenAIMessage(form, own) for form in forms]
    return written


def _to_openai(messages: Sequence[BaseMessage]) -> list[JSON]:
    return [form for message in messages for form in _forms(message)]


def _forms(message: BaseMessage) -> list[JSON]:
    """A message in OpenAI's form, with its own blocks where that has none, as for video."""
    try:
        return _convert(message)
    except ValueError:
        [form] = _convert(message.model_copy(update={"content": ""}))
        blocks = [
            {"type": "text", "text": one} if isinstance(one, str) else one
            for one in message.content
        ]
        return [form | {"content": blocks}]


def _convert(message: BaseMessage) -> list[JSON]:
    written = convert_to_openai_messages([message])
    return written if isinstance(written, list) else [written]


def _rewrite(
    request: ModelRequest[Any], given: Sequence[_OpenAIMessage], applied: Applied
) -> ModelRequest[Any]:
    """The call with the rewritten messages; for unchanged ones, the agent's own objects."""
    rest = list(given)
    messages: list[AnyMessage] = []
    for shown in with_user_first(applied.messages, (one.form for one in given)):
        found = next((n for n, one in enumerate(rest) if one.form == shown), None)
        own = None if found is None else rest[found].own
        if found is not None:
            del rest[: found + 1]
        messages += _read(shown, messages) if own is None else [own]
    first = messages[0] if messages else None
    if isinstance(first, SystemMessage):
        return request.override(system_message=first, messages=messages[1:])
    return request.override(system_message=None, messages=messages)


def _read(shown: JSON, before: Sequence[AnyMessage]) -> list[AnyMessage]:
    """A rewritten message as LangChain's, after those `before` it.

    Below the top, a system message becomes the user's: LangChain's models for Anthropic raise an
    error for it, and others put it at the top.
    """
    is_at_top = all(isinstance(one, SystemMessage) for one in before)
    if shown["role"] == "system" and not is_at_top:
        shown = {**shown, "role": "user"}
    made: list[AnyMessage] = convert_to_messages([shown])
    return made


def _replies(response: ModelResponse[Any]) -> list[JSON]:
    return _to_openai(response.result)
