"""REST for scratchpad and state."""

import uuid
from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Router
from ninja.params.functions import Query

from contextstudio.accounts.authentication import caller_of
from threads.store.selectors import get_session

from . import scratchpads, states
from .schemas import (
    ScratchpadIn,
    ScratchpadOut,
    ScratchpadsOut,
    StateIn,
    StateOut,
    StatesOut,
    present_scratchpad,
    present_state,
)

router = Router(tags=["context"])


@router.get(
    "/sessions/{uuid:session_id}/scratchpad",
    response=ScratchpadOut,
    operation_id="operations_context_api_scratchpad",
    summary="Read the scratchpad",
)
def scratchpad(
    request: HttpRequest,
    session_id: uuid.UUID,
    version: Annotated[
        int | None, Query(description="Number of a version; by default the newest.")
    ] = None,
) -> dict[str, Any]:
    """The scratchpad of a session, or an older version of it."""
    session = get_session(caller_of(request), session_id)
    return present_scratchpad(scratchpads.load_scratchpad(session, version))


@router.get(
    "/sessions/{uuid:session_id}/scratchpad/versions",
    response=ScratchpadsOut,
    operation_id="operations_context_api_scratchpad_versions",
    summary="List versions of the scratchpad",
)
def scratchpad_versions(request: HttpRequest, session_id: uuid.UUID) -> dict[str, Any]:
    """All versions of the scratchpad, newest first."""
    session = get_session(caller_of(request), session_id)
    found = scratchpads.list_scratchpads(session)
    return {"items": [present_scratchpad(one) for one in found]}


@router.put(
    "/sessions/{uuid:session_id}/scratchpad",
    response=ScratchpadOut,
    operation_id="operations_context_api_write_scratchpad",
    summary="Write the scratchpad",
)
def write_scratchpad(
    request: HttpRequest, session_id: uuid.UUID, body: ScratchpadIn
) -> dict[str, Any]:
    """Replace the scratchpad's content, or append to it."""
    caller = caller_of(request)
    written = scratchpads.write_scratchpad(
        caller,
        session_id,
        body.content,
        append=body.action == "append",
        expected_version=body.expected_version,
    )
    return present_scratchpad(written)


@router.get(
    "/sessions/{uuid:session_id}/state",
    response=StatesOut,
    operation_id="operations_context_api_state",
    summary="Read STATE",
)
def state(request: HttpRequest, session_id: uuid.UUID) -> dict[str, Any]:
    """A session's STATE and its versions: those from its responses, and those set by hand."""
    session = get_session(caller_of(request), session_id)
    versions = [present_state(one) for one in states.list_states(session)]
    current = next((one for one in versions if one["in_force"]), None)
    goal = current["goal"] if current and not session.objective else ""
    return {"state": current, "versions": versions, "objective_suggested": goal}


@router.put(
    "/sessions/{uuid:session_id}/state",
    response=StateOut,
    operation_id="operations_context_api_set_state",
    summary="Set STATE",
)
def set_state(
    request: HttpRequest, session_id: uuid.UUID, body: StateIn
) -> dict[str, Any]:
    """Set STATE. It is in force until a later response contains a STATE block."""
    return present_state(states.set_state(caller_of(request), session_id, body.content))
