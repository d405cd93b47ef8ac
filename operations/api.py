"""REST for threads and operations. Doors translate: the rules are in services."""

import uuid
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from ninja import Body, Router, Status
from ninja.decorators import decorate_view

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.errors import DomainError, Invalid, NotFound
from contextstudio.accounts.domain.paging import clamp, decode_cursor, encode_cursor
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.responses import json_answer, json_response
from threads.selectors import get_session

from . import answers, applying, exports, patterns, services
from .aligning import Inbound
from .arguments import AmendArguments, AnyEdit, EditArguments, TextArguments
from .expecting import expected_head
from .nodes import ThreadPresenter
from .pattern_presentation import present_looked
from .pattern_schemas import DryRunOut
from .presentation import (
    present_bundle,
    present_log,
    present_operation,
    present_operations,
    present_recorded,
    present_writing,
)
from .raw import read_raw
from .recording import Writing
from .schemas import (
    ApplyIn,
    ApplyOut,
    BundleIn,
    BundleOut,
    LensIn,
    LensOut,
    LogPage,
    OperationList,
    RecordedOut,
    SwitchOut,
    ThreadOut,
    ToggleIn,
    ToolList,
    View,
)
from .selectors import get_operation, list_lenses, load_history, load_thread
from .tools import TOOLS, call_once, read_call
from .tools.schemas import Format as ToolFormat
from .tools.schemas import function_schemas

Route = Callable[..., HttpResponseBase]
router = Router(tags=["operations"])


@router.get("/sessions/{uuid:session_id}/thread", response=ThreadOut)
def thread(
    request: HttpRequest,
    session_id: uuid.UUID,
    view: View = "annotated",
    start: int = 0,
    limit: int | None = None,
    unfold: str = "",
    children_start: int = 0,
    children_limit: int | None = None,
    active_tags: str | None = None,
    inline: bool = False,
) -> HttpResponse:
    """A thread as replayed: annotated, effective (what the model sees), or original.

    `start` and `limit` count top-level nodes; `unfold=o7,o9` adds what these folds hold.
    `active_tags` are this request's own (empty: none); absent means the session's.
    `inline`: images as their bytes.
    """
    session = get_session(caller_of(request), session_id)
    tags = _tags(active_tags)
    replayed = load_thread(session, tags)
    presenter = ThreadPresenter(session, replayed, load_history(session), inline=inline)
    start, most = max(start, 0), clamp(limit)
    total, nodes = presenter.view(
        view,
        start,
        most,
        unfold=frozenset(filter(None, unfold.split(","))),
        children_start=max(children_start, 0),
        children_limit=clamp(children_limit),
    )
    return json_response(
        {
            "session_id": str(session.pk),
            "head": replayed.head,
            "message_count": replayed.message_count,
            "total": total,
            "nodes": nodes,
            "operations": present_operations(replayed, presenter.history),
            "active_tags": sorted(replayed.active_tags),
            "tokens": {
                "original": replayed.tokens.original,
                "effective": replayed.tokens.effective,
            },
        }
    )


@router.post(
    "/sessions/{uuid:session_id}/operations",
    response={200: DryRunOut, 201: RecordedOut},
)
def record_operation(
    request: HttpRequest, session_id: uuid.UUID, body: Body[AnyEdit]
) -> Status[Any]:
    """Record an edit at the end of the log; a dry run of one answers what it would change."""
    if isinstance(body, TextArguments) and body.dry_run:
        session = get_session(caller_of(request), session_id)
        looked = patterns.look(session, body.wanted())
        return Status(200, present_looked(session, looked))
    writing = services.record_edit(
        caller_of(request),
        session_id,
        _request(body),
        expected_head=expected_head(request, body.expected_head),
    )
    return Status(201, recorded_answer(writing))


@router.get("/sessions/{uuid:session_id}/operations", response=OperationList)
def operations(
    request: HttpRequest, session_id: uuid.UUID, active_only: bool = False
) -> HttpResponse:
    """The operations of a session; `active_only`: those that apply now."""
    session = get_session(caller_of(request), session_id)
    items = present_operations(
        load_thread(session), load_history(session), active_only=active_only
    )
    return json_response({"operations": items})


@router.post("/sessions/{uuid:session_id}/bundles", response={201: BundleOut})
def record_bundle(
    request: HttpRequest, session_id: uuid.UUID, body: BundleIn
) -> Status[Any]:
    """Record edits as one: all or none, numbered in a row."""
    writing = services.record_bundle(
        caller_of(request),
        session_id,
        [_request(edit) for edit in body.operations],
        title=body.title,
        expected_head=expected_head(request, body.expected_head),
    )
    return Status(201, present_bundle(writing))


