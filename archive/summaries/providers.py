"""The providers that a project can call, with a key of the environment, its own, or an upstream's.

A key of the environment is sent only to the provider's own address. Another base URL set by a
project gets only the key that was given with it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from django.conf import settings
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from archive.domain.summaries.providers import COMPATIBLE, PROVIDERS, ModelProvider
from archive.models import SummaryProvider
from contextstudio.accounts.credentials import KEY_PREFIX
from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Invalid, NotFound, unknown_name
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.models import AuditEntry, Project
from contextstudio.accounts.selectors import get_project
from operations.forwarding.upstreams import services as upstreams
from operations.forwarding.upstreams.addresses import read_base
from operations.forwarding.upstreams.sealing import reseal, unseal
from operations.models import SessionRequest
from threads.models import Session

_SET = "summary provider.set"
_DELETED = "summary provider.delete"


class KeySource(StrEnum):
    """Where a provider's key comes from."""

    ENVIRONMENT = "environment"
    PROJECT = "project"
    UPSTREAM = "upstream"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTarget:
    """A provider that can be called: its address and key."""

    provider: ModelProvider
    source: KeySource
    base_url: str
    api_key: str = ""
    """Empty if none is needed; calls are then free."""
    model: str = ""
    """The configured model; empty for the one in the table."""
    private: bool = False
    """Whether its address may be in a private network."""


def targets_of(project: Project) -> Mapping[str, ModelTarget]:
    """The providers that are set up for a project, by name, in the order of the table."""
    rows = {row.name: row for row in SummaryProvider.objects.filter(project=project)}
    found = {}
    for name, provider in PROVIDERS.items():
        row = rows.get(name)
        target = _own(project, provider, row) if row else None
        target = target or _of_environment(provider, row)
        if target is None and row is None:
            target = _of_upstream(project, provider)
        if target is not None:
            found[name] = target
    return found


def rows_of(project: Project) -> dict[str, SummaryProvider]:
    """The project's own settings, by provider name."""
    rows = SummaryProvider.objects.filter(project=project)
    return {row.name: row for row in rows}


def changed_at(project: Project) -> dict[str, datetime]:
    """When a project last set up or deleted each provider, by provider name."""
    changes = AuditEntry.objects.filter(project=project, action__in=(_SET, _DELETED))
    return dict(changes.values_list("object_id").annotate(last=Max("at")))


def current_provider(session: Session) -> str:
    """The provider that the session's last request went to, judging by its format."""
    last = SessionRequest.objects.filter(session=session).order_by("-number").first()
    form = last.format if last else session.parsing_strategy
    known = (name for name in PROVIDERS if form == name or form.startswith(f"{name}-"))
    return next(known, "")


def set_provider(
    caller: Caller,
    slug: str,
    name: str,
    *,
    base_url: str = "",
    api_key: str | None = None,
    model: str = "",
) -> SummaryProvider:
    """Set up a provider for a project's summaries. Needs the right to administer.

    `api_key`: None keeps the stored key as long as the origin stays the same; empty removes it.
    Raises Invalid.
    """
    project = get_project(caller, slug, Right.ADMIN)
    provider = _known(name)
    base = base_url.strip()
    if not base and not provider.base_url:
        raise Invalid(f"{provider.label} needs its base URL.", at=["base_url"])
    if name == COMPATIBLE and not model.strip():
        raise Invalid(f"Name a model of {provider.label}.", at=["model"])
    if base:
        base = str(upstreams.checked_base(base))
    key = upstreams.read_key(api_key)
    with transaction.atomic():
        Project.objects.select_for_update().get(pk=project.pk)
        known = SummaryProvider.objects.filter(project=project, name=name).first()
        place = _place(project, provider, base)
        sealed = known.sealed_key if known else None
        row, _ = SummaryProvider.objects.update_or_create(
            project=project,
            name=name,
            defaults={
                "base_url": base,
                "sealed_key": reseal(key, sealed, place),
                "model": model.strip()[:128],
                "updated_at": timezone.now(),
            },
        )
        _audit(caller, project, _SET, name)
    return row


@transaction.atomic
def delete_provider(caller: Caller, slug: str, name: str) -> None:
    """Delete a project's settings for a provider, with its key. Raises NotFound."""
    project = get_project(caller, slug, Right.ADMIN)
    gone, _ = SummaryProvider.objects.filter(project=project, name=name).delete()
    if not gone:
        raise NotFound("This project has no such provider.", at=["provider"])
    _audit(caller, project, _DELETED, name)


def _known(name: str) -> ModelProvider:
    if name not in PROVIDERS:
        raise Invalid(unknown_name("provider", name, PROVIDERS), at=["name"])
    return PROVIDERS[name]


def _own(
    project: Project, provider: ModelProvider, row: SummaryProvider
) -> ModelTarget | None:
    """The target from the project's own settings; None if those are not enough."""
    place = _place(project, provider, row.base_url)
    key = (unseal(row.sealed_key, place) or "") if row.sealed_key else ""
    if not key and not (provider.is_free and row.base_url):
        return None
    return ModelTarget(
        provider=provider,
        source=KeySource.PROJECT,
        base_url=_address(provider, row.base_url or provider.base_url),
        api_key=key,
        model=row.model,
        private=settings.ALLOW_PRIVATE_UPSTREAMS,
    )


def _of_environment(
    provider: ModelProvider, row: SummaryProvider | None
) -> ModelTarget | None:
    """The target that the server's operator set up; a project may name the model."""
    variables = settings.PROVIDER_VARIABLES
    key = variables.get(provider.key_variable, "")
    if key.startswith(KEY_PREFIX):  # a key of ours, set for a client in this shell
        key = ""
    base = variables.get(provider.base_variable, "")
    if (row is not None and row.base_url) or not (key or (provider.is_free and base)):
        return None
    return ModelTarget(
        provider=provider,
        source=KeySource.ENVIRONMENT,
        base_url=_address(provider, base or provider.base_url),
        api_key=key,
        model=row.model if row else "",
        private=bool(base),
    )


def _of_upstream(project: Project, provider: ModelProvider) -> ModelTarget | None:
    """The target from the project's upstream, if that has a stored key."""
    if provider.name not in list(upstreams.WireProvider):
        return None
    try:
        target = upstreams.target_of(project.pk, upstreams.WireProvider(provider.name))
    except (
        Invalid
    ):  # the key is lost, or the address no longer allowed; the upstream's page says so
        return None
    if not target.api_key:
        return None
    return ModelTarget(
        provider=provider,
        source=KeySource.UPSTREAM,
        base_url=_address(provider, str(target.base)),
        api_key=target.api_key,
        private=settings.ALLOW_PRIVATE_UPSTREAMS,
    )


def _address(provider: ModelProvider, base: str) -> str:
    """A base URL as litellm expects it, whether given with or without the version."""
    base = base.rstrip("/")
    if provider.form == "anthropic":
        return base.removesuffix("/v1")
    has_path = "/" in base.partition("://")[2]
    version = "/v1beta" if provider.form == "gemini" else "/v1"
    return base if has_path else f"{base}{version}"


def _place(project: Project, provider: ModelProvider, base_url: str) -> str:
    private = (
        True  # only the origin is needed; whether it may be dialled is asked elsewhere
    )
    origin = read_base(base_url or provider.base_url, private=private).origin
    return f"{project.pk} summaries {provider.name} {origin}"


def _audit(caller: Caller, project: Project, action: str, name: str) -> None:
    AuditEntry.objects.create(
        project=project, actor=caller.actor, action=action, object_id=name
    )
