"""Serves the table of tools by the Model Context Protocol; see `contextstudio.mcp.mount`."""

import json
import logging
import re
from typing import Any

from asgiref.sync import sync_to_async
from channels.db import database_sync_to_async
from django.conf import settings
from mcp import MCPError, types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import DomainError, problem
from contextstudio.accounts.idempotency import RecordedResponse
from contextstudio.accounts.responses import PROBLEM, dump, outage
from contextstudio.database.outages import FAULTS
from contextstudio.database.thread_pool import ending
from contextstudio.web.guard import Receive, Scope, Send
from operations.tools import call_once, chosen, read_call
from operations.tools.schemas import function_schemas

logger = logging.getLogger(__name__)

INSTRUCTIONS = """\
ContextStudio stores agents' chat threads and lets you restructure what the model sees of
them: fold a range into a summary, leave messages out, reorder and insert messages, and search
what is out of view. Nothing is overwritten, and every operation can be undone. Find the session
with list_sessions, read it with list_groups and get_message_range, then act. Message indexes are
0-based over the original messages. If your key may only propose, your operations wait for a
person's review with the status `proposed`. If your key keeps sessions of its own, create them with
create_session: in them you may change the scratchpad, memos, window and tags directly, and
operations that change the words of the thread are proposed."""

_CALLER = "contextstudio.caller"
"""The scope's member that holds the caller of a connection."""
_LONE_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


async def serve(caller: Caller, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer one request. There are no sessions, so each request has its own manager."""
    manager = StreamableHTTPSessionManager(
        _SERVER,
        json_response=True,
        stateless=True,
        max_request_body_size=settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
    )
    async with manager.run():
        to_it: Any = send  # its message type is the wider one
        await manager.handle_request({**scope, _CALLER: caller}, receive, to_it)


async def _list_tools(
    context: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
) -> types.ListToolsResult:
    query = context.request.query_params  # type: ignore[union-attr]  # over HTTP
    try:
        wanted = chosen(query.get("tools", ""))
    except DomainError as error:
        raise MCPError(types.INVALID_PARAMS, error.message) from error
    listed = await sync_to_async(function_schemas)(wanted, "mcp")
    tools = [types.Tool.model_validate(tool) for tool in listed]
    return types.ListToolsResult(tools=tools)


async def _call_tool(
    context: ServerRequestContext[Any], params: types.CallToolRequestParams
) -> types.CallToolResult:
    caller: Caller = context.request.scope[_CALLER]  # type: ignore[union-attr]  # over HTTP
    arguments = params.arguments or {}
    result: types.CallToolResult = await database_sync_to_async(ending(_answer))(
        caller, params.name, arguments
    )
    return result


def _answer(
    caller: Caller, name: str, arguments: dict[str, Any]
) -> types.CallToolResult:
    """The result of a tool, as text for models and as an object for programs.

    A refusal is the problem object that every door returns.
    """
    try:
        answer = call_once(caller, read_call(name, arguments))
    except DomainError as error:
        answer = _refused(error)
    except FAULTS as error:
        unavailable = outage(error)
        if unavailable is None:
            raise
        answer = _refused(unavailable)
    body = answer.body
    value = json.loads(body)
    if _LONE_SURROGATE.search(body):  # which the protocol's UTF-8 can't represent
        body = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
        value = json.loads(body)
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=body.decode())],
        structured_content=value if isinstance(value, dict) else {"result": value},
        is_error=answer.status >= 400,
    )


def _refused(error: DomainError) -> RecordedResponse:
    return RecordedResponse(error.status, dump(problem(error)), PROBLEM)


_SERVER: Server[Any] = Server(
    "ContextStudio",
    version="1",
    instructions=INSTRUCTIONS,
    on_list_tools=_list_tools,
    on_call_tool=_call_tool,
)