@router.get("/sessions/{uuid:session_id}/log", response=LogPage)
def log(
    request: HttpRequest,
    session_id: uuid.UUID,
    cursor: str | None = None,
    limit: int | None = None,
) -> HttpResponse:
    """The entries of a log, first to last."""
    session = get_session(caller_of(request), session_id)
    history = load_history(session)
    first = 1 if cursor is None else _position(cursor) + 1
    last = min(first + clamp(limit) - 1, session.head)
    return json_response(
        {
            "items": present_log(history, range(first, last + 1)),
            "next_cursor": encode_cursor([last]) if last < session.head else None,
        }
    )


@router.post("/sessions/{uuid:session_id}/undo", response=SwitchOut)
def undo(request: HttpRequest, session_id: uuid.UUID) -> dict[str, Any]:
    """Take back the caller's newest entry, a bundle whole."""
    return _acted(request, services.undo, session_id)


@router.post("/sessions/{uuid:session_id}/redo", response=SwitchOut)
def redo(request: HttpRequest, session_id: uuid.UUID) -> dict[str, Any]:
    """Bring back what the caller undid last."""
    return _acted(request, services.redo, session_id)


@router.get("/operations/{uuid:operation_id}")
def operation(request: HttpRequest, operation_id: uuid.UUID) -> HttpResponse:
    """An operation with all that it was recorded with."""
    session, key = get_operation(caller_of(request), operation_id)
    replayed = load_thread(session)
    recorded = replayed.log.edit(key)
    if recorded is None:
        raise NotFound("This entry is no edit.", at=["operation_id"])
    history = load_history(session)
    return json_response(present_operation(replayed, history, recorded.entry.number))


@router.post("/operations/{uuid:operation_id}/toggle", response=SwitchOut)
def toggle(
    request: HttpRequest, operation_id: uuid.UUID, body: ToggleIn
) -> dict[str, Any]:
    """Switch an operation on or off."""
    head = expected_head(request, body.expected_head)
    return present_writing(
        services.toggle(
            caller_of(request), operation_id, body.active, expected_head=head
        )
    )


@router.post("/operations/{uuid:operation_id}/revert", response=SwitchOut)
def revert(request: HttpRequest, operation_id: uuid.UUID) -> dict[str, Any]:
    """Take an operation back."""
    return _acted(request, services.revert, operation_id)


@router.post("/operations/{uuid:operation_id}/accept", response=SwitchOut)
def accept(request: HttpRequest, operation_id: uuid.UUID) -> dict[str, Any]:
    """Let a proposed operation apply."""
    return _acted(request, services.accept, operation_id)


@router.post("/operations/{uuid:operation_id}/reject", response=SwitchOut)
def reject(request: HttpRequest, operation_id: uuid.UUID) -> dict[str, Any]:
    """Decline a proposed operation."""
    return _acted(request, services.reject, operation_id)


@router.post("/operations/{uuid:operation_id}/amend", response=SwitchOut)
def amend(
    request: HttpRequest, operation_id: uuid.UUID, body: AmendArguments
) -> dict[str, Any]:
    """Give an operation new words or a new condition."""
    writing = services.amend(
        caller_of(request),
        operation_id,
        body.amended,
        expected_head=expected_head(request, body.expected_head),
    )
    return present_writing(writing)


@router.post("/bundles/{uuid:bundle_id}/toggle", response=SwitchOut)
def toggle_bundle(
    request: HttpRequest, bundle_id: uuid.UUID, body: ToggleIn
) -> dict[str, Any]:
    """Switch the operations of a bundle on or off."""
    switch = services.switch_to(body.active)
    return _switch_bundle(request, bundle_id, switch, head=body.expected_head)


@router.post("/bundles/{uuid:bundle_id}/revert", response=SwitchOut)
def revert_bundle(request: HttpRequest, bundle_id: uuid.UUID) -> dict[str, Any]:
    """Take a bundle back."""
    return _switch_bundle(request, bundle_id, services.take_back)


@router.post("/bundles/{uuid:bundle_id}/accept", response=SwitchOut)
def accept_bundle(request: HttpRequest, bundle_id: uuid.UUID) -> dict[str, Any]:
    """Let the proposed operations of a bundle apply."""
    return _switch_bundle(request, bundle_id, services.let_apply, Right.REVIEW)


@router.post("/bundles/{uuid:bundle_id}/reject", response=SwitchOut)
def reject_bundle(request: HttpRequest, bundle_id: uuid.UUID) -> dict[str, Any]:
    """Decline the proposed operations of a bundle."""
    return _switch_bundle(request, bundle_id, services.decline, Right.REVIEW)


@router.get("/sessions/{uuid:session_id}/lenses", response=list[LensOut])
def lenses(request: HttpRequest, session_id: uuid.UUID) -> list[dict[str, Any]]:
    """The named sets of active tags."""
    session = get_session(caller_of(request), session_id)
    return [{"name": lens.name, "tags": lens.tags} for lens in list_lenses(session)]


