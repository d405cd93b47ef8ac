"""Whether each provider accepts a session as it stands: what compiling it finds, kept.

A check depends on nothing but what its stamp holds, so it is compiled once for a head, and
found again until it runs out. One runs at a time: long threads take a second for each
provider, and nobody waits for a check.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from threading import Lock
from typing import NamedTuple

from django.core.cache import cache

from operations.domain.context.assembly import Assembly
from operations.domain.providers import PROVIDERS
from operations.domain.providers.request import Severity
from operations.domain.tree.key import Key
from threads.models import Session

from .pipeline import build
from .services import ContextQuery, query_inputs

MOST_KEYS = 12
"""How many messages a hit names; it counts all of them."""
_SECONDS = 3600
"""How long a check is kept: the rules may change with the product."""
_GRAVE = (Severity.REFUSED, Severity.REPAIRED, Severity.NOTE)
_one_at_a_time = Lock()


class Hit(NamedTuple):
    """A rule that the thread doesn't keep."""

    rule: str
    severity: Severity
    detail: str
    repair: str
    keys: tuple[Key, ...]
    messages: int
    """In how many messages it was found."""


class ProviderCheck(NamedTuple):
    """What compiling a session's context for a provider finds."""

    provider: str
    hits: tuple[Hit, ...] = ()
    """The gravest first."""

    @property
    def state(self) -> Severity:
        """The gravest of what was found; `note` where the request is taken as it is."""
        return self.hits[0].severity if self.hits else Severity.NOTE

    @property
    def gravest(self) -> int:
        """How many hits are as grave as the check."""
        return sum(hit.severity is self.state for hit in self.hits)


def load_checks(session: Session, wanted: Collection[str]) -> dict[str, ProviderCheck]:
    """The checks that have run, in the providers' order; those of `wanted` for certain."""
    stamp = stamp_of(session)
    names = {provider: f"check:{stamp}:{provider}" for provider in PROVIDERS}
    found = _known(names)
    if any(provider not in found for provider in wanted):
        with _one_at_a_time:
            found = _known(names)
            missing = [one for one in wanted if one not in found]
            made = {check.provider: check for check in _made(session, missing)}
            cache.set_many({names[one]: made[one] for one in made}, _SECONDS)
            found |= made
    return {provider: found[provider] for provider in PROVIDERS if provider in found}


def _known(names: Mapping[str, str]) -> dict[str, ProviderCheck]:
    kept = cache.get_many(names.values())
    return {one: kept[name] for one, name in names.items() if name in kept}


def _made(session: Session, providers: Collection[str]) -> Iterator[ProviderCheck]:
    """One assembly serves all, but where isolation makes it depend on the provider."""
    inputs = query_inputs(session, ContextQuery())
    assembly: Assembly | None = None
    for provider in providers:
        again = None if inputs.policy.isolation else assembly
        built = build(replace(inputs, provider=provider), again)
        assembly = built.assembly
        hits = [
            Hit(
                issue.rule,
                issue.severity,
                issue.detail,
                issue.repair,
                issue.keys[:MOST_KEYS],
                len(issue.keys),
            )
            for issue in built.compiled.issues
        ]
        hits.sort(key=lambda hit: _GRAVE.index(hit.severity))
        yield ProviderCheck(provider, tuple(hits))


def stamp_of(session: Session) -> str:
    """A digest of all that a session's context depends on, whatever it is compiled for."""
    inputs = query_inputs(session, ContextQuery())
    return sha256(repr(inputs.version).encode()).hexdigest()
