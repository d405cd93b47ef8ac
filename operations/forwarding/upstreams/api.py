"""REST: where a project's requests are forwarded to."""

from typing import Any

from django.http import HttpRequest
from ninja import Router, Status

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.selectors import get_project

from . import services
from .schemas import UpstreamIn, UpstreamList, UpstreamOut, present
from .services import WireProvider

router = Router(tags=["projects"])
_PATH = "/projects/{str:slug}/upstreams"


@router.get(
    _PATH,
    response=UpstreamList,
    operation_id="operations_api_list_upstreams",
    summary="List upstreams",
)
def list_upstreams(request: HttpRequest, slug: str) -> dict[str, Any]:
    """The upstreams of a project, without their keys."""
    project = get_project(caller_of(request), slug)
    return {"items": [present(one) for one in services.list_upstreams(project)]}


@router.put(
    f"{_PATH}/{{provider}}",
    response=UpstreamOut,
    operation_id="operations_api_set_upstream",
    summary="Set up an upstream",
)
def set_upstream(
    request: HttpRequest, slug: str, provider: WireProvider, body: UpstreamIn
) -> UpstreamOut:
    """Set where requests in one provider's format are forwarded to."""
    made = services.set_upstream(
        caller_of(request),
        slug,
        provider,
        base_url=body.base_url,
        api_key=body.api_key,
        model=body.model,
        tools=body.tools,
    )
    return present(made)


@router.delete(
    f"{_PATH}/{{provider}}",
    response={204: None},
    operation_id="operations_api_delete_upstream",
    summary="Delete an upstream",
)
def delete_upstream(
    request: HttpRequest, slug: str, provider: WireProvider
) -> Status[None]:
    """Delete an upstream with its key."""
    services.delete_upstream(caller_of(request), slug, provider)
    return Status(204, None)
