"""What litellm's packaged model map says about models, read as data.

The module litellm itself is never imported here: it is heavy, and configures logging and
networking. Readers of the map keep only what they need of its three megabytes.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from operations.domain.ledger.ledger import Price, Tariff

_FILE = "model_prices_and_context_window_backup.json"


def read_models() -> dict[str, dict[str, Any]]:
    """The facts of every model by its name; empty if the package has no map."""
    spec = find_spec("litellm")
    file = Path(spec.origin).parent / _FILE if spec and spec.origin else None
    if file is None or not file.is_file():
        return {}
    models: dict[str, dict[str, Any]] = json.loads(file.read_bytes())
    return models


def names_of(model: str) -> Iterator[str]:
    """The names under which the map may list a model, the likeliest first."""
    yield from (model, model.lower(), model.rsplit("/", 1)[-1].lower())


def context_window(model: str) -> int | None:
    """The context window of a model in tokens; None if the map doesn't have it."""
    windows = _windows()
    return next((windows[name] for name in names_of(model) if name in windows), None)


@cache
def _windows() -> dict[str, int]:
    return {
        name: facts["max_input_tokens"]
        for name, facts in read_models().items()
        if isinstance(facts.get("max_input_tokens"), int)
        and facts["max_input_tokens"] > 0
    }


INPUT = "input_cost_per_token"
OUTPUT = "output_cost_per_token"
WRITE = "cache_creation_input_token_cost"
READ = "cache_read_input_token_cost"
MINIMUM = "prompt_cache_min_tokens"
_WORDS = {READ: "read", WRITE: "write", MINIMUM: "minimum"}
_KINDS = (INPUT, WRITE, READ)
_TIER = re.compile(r"(.+)_above_(\d+)k_tokens")


class Share(NamedTuple):
    """What a provider charges for its cache, as fractions of the price of an input token."""

    write: Fraction
    read: Fraction
    minimum: int
    block: int = 1
    prefix: str = ""
    """The prefix of the provider's models in the map."""


_CLAUDE = Share(Fraction(5, 4), Fraction(1, 10), 1024)
_OPENAI = Share(Fraction(1), Fraction(1, 10), 1024, 128)
_UNKNOWN = Share(Fraction(1), Fraction(1), 1024, prefix="mistral/")
SHARES: Mapping[str, Share] = {
    "anthropic": _CLAUDE,
    "bedrock": _CLAUDE,
    "openai": _OPENAI,
    "openai-responses": _OPENAI,
    "gemini": Share(Fraction(1), Fraction(1, 4), 2048, prefix="gemini/"),
    "deepseek": Share(Fraction(1), Fraction(1, 50), 64, 64, "deepseek/"),
}
"""By provider. Nothing is known of others, which are assumed not to cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """The tariff of a model at one provider."""

    tariff: Tariff
    model: str
    """The model's name in the map; empty if it isn't there, and no price is known."""
    estimated: tuple[str, ...]
    """What the map doesn't say, so that the provider's usual values are used."""


def prices_of(provider: str, model: str) -> Prices:
    """What a model's tokens cost at a provider."""
    share, known = SHARES.get(provider, _UNKNOWN), _known()
    names = (*names_of(model), *(share.prefix + name for name in names_of(model)))
    name = next((name for name in names if model and name in known), "")
    if name:
        return _listed(name, known[name], share)
    tariff = _tariff(
        {0: Price(Fraction(1), share.write, share.read)},
        share.minimum if provider in SHARES else None,
        share,
    )
    return Prices(tariff=tariff, model="", estimated=("prices", "minimum"))


def cost_of(
    provider: str, model: str, *, input: int, cached: int, written: int, output: int
) -> Decimal | None:
    """What one request cost, in dollars; None if the price of the model isn't known.

    `input` counts the whole input, of which `cached` was read from the provider's cache and
    `written` was written to it.
    """
    prices = prices_of(provider, model)
    facts = _known().get(prices.model, {})
    by_start = {
        int(tier[2]) * 1000 + 1 if (tier := _TIER.fullmatch(fact)) else 0: value
        for fact, value in facts.items()
        if fact.startswith(OUTPUT)
    }
    starts = [start for start in by_start if start <= input]
    if not starts:
        return None
    price = prices.tariff.price(input)
    cost = (
        price.input * max(0, input - cached - written)
        + price.read * cached
        + price.write * written
        + Fraction(str(by_start[max(starts)])) * output
    )
    return Decimal(cost.numerator) / Decimal(cost.denominator)


def _listed(name: str, facts: Mapping[str, Any], share: Share) -> Prices:
    """The prices that the map lists, completed by the provider's usual values."""
    is_cached = READ in facts or bool(facts.get("supports_prompt_caching"))
    usual = (READ, MINIMUM, *([WRITE] if share.write > 1 else []))
    missing = [fact for fact in usual if is_cached and fact not in facts]
    tiers = dict(_tiers(facts, share))
    minimum = facts.get(MINIMUM, share.minimum) if is_cached else None
    return Prices(
        tariff=_tariff(tiers, minimum, share),
        model=name,
        estimated=tuple(_WORDS[fact] for fact in missing),
    )


def _tiers(facts: Mapping[str, Any], share: Share) -> Iterator[tuple[int, Price]]:
    """Prices with the number of tokens from which they apply.

    What a tier doesn't list keeps the ratio to its input price that it had in the tier below.
    """
    tiers: dict[int, dict[str, Fraction]] = {0: {}}
    for fact, value in facts.items():
        tier = _TIER.fullmatch(fact)
        kind, start = (tier[1], int(tier[2]) * 1000 + 1) if tier else (fact, 0)
        if kind in _KINDS:
            tiers.setdefault(start, {})[kind] = Fraction(str(value))
    below = Price(Fraction(1), share.write, share.read)
    for start, said in sorted(tiers.items()):
        token = said.get(INPUT, below.input)
        grown = token / below.input if below.input else Fraction(1)
        write = said.get(WRITE, below.write * grown)
        # Providers without a surcharge bill cache writes as input; the map then says 0 or less.
        below = Price(token, max(write, token), said.get(READ, below.read * grown))
        yield start, below


def _tariff(tiers: Mapping[int, Price], minimum: int | None, share: Share) -> Tariff:
    return Tariff(
        tiers=tuple(sorted(tiers.items())), minimum=minimum, block=share.block
    )


@cache
def _known() -> dict[str, dict[str, Any]]:
    """The facts on input, cache and output of all models that are billed by the token."""
    return {
        name: {
            fact: value
            for fact, value in facts.items()
            if _is_of_use(fact) and isinstance(value, int | float)
        }
        for name, facts in read_models().items()
        if isinstance(facts.get(INPUT), int | float) and name != "sample_spec"
    }


def _is_of_use(fact: str) -> bool:
    return fact in (*_KINDS, OUTPUT, MINIMUM, "supports_prompt_caching") or (
        fact.startswith((*_KINDS, OUTPUT)) and _TIER.fullmatch(fact) is not None
    )
