"""A project's upstreams: where its requests go, with which key, and as which model."""

import asyncio
from dataclasses import dataclass
from enum import StrEnum

from asgiref.sync import async_to_sync
from django.conf import settings
from django.db import transaction
from django.db.models import CharField, IntegerField
from django.utils import timezone

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Invalid, NotFound
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.models import AuditEntry, Project
from contextstudio.accounts.selectors import get_project
from contextstudio.database.prepared import Param, Prepared
from operations.forwarding import toolbox
from operations.models import Upstream

from .addresses import BaseAddress, endpoint_of, read_base
from .dialing import AddressRefused, checked_addresses
from .sealing import reseal, unseal

_SECONDS_TO_RESOLVE = 5
MAX_KEY_LENGTH = 4000


class WireProvider(StrEnum):
    """A format of requests that are forwarded, named after its provider."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    GEMINI = "gemini"


PUBLIC = {
    WireProvider.OPENAI: "https://api.openai.com/v1",
    WireProvider.ANTHROPIC: "https://api.anthropic.com",
    WireProvider.GEMINI: "https://generativelanguage.googleapis.com",
}
"""Where requests with a caller's own key go, unless the project says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The destination of a project's requests in one form."""

    provider: WireProvider
    base: BaseAddress
    api_key: str = ""
    """Empty if the caller brings one."""
    model: str = ""
    """Sent in place of the caller's model; empty keeps the caller's."""
    tools: str = ""
    """Our tools that are added to requests: names and groups, separated by commas."""


def list_upstreams(project: Project) -> list[Upstream]:
    """The upstreams of a project; the caller has checked access."""
    return list(Upstream.objects.filter(project=project).order_by("provider"))


def set_upstream(
    caller: Caller,
    slug: str,
    provider: WireProvider,
    *,
    base_url: str,
    api_key: str | None = None,
    model: str = "",
    tools: str = "",
) -> Upstream:
    """Set where a project's requests go. Needs the right to administer. Raises Invalid.

    `api_key`: None keeps the current key unless the base URL has another origin, because no key
    is sent to an origin that it wasn't given for; an empty one removes it. `tools`: names and
    groups of our tools that are added to each request.
    """
    project = get_project(caller, slug, Right.ADMIN)
    key = read_key(api_key)
    named = ",".join(filter(None, map(str.strip, tools.split(","))))
    toolbox.offered_tools(named)
    # Outside the transaction, because a resolver may be slow.
    base = checked_base(base_url.strip())
    with transaction.atomic():
        Project.objects.select_for_update().get(pk=project.pk)
        rows = Upstream.objects.filter(project=project, provider=provider)
        known = rows.first()
        place = _place(project.pk, provider, base)
        sealed = known.sealed_key if known else None
        upstream, _ = Upstream.objects.update_or_create(
            project=project,
            provider=provider.value,
            defaults={
                "base_url": str(base),
                "sealed_key": reseal(key, sealed, place),
                "model": model.strip()[:128],
                "tools": named,
                "updated_at": timezone.now(),
            },
        )
        _audit(caller, project, "upstream.set", provider)
    return upstream


@transaction.atomic
def delete_upstream(caller: Caller, slug: str, provider: WireProvider) -> None:
    """Delete an upstream with its key. Raises NotFound."""
    project = get_project(caller, slug, Right.ADMIN)
    gone, _ = Upstream.objects.filter(project=project, provider=provider).delete()
    if not gone:
        raise NotFound("This project has no such upstream.", at=["provider"])
    _audit(caller, project, "upstream.delete", provider)


def target_of(project_id: int, provider: WireProvider) -> Target:
    """The destination of a project's requests; the public provider if none is set.

    Raises Invalid if what is stored can no longer be used.
    """
    row = _UPSTREAM.first(project=project_id, provider=provider)
    private = settings.ALLOW_PRIVATE_UPSTREAMS
    if row is None:
        base = read_base(PUBLIC[provider], private=private)
        return Target(provider=provider, base=base)
    base = read_base(row.base_url, private=private)
    key = ""
    if row.sealed_key:
        opened = unseal(row.sealed_key, _place(project_id, provider, base))
        if opened is None:
            raise Invalid(
                f"The key of the {provider} upstream can't be decrypted, as after a change of "
                "SECRET_KEY: an owner of the project has to enter it again.",
                at=["upstream"],
                code="upstream_key_lost",
            )
        key = opened
    return Target(
        provider=provider, base=base, api_key=key, model=row.model, tools=row.tools
    )


_UPSTREAM = Prepared(
    lambda: Upstream.objects.filter(
        project=Param("project", IntegerField()),
        provider=Param("provider", CharField()),
    )
)


def read_key(text: str | None) -> str | None:
    """A key as it goes into a header. Raises Invalid."""
    key = None if text is None else text.strip()
    if key and (len(key) > MAX_KEY_LENGTH or not (key.isascii() and key.isprintable())):
        raise Invalid("A key must be one line of ASCII characters.", at=["api_key"])
    return key


def checked_base(url: str) -> BaseAddress:
    """Parse a base URL and look up its host. Raises Invalid.

    It is also refused if it is the address of single requests, or if its host isn't known or may
    not be called.
    """
    base = read_base(url, private=settings.ALLOW_PRIVATE_UPSTREAMS)
    if endpoint := endpoint_of(base):
        sentence = (
            f"Leave out {endpoint}: the path of each request is added to the base URL."
        )
        raise Invalid(sentence, at=["base_url"])

    async def look() -> None:
        async with asyncio.timeout(_SECONDS_TO_RESOLVE):
            await checked_addresses(base.host, base.port)

    try:
        async_to_sync(look)()
    except AddressRefused as error:
        raise Invalid(
            f"{error} CONTEXTSTUDIO_ALLOW_PRIVATE_UPSTREAMS lets the operator allow private ones.",
            at=["base_url"],
            code="address_refused",
        ) from None
    except (OSError, TimeoutError, UnicodeError):
        raise Invalid(
            f"The host {base.host} can't be resolved.",
            at=["base_url"],
            code="host_unknown",
        ) from None
    return base


def _place(project_id: int, provider: WireProvider, base: BaseAddress) -> str:
    return f"{project_id} {provider} {base.origin}"


def _audit(
    caller: Caller, project: Project, action: str, provider: WireProvider
) -> None:
    AuditEntry.objects.create(
        project=project, actor=caller.actor, action=action, object_id=provider.value
    )
