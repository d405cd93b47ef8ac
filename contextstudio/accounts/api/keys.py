"""REST: the keys of agents and scripts."""

from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Router, Schema, Status
from pydantic import AwareDatetime, Field

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import NotFound
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.keys import services
from contextstudio.accounts.keys.services import MAX_REQUESTS, NewKey
from contextstudio.accounts.models import ApiKey, Project
from contextstudio.accounts.responses import dump, json_response
from contextstudio.accounts.selectors import get_key, get_project, list_keys
from contextstudio.accounts.shape import RequestBody

router = Router(tags=["keys"])
_RECALLS: Any = Field(
    default_factory=list,
    max_length=100,
    description="Slugs of other projects whose memos it may find and whose messages it may recall.",
)
_LIMIT: Any = Field(
    None, ge=1, le=MAX_REQUESTS, description="By default (null) the server's limit."
)


class KeyIn(RequestBody):
    """A new key, for one project."""

    project: str = Field(max_length=64, description="The project's slug.")
    name: str = Field("", max_length=100)
    scopes: list[Right] = [Right.READ, Right.PROPOSE]
    """What the key may do in the project."""
    recalls: list[str] = _RECALLS
    expires_at: AwareDatetime | None = None
    """When the key stops working; null for never."""
    requests_per_minute: int | None = _LIMIT


class KeyChange(RequestBody):
    """Changes to a key. Fields left out stay as they are."""

    name: str = Field("", max_length=100)
    scopes: list[Right] = []
    recalls: list[str] = _RECALLS
    expires_at: AwareDatetime | None = None
    requests_per_minute: int | None = _LIMIT


class Rotation(RequestBody):
    """How long the current secret keeps working beside the new one."""

    old_until: AwareDatetime | None = Field(
        None, description="When the current secret stops working; null for at once."
    )


class KeyOut(Schema):
    """A key without its secret."""

    id: int
    project: str
    name: str
    prefix: str = Field(description="The first characters of its secret.")
    scopes: list[Right]
    recalls: list[str]
    created_by: str
    created_at: datetime
    expires_at: datetime | None
    requests_per_minute: int | None
    last_used_at: datetime | None


class NewKeyOut(KeyOut):
    """A key with its new secret."""

    key: str | None = Field(
        description="The secret, shown only this once; null when an Idempotency-Key is repeated."
    )


class KeyList(Schema):
    """Keys, the newest first."""

    items: list[KeyOut]


@router.get(
    "/keys", response=KeyList, operation_id="accounts_api_keys", summary="List keys"
)
def keys(request: HttpRequest) -> dict[str, Any]:
    """The keys that the caller may see: their own, and those of projects that they administer.

    A key sees itself, and with the scope `admin` all keys of its project.
    """
    found = list_keys(caller_of(request)).prefetch_related("recalls")
    return {"items": [_present(one) for one in found]}


@router.post(
    "/keys",
    response={201: NewKeyOut},
    operation_id="accounts_api_create_key",
    summary="Create a key",
)
def create_key(request: HttpRequest, body: KeyIn) -> HttpResponse:
    """Create a key.

    A key that creates another needs the scope `admin`, and can't grant more than it may do itself.
    """
    caller = caller_of(request)
    made = services.create_key_as(
        caller,
        get_project(caller, body.project),
        name=body.name.strip(),
        scopes=frozenset(body.scopes),
        recalls=_projects(caller, body.recalls),
        expires_at=body.expires_at,
        requests_per_minute=body.requests_per_minute,
    )
    return _with_secret(made, 201)


@router.get(
    "/keys/{int:key_id}",
    response=KeyOut,
    operation_id="accounts_api_key",
    summary="Read a key",
)
def key(request: HttpRequest, key_id: int) -> dict[str, Any]:
    """One key."""
    return _present(get_key(caller_of(request), key_id))


@router.patch(
    "/keys/{int:key_id}",
    response=KeyOut,
    operation_id="accounts_api_change_key",
    summary="Change a key",
)
def change_key(request: HttpRequest, key_id: int, body: KeyChange) -> dict[str, Any]:
    """Change a key. Only a person can, and only the person who created it can let it do more."""
    caller = caller_of(request)
    known, given = get_key(caller, key_id), body.model_fields_set
    recalls = _projects(caller, body.recalls) if "recalls" in given else None
    changed = services.change_key(
        caller,
        key_id,
        name=body.name if "name" in given else known.name,
        scopes=frozenset(
            body.scopes if "scopes" in given else map(Right, known.scopes)
        ),
        recalls=recalls,
        expires_at=body.expires_at if "expires_at" in given else known.expires_at,
        requests_per_minute=(
            body.requests_per_minute
            if "requests_per_minute" in given
            else known.requests_per_minute
        ),
    )
    return _present(changed)


@router.post(
    "/keys/{int:key_id}/rotate",
    response=NewKeyOut,
    operation_id="accounts_api_rotate_key",
    summary="Rotate a key",
)
def rotate_key(request: HttpRequest, key_id: int, body: Rotation) -> HttpResponse:
    """Give a new secret to a key that the caller created, or to the key that makes the request."""
    caller = caller_of(request)
    rotated = services.rotate_key(caller, key_id, old_until=body.old_until)
    return _with_secret(rotated, 200)


@router.delete(
    "/keys/{int:key_id}",
    response={204: None},
    operation_id="accounts_api_revoke_key",
    summary="Revoke a key",
)
def revoke_key(request: HttpRequest, key_id: int) -> Status[None]:
    """Revoke a key at once and for good. What it recorded stays."""
    services.revoke_key(caller_of(request), key_id)
    return Status(204, None)


def _projects(caller: Caller, slugs: list[str]) -> list[Project]:
    found = []
    for place, slug in enumerate(slugs):
        try:
            found.append(get_project(caller, slug))
        except NotFound as refusal:
            raise NotFound(refusal.message, at=["recalls", place]) from refusal
    return found


def _present(key: ApiKey) -> dict[str, Any]:
    return {
        "id": key.pk,
        "project": key.project.slug,
        "name": key.name,
        "prefix": key.prefix,
        "scopes": key.scopes,
        "recalls": [project.slug for project in key.recalls.all()],
        "created_by": str(key.maker),
        "created_at": key.created_at,
        "expires_at": key.expires_at,
        "requests_per_minute": key.requests_per_minute,
        "last_used_at": key.last_used_at,
    }


def _with_secret(made: NewKey, status: int) -> HttpResponse:
    """A response with the key and its secret, which is stored nowhere, not even for replays."""
    known = _present(made.row)
    response = json_response({**known, "key": made.text}, status)
    response["Cache-Control"] = "no-store"
    response.recorded_body = dump({**known, "key": None})  # type: ignore[attr-defined]  # see web.idempotency
    return response