@router.get("/sessions/{uuid:session_id}/lenses/{name}", response=LensOut)
def lens(request: HttpRequest, session_id: uuid.UUID, name: str) -> dict[str, Any]:
    """One named set of active tags."""
    session = get_session(caller_of(request), session_id)
    for found in list_lenses(session):
        if found.name == name:
            return {"name": found.name, "tags": found.tags}
    raise NotFound("There is no such lens.", at=["name"])


@router.put("/sessions/{uuid:session_id}/lenses/{name}", response=LensOut)
def save_lens(
    request: HttpRequest, session_id: uuid.UUID, name: str, body: LensIn
) -> dict[str, Any]:
    """Name a set of active tags."""
    saved = services.save_lens(caller_of(request), session_id, name, body.tags)
    return {"name": saved.name, "tags": saved.tags}


@router.delete("/sessions/{uuid:session_id}/lenses/{name}", response={204: None})
def delete_lens(request: HttpRequest, session_id: uuid.UUID, name: str) -> Status[Any]:
    """Forget a named set of active tags."""
    services.delete_lens(caller_of(request), session_id, name)
    return Status(204, None)


def _from_memory(route: Route) -> Route:
    """The route of `apply`, which reads a request only where its answer isn't known.

    For requests with a key alone: those of a browser bring a token that the route checks.
    What is refused is refused by the route too.
    """

    @wraps(route)
    def answer(request: HttpRequest, **values: Any) -> HttpResponseBase:
        known = _known(request, values["session_id"])
        return json_answer(known) if known else route(request, **values)

    return answer


def _known(request: HttpRequest, session_id: uuid.UUID) -> bytes | None:
    if "Authorization" not in request.headers:
        return None
    with suppress(DomainError, RequestDataTooBig):
        caller = caller_of(request)
        raw = read_raw(request.body)
        return answers.find(caller, session_id, raw) if raw else None
    return None


@router.post("/sessions/{uuid:session_id}/apply", response=ApplyOut)
@decorate_view(_from_memory)
def apply(request: HttpRequest, session_id: uuid.UUID, body: ApplyIn) -> HttpResponse:
    """Rewrite the messages that a client is about to send."""
    applied = applying.apply(
        caller_of(request),
        session_id,
        Inbound(
            messages=body.messages,
            format=body.format,
            system=body.system,
            active_tags=None
            if body.active_tags is None
            else frozenset(body.active_tags),
            append=body.append,
            model=body.model or "",
            tools=body.tools or (),
            raw=read_raw(request.body),
        ),
    )
    return json_answer(applied)


@router.get("/sessions/{uuid:session_id}/export")
def export(
    request: HttpRequest,
    session_id: uuid.UUID,
    format: str = "contextstudio",
    view: View = "original",
) -> StreamingHttpResponse:
    """Download the originals, or what the model would see."""
    session = get_session(caller_of(request), session_id)
    return exports.response(session, format=format, view=view)


@router.get("/tools", response=ToolList)
def tools(request: HttpRequest, format: ToolFormat = "openai") -> HttpResponse:
    """The agent's tools as a provider's request lists them under `tools`."""
    return json_response({"tools": function_schemas(TOOLS.values(), format)})


@router.post("/tools/{name}")
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


def recorded_answer(writing: Writing) -> dict[str, Any]:
    """What recording one edit answers."""
    return {**present_writing(writing), **present_recorded(writing, writing.numbers[0])}


def _request(edit: EditArguments) -> services.Request:
    return services.Request(edit.edit, propose=edit.propose, title=edit.title)


def _acted(
    request: HttpRequest, service: Callable[..., Writing], object_id: uuid.UUID
) -> dict[str, Any]:
    """What a service answers that needs to know no more than upon what."""
    head = expected_head(request, None)
    return present_writing(service(caller_of(request), object_id, expected_head=head))


def _switch_bundle(
    request: HttpRequest,
    bundle_id: uuid.UUID,
    control: services.MakeSwitch,
    right: Right = Right.EDIT,
    *,
    head: int | None = None,
) -> dict[str, Any]:
    head = expected_head(request, head)
    writing = services.switch_bundle(
        caller_of(request), bundle_id, control, right, expected_head=head
    )
    return present_writing(writing)


def _tags(active_tags: str | None) -> frozenset[str] | None:
    if active_tags is None:
        return None
    return frozenset(filter(None, active_tags.split(",")))


def _position(cursor: str) -> int:
    (number,) = decode_cursor(cursor, 1)
    if not isinstance(number, int) or number < 0:
        raise Invalid("This cursor is not one of this list.", at=["cursor"])
    return number
