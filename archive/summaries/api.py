"""REST: summaries of a session, the providers that make them, their settings."""

import uuid
from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Router, Status
from ninja.decorators import decorate_view
from ninja.params.functions import Query

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.models import Project
from contextstudio.accounts.selectors import default_project, get_project
from operations.requests import expected_head, takes_head
from threads.store.selectors import get_session

from . import choosing, providers, services
from .schemas import (
    OrderedOut,
    ProviderIn,
    ProviderOut,
    ProvidersOut,
    SettingsIn,
    SettingsOut,
    SummaryIn,
    TestIn,
    present_choice,
    present_order,
    present_providers,
)

router = Router(tags=["summaries"])


@router.post(
    "/sessions/{uuid:session_id}/summaries",
    response={202: OrderedOut},
    operation_id="archive_summaries_api_order_summary",
    summary="Order a summary",
)
@decorate_view(takes_head)
def order_summary(
    request: HttpRequest, session_id: uuid.UUID, body: SummaryIn
) -> Status[dict[str, Any]]:
    """Start a job that summarises messages: by a model, or by rules if no provider is set up.

    The job's result is `{operation_id, summary, made_by, retained, dropped, tokens, cost}`.
    """
    asked = body.model_dump() | {
        "expected_head": expected_head(request, body.expected_head)
    }
    made = services.order_summary(caller_of(request), session_id, **asked)
    return Status(202, present_order(made))


@router.get(
    "/providers",
    response=ProvidersOut,
    operation_id="archive_summaries_api_list_providers",
    summary="List providers",
)
def list_providers(
    request: HttpRequest,
    session: Annotated[
        uuid.UUID | None,
        Query(description="The session whose settings decide, by its id."),
    ] = None,
    project: Annotated[
        str | None,
        Query(
            description="The project's slug; needed if you are in several and name no session."
        ),
    ] = None,
) -> dict[str, Any]:
    """All providers, with whether each is set up for a project, and which one would summarise."""
    caller = caller_of(request)
    open_session = get_session(caller, session) if session else None
    found: Project | None = open_session.project if open_session else None
    if found is not None and project not in (None, found.slug):
        raise Invalid("This session is in another project.", at=["project"])
    if found is None:
        found = get_project(caller, project) if project else default_project(caller)
    if found is None:
        raise Invalid("Name the project, or a session.", at=["project"])
    chosen = choosing.choices(found, open_session)[0]
    return {
        "items": present_providers(dict(providers.targets_of(found))),
        "chosen": present_choice(chosen),
    }


_PROVIDER = "/projects/{str:slug}/providers/{str:name}"


@router.put(
    _PROVIDER,
    response=ProviderOut,
    operation_id="archive_summaries_api_set_provider",
    summary="Set up a provider",
)
def set_provider(
    request: HttpRequest, slug: str, name: str, body: ProviderIn
) -> dict[str, Any]:
    """Set up a provider for a project's summaries."""
    row = providers.set_provider(
        caller_of(request),
        slug,
        name,
        base_url=body.base_url,
        api_key=body.api_key,
        model=body.model,
    )
    shown = present_providers(dict(providers.targets_of(row.project)))
    return next(one for one in shown if one["name"] == name)


@router.delete(
    _PROVIDER,
    response={204: None},
    operation_id="archive_summaries_api_delete_provider",
    summary="Delete a provider",
)
def delete_provider(request: HttpRequest, slug: str, name: str) -> Status[None]:
    """Delete a project's settings for a provider, with its key."""
    providers.delete_provider(caller_of(request), slug, name)
    return Status(204, None)


@router.post(
    f"{_PROVIDER}/test",
    response={202: OrderedOut},
    operation_id="archive_summaries_api_test_provider",
    summary="Test a provider",
)
def test_provider(
    request: HttpRequest, slug: str, name: str, body: TestIn
) -> Status[dict[str, Any]]:
    """Start a job that tests a provider by asking its model for one word."""
    made = services.order_test(caller_of(request), slug, name, body.model)
    return Status(202, present_order(made))


@router.get(
    "/projects/{str:slug}/summaries",
    response=SettingsOut,
    operation_id="archive_summaries_api_project_settings",
    summary="Read a project's summary settings",
)
def project_settings(request: HttpRequest, slug: str) -> dict[str, Any]:
    """Which model summarises a project's sessions."""
    return choosing.settings_of(get_project(caller_of(request), slug))


@router.patch(
    "/projects/{str:slug}/summaries",
    response=SettingsOut,
    operation_id="archive_summaries_api_set_project_settings",
    summary="Change a project's summary settings",
)
def set_project_settings(
    request: HttpRequest, slug: str, body: SettingsIn
) -> dict[str, Any]:
    """Choose which model summarises a project's sessions."""
    changes = body.model_dump(exclude_unset=True)
    return choosing.set_project_settings(caller_of(request), slug, changes)


@router.get(
    "/sessions/{uuid:session_id}/summaries",
    response=SettingsOut,
    operation_id="archive_summaries_api_session_settings",
    summary="Read a session's summary settings",
)
def session_settings(request: HttpRequest, session_id: uuid.UUID) -> dict[str, Any]:
    """A session's own settings, which override those of its project."""
    session = get_session(caller_of(request), session_id)
    return choosing.settings_of(session.project, session)


@router.patch(
    "/sessions/{uuid:session_id}/summaries",
    response=SettingsOut,
    operation_id="archive_summaries_api_set_session_settings",
    summary="Change a session's summary settings",
)
def set_session_settings(
    request: HttpRequest, session_id: uuid.UUID, body: SettingsIn
) -> dict[str, Any]:
    """Choose which model summarises one session."""
    changes = body.model_dump(exclude_unset=True)
    return choosing.set_session_settings(caller_of(request), session_id, changes)
