"""What litellm's packaged map knows of models, read as data.

The module litellm itself is never imported here: it is heavy, and configures logging and
networking. Whoever reads the map keeps of its three megabytes only what is needed.
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
    """The facts of every model by its name; none where the package has no map."""
    spec = find_spec("litellm")
    file = Path(spec.origin).parent / _FILE if spec and spec.origin else None
    if file is None or not file.is_file():
        return {}
    models: dict[str, dict[str, Any]] = json.loads(file.read_bytes())
    return models


def names_of(model: str) -> Iterator[str]:
    """The names under which the map may have a model, the likeliest first."""
    yield from (model, model.lower(), model.rsplit("/", 1)[-1].lower())


def context_window(model: str) -> int | None:
    """The most tokens that a model reads, or None for one that the map doesn't know."""
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
    """What a provider takes for the cache, as parts of the price of an input token."""

    write: Fraction
    read: Fraction
    minimum: int
    block: int = 1
    prefix: str = ""
    """What the map puts before the names of its models."""


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
"""By provider; of the others nothing is known, and nothing is taken to be cached."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """The tariff of a model for one provider."""

    tariff: Tariff
    model: str
    """The name under which the map has the model; empty: it has none, and no price is known."""
    estimated: tuple[str, ...]
    """What the map doesn't say and the provider's usual shares stand in for."""


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
    """What one request cost, in dollars; None for a model whose price isn't known.

    `input` is all of it; `cached` of that was read from the provider's cache, `written` to it.
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
    """The prices that the map lists, completed by a provider's shares."""
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
    """Prices by the tokens from which on they hold.

    What a tier doesn't say is the part of its input's price that it was in the one below.
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
        # Providers without a surcharge bill what they write as input; the map says 0 or less.
        below = Price(token, max(write, token), said.get(READ, below.read * grown))
        yield start, below


def _tariff(tiers: Mapping[int, Price], minimum: int | None, share: Share) -> Tariff:
    return Tariff(
        tiers=tuple(sorted(tiers.items())), minimum=minimum, block=share.block
    )


@cache
def _known() -> dict[str, dict[str, Any]]:
    """Of the models that are billed by the token, what is said of input, cache and output."""
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
