"""The lights of the thread's header: see `templates/operations/context/lights.html`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.urls import reverse
from django.utils.http import urlencode

from operations.context.provider_checks import Hit, Light
from operations.domain.providers import PROVIDERS
from operations.domain.providers.request import Severity
from threads.models import Session

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
"""What providers with a long label are called where eight stand in a row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lamp:
    """The light of one provider, and what is printed beside it."""

    name: str
    label: str
    short: str
    state: str
    count: int
    """How many rules had to be seen to, or can't be; 0 where the thread is accepted."""
    hits: Sequence[Hit]
    check_href: str
    """Where a light that is not known yet is asked for."""
    context_href: str

    @property
    def sign(self) -> str:
        """The icon that tells the state without a colour."""
        return _SIGNS[self.state]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lamps:
    """All lights, and the one that stands for them where there is room for one only."""

    lamps: Sequence[Lamp]
    state: str
    """The gravest that is known."""
    count: int
    """How many providers are in it."""
    known: int

    @property
    def sign(self) -> str:
        """The icon of the one light."""
        return _SIGNS[self.state]


def lamp_of(session: Session, provider: str, light: Light | None) -> Lamp:
    """The light of one provider; None: it isn't known."""
    state = _STATES[light.state] if light else UNKNOWN
    address = reverse("operations:lights", args=[session.pk])
    context = reverse("operations:context", args=[session.pk])
    query = urlencode({"provider": provider})
    return Lamp(
        name=provider,
        label=PROVIDERS[provider].label,
        short=_SHORT.get(provider, PROVIDERS[provider].label),
        state=state,
        count=light.gravest if light and state != ACCEPTED else 0,
        hits=light.hits if light else (),
        check_href=f"{address}?{query}",
        context_href=f"{context}?{query}",
    )


def lamps_of(session: Session, lights: Mapping[str, Light]) -> Lamps:
    """The lights of all providers."""
    lamps = [lamp_of(session, one, lights.get(one)) for one in PROVIDERS]
    states = [lamp.state for lamp in lamps if lamp.state != UNKNOWN]
    worst = next((one for one in (REFUSED, REPAIRED) if one in states), ACCEPTED)
    return Lamps(
        lamps=lamps,
        state=worst if states else UNKNOWN,
        count=states.count(worst),
        known=len(states),
    )
