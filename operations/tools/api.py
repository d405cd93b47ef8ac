"""REST for the agent's tools: their list, and their calls."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Body, Router

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.responses import json_response

from . import TOOLS, call_once, read_call
from .schemas import Format as ToolFormat
from .schemas import ToolList, function_schemas

router = Router(tags=["operations"])


@router.get("/tools", response=ToolList, operation_id="operations_api_tools")
def tools(request: HttpRequest, format: ToolFormat = "openai") -> HttpResponse:
    """The agent's tools as a provider's request lists them under `tools`."""
    return json_response({"tools": function_schemas(TOOLS.values(), format)})


@router.post("/tools/{name}", operation_id="operations_api_call_tool")
def call_tool(
    request: HttpRequest, name: str, arguments: Body[dict[str, Any]]
) -> HttpResponse:
    """Call one of the agent's tools."""
    caller = caller_of(request)
    answer = call_once(caller, read_call(name, arguments))
    response = HttpResponse(
        answer.body, status=answer.status, content_type=answer.content_type
    )
    if answer.replayed:
        response["Idempotent-Replayed"] = "true"
    return response
