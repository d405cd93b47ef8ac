"""The provider checks in the thread's header: whether each provider accepts the thread.

See `templates/operations/context/provider_checks.html`.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.errors import Invalid
from operations.context.policies import policy_of
from operations.context.provider_checks import Hit, ProviderCheck, load_checks
from operations.context.services import MAX_UNASKED
from operations.domain.providers import PROVIDERS
from operations.domain.providers.request import Severity
from operations.log.selectors import load_thread
from operations.messages.names import Named, named
from threads.models import Session
from threads.store.selectors import get_session

ACCEPTED, REPAIRED, REFUSED, UNKNOWN = "accepted", "repaired", "refused", "unknown"
_STATES = {
    Severity.NOTE: ACCEPTED,
    Severity.REPAIRED: REPAIRED,
    Severity.REFUSED: REFUSED,
}
_SIGNS = {ACCEPTED: "check", REPAIRED: "warn", REFUSED: "x", UNKNOWN: "clock"}
"""The icon of each state."""
_SHORT = {
    "openai": "OpenAI",
    "openai-responses": "Responses",
    "bedrock": "Bedrock",
    "generic-strict": "Strict",
}
"""Short names for providers with a long label, because eight are shown in a row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCheck:
    """The check of one provider, as shown."""

    name: str
    label: str
    short: str
    state: str
    count: int
    """How many rules were repaired or refused; 0 if the thread is accepted."""
    hits: Sequence[tuple[Hit, Sequence[Named]]]
    """What was found, with the messages concerned."""
    check_href: str
    """The address that runs a check that has not run yet."""
    context_href: str

    @property
    def sign(self) -> str:
        """The icon that shows the state without relying on a colour."""
        return _SIGNS[self.state]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownChecks:
    """All checks, and their sum for where there is room for only one sign."""

    providers: Sequence[ShownCheck]
    state: str
    """The worst known state."""
    count: int
    """How many providers have this state."""
    known: int
    policy_leaves_out: bool
    """Whether a request may contain less than the thread shows."""

    @property
    def sign(self) -> str:
        """The icon of the sum."""
        return _SIGNS[self.state]


def shown_check(
    session: Session, provider: str, check: ProviderCheck | None
) -> ShownCheck:
    """The check of one provider; `check` is None if it has not run."""
    thread = load_thread(session)
    state = _STATES[check.state] if check else UNKNOWN
    address = reverse("operations:provider-checks", args=[session.pk])
    context = reverse("operations:context", args=[session.pk])
    query = urlencode({"provider": provider})
    return ShownCheck(
        name=provider,
        label=PROVIDERS[provider].label,
        short=_SHORT.get(provider, PROVIDERS[provider].label),
        state=state,
        count=check.gravest if check and state != ACCEPTED else 0,
        hits=[(hit, named(thread, hit.keys)) for hit in check.hits] if check else (),
        check_href=f"{address}?{query}",
        context_href=f"{context}?{query}",
    )


def shown_checks(session: Session, checks: Mapping[str, ProviderCheck]) -> ShownChecks:
    """The checks of all providers."""
    providers = [shown_check(session, one, checks.get(one)) for one in PROVIDERS]
    states = [one.state for one in providers if one.state != UNKNOWN]
    worst = next((one for one in (REFUSED, REPAIRED) if one in states), ACCEPTED)
    return ShownChecks(
        providers=providers,
        state=worst if states else UNKNOWN,
        count=states.count(worst),
        known=len(states),
        policy_leaves_out=policy_of(session).leaves_out,
    )


@require_safe
def provider_checks(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """The checks that have run; `provider` runs one more. Raises Invalid."""
    session = get_session(caller_of(request), session_id)
    asked = request.GET.get("provider", "")
    if asked and asked not in PROVIDERS:
        raise Invalid("There is no such provider.", at=["provider"])
    found: dict[str, ProviderCheck] = {}
    if asked or session.message_count <= MAX_UNASKED:
        found = load_checks(session, [asked] if asked else list(PROVIDERS))
    context = {"session": session, "checks": shown_checks(session, found)}
    return render(request, "operations/context/provider_checks.html", context)
