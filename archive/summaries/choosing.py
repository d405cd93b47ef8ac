"""Chooses the model for a session: by request, by the session's or project's settings, or speed."""

import uuid
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import F, Q

from archive.domain.summaries.providers import (
    PROVIDERS,
    RULES,
    Choice,
    Wanted,
    candidates,
    explicit,
)
from archive.models import SummarySettings
from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Invalid, unknown_name
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.models import AuditEntry, Project
from contextstudio.accounts.selectors import get_project
from threads.models import Session
from threads.store.selectors import get_session

from .providers import current_provider, targets_of

FIELDS = ("summarization_provider", "summarization_model", "disable_auto_summarize")


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsInForce:
    """The settings in force for a session."""

    wanted: Wanted | None
    """The explicit choice; None for the fastest model."""
    disable_auto_summarize: bool


def choices(
    project: Project,
    session: Session | None = None,
    *,
    provider: str = "",
    model: str = "",
) -> list[Choice]:
    """The models that may be called, best first; an explicit choice is the only one.

    Raises Invalid.
    """
    targets = targets_of(project)
    usable = {name: target.model for name, target in targets.items()}
    wanted = in_force(project, session).wanted
    if provider or model:
        wanted = Wanted(provider=provider, model=model, by="the request")
    if wanted is not None:
        return [explicit(wanted, usable)]
    return candidates(usable, current_provider(session) if session else "")


def in_force(project: Project, session: Session | None = None) -> SettingsInForce:
    """The settings of a session, each from the session itself or else from its project."""
    rows = SummarySettings.objects.filter(
        Q(session=session) | Q(session=None), project=project
    )
    if session is None:
        rows = rows.filter(session=None)
    ordered = list(rows.order_by(F("session").asc(nulls_last=True)))
    wanted, disabled = None, None
    for row in ordered:
        if wanted is None and (row.summarization_provider or row.summarization_model):
            wanted = Wanted(
                provider=row.summarization_provider,
                model=row.summarization_model,
                by="this session" if row.session_id else "the project",
            )
        if disabled is None and (row.session_id or not _is_imported(session)):
            disabled = row.disable_auto_summarize
    if disabled is None:
        disabled = _is_imported(session)
    return SettingsInForce(wanted=wanted, disable_auto_summarize=disabled)


def _is_imported(session: Session | None) -> bool:
    return session is not None and session.sources.exists()


def settings_of(project: Project, session: Session | None = None) -> dict[str, Any]:
    """What a project, or a session itself, has set; empty or None if it has not."""
    row = SummarySettings.objects.filter(project=project, session=session).first()
    return {name: getattr(row or SummarySettings(), name) for name in FIELDS}


@transaction.atomic
def set_project_settings(
    caller: Caller, slug: str, changes: dict[str, Any]
) -> dict[str, Any]:
    """Change the settings of a project's sessions that have none of their own."""
    project = get_project(caller, slug, Right.ADMIN)
    AuditEntry.objects.create(
        project=project,
        actor=caller.actor,
        action="summaries.set",
        object_id=project.slug,
    )
    return _write(project, None, changes)


@transaction.atomic
def set_session_settings(
    caller: Caller, session_id: uuid.UUID, changes: dict[str, Any]
) -> dict[str, Any]:
    """Change the settings that a session overrides."""
    session = get_session(caller, session_id, Right.EDIT, lock=True)
    return _write(session.project, session, changes)


def _write(
    project: Project, session: Session | None, changes: dict[str, Any]
) -> dict[str, Any]:
    texts = FIELDS[:2]
    changes = changes | {name: changes[name] or "" for name in texts if name in changes}
    provider = changes.get("summarization_provider")
    if provider and provider not in (*PROVIDERS, RULES):
        raise Invalid(
            unknown_name("provider", provider, [*PROVIDERS, RULES]),
            at=["summarization_provider"],
        )
    SummarySettings.objects.update_or_create(
        project=project, session=session, defaults=changes
    )
    return settings_of(project, session)
