"""REST for the agent's tools: their list, and their calls."""

from dataclasses import dataclass
from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from ninja import Body, Router
from ninja.decorators import decorate_view
from ninja.params.functions import Query

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.responses import json_response
from operations.requests import expected_head, takes_head

from . import TOOLS, Tool, call_once, chosen, read_call
from .schemas import Format as ToolFormat
from .schemas import ToolList, description, function_schemas, parameters

router = Router(tags=["operations"])


@router.get(
    "/tools",
    response=ToolList,
    operation_id="operations_api_tools",
    summary="List tools",
)
def tools(
    request: HttpRequest,
    format: Annotated[
        ToolFormat,
        Query(description="The provider whose form the list has, or `mcp`."),
    ] = "openai",
    tools: Annotated[
        str,
        Query(
            description="Groups or tools, separated by commas: `edit,recall`. By default all."
        ),
    ] = "",
) -> HttpResponse:
    """The agent's tools as a provider's request lists them under `tools`."""
    return json_response({"tools": function_schemas(chosen(tools), format)})


@dataclass(frozen=True)
class _ArgumentsOf:
    """A tool's arguments, described when the API is: all schemas take a tenth of a start."""

    tool: type[Tool]

    def __get_pydantic_json_schema__(self, *_: object) -> dict[str, Any]:
        return parameters(self.tool)


def _add_route(tool: type[Tool]) -> None:
    """Give a tool its own path, with the schema of its arguments."""
    described = Annotated[dict[str, Any], _ArgumentsOf(tool)]

    @decorate_view(takes_head)
    def call(request: HttpRequest, arguments: Body[described]) -> HttpResponse:
        return _called(request, tool.name, arguments)

    router.add_api_operation(
        f"/tools/{tool.name}",
        ["POST"],
        call,
        operation_id=f"tool_{tool.name}",
        summary=description(tool).partition("\n\n")[0],
        description=description(tool),
    )


for each in TOOLS.values():
    _add_route(each)


@router.post(
    "/tools/{name}", operation_id="operations_api_call_tool", summary="Call a tool"
)
@decorate_view(takes_head)
def call_tool(
    request: HttpRequest, name: str, arguments: Body[dict[str, Any]]
) -> HttpResponse:
    """Call one of the agent's tools, by its name."""
    return _called(request, name, arguments)


def _called(request: HttpRequest, name: str, arguments: dict[str, Any]) -> HttpResponse:
    caller, call = caller_of(request), read_call(name, arguments)
    call.expected_head = expected_head(request, call.expected_head)
    answer = call_once(caller, call)
    response = HttpResponse(
        answer.body, status=answer.status, content_type=answer.content_type
    )
    if answer.replayed:
        response["Idempotent-Replayed"] = "true"
    return response
