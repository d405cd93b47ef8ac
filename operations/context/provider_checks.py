"""Whether each provider accepts a session as it is: the findings of compiling it, cached.

A check depends only on what its stamp covers, so it is compiled once per head and cached until it
expires. Only one runs at a time, because long threads take a second per provider and nobody waits
for a check.
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

MAX_KEYS = 12
"""How many messages a hit names; all of them are counted."""
_SECONDS = 3600
"""How long a check is cached: the rules may change with the product."""
_GRAVE = (Severity.REFUSED, Severity.REPAIRED, Severity.NOTE)
_one_at_a_time = Lock()


class Hit(NamedTuple):
    """A rule that the thread violates."""

    rule: str
    severity: Severity
    detail: str
    repair: str
    keys: tuple[Key, ...]
    messages: int
    """The number of messages in which it was found."""


class ProviderCheck(NamedTuple):
    """The findings of compiling a session's context for a provider."""

    provider: str
    hits: tuple[Hit, ...] = ()
    """The most severe first."""

    @property
    def state(self) -> Severity:
        """The highest severity found; `note` if the request is accepted unchanged."""
        return self.hits[0].severity if self.hits else Severity.NOTE

    @property
    def gravest(self) -> int:
        """How many hits have the highest severity."""
        return sum(hit.severity is self.state for hit in self.hits)


def load_checks(session: Session, wanted: Collection[str]) -> dict[str, ProviderCheck]:
    """The checks that have run, in the providers' order; those in `wanted` are run if necessary."""
    stamp = stamp_of(session)
    names = {provider: f"check:{stamp}:{provider}" for provider in PROVIDERS}
    found = _known(names)
    if any(provider not in found for provider in wanted):
        with _one_at_a_time:
            found = _known(names)
            missing = [one for one in wanted if one not in found]
            made = {check.provider: check for check in _run_checks(session, missing)}
            cache.set_many({names[one]: made[one] for one in made}, _SECONDS)
            found |= made
    return {provider: found[provider] for provider in PROVIDERS if provider in found}


def _known(names: Mapping[str, str]) -> dict[str, ProviderCheck]:
    kept = cache.get_many(names.values())
    return {one: kept[name] for one, name in names.items() if name in kept}


def _run_checks(
    session: Session, providers: Collection[str]
) -> Iterator[ProviderCheck]:
    """Run checks, sharing one assembly unless isolation makes it depend on the provider."""
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
                issue.keys[:MAX_KEYS],
                len(issue.keys),
            )
            for issue in built.compiled.issues
        ]
        hits.sort(key=lambda hit: _GRAVE.index(hit.severity))
        yield ProviderCheck(provider, tuple(hits))


def stamp_of(session: Session) -> str:
    """A digest of everything that a session's context depends on, except its provider."""
    inputs = query_inputs(session, ContextQuery())
    return sha256(repr(inputs.version).encode()).hexdigest()
