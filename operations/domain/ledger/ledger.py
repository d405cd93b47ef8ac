"""What a change costs once and saves each turn, where providers cache prefixes.

A provider keeps the prefix of a request that it has read before: system and tools, then the
messages in their order. What stands before the earliest change is read from the cache for a
fraction of the price; all that stands behind it is written into it anew, once. From then on
the next turns read what is left. docs/ledger.md has the same sums in words, with their sources.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from fractions import Fraction
from itertools import zip_longest
from math import ceil
from typing import NamedTuple

from operations.domain.tree.key import Key


class Price(NamedTuple):
    """Of one token: not cached, written into the cache, read from it."""

    input: Fraction
    write: Fraction
    read: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Tariff:
    """What a model's tokens cost, and what of a prefix its provider keeps."""

    tiers: tuple[tuple[int, Price], ...]
    """Prices by the tokens from which on they hold, the first of them from 0 on."""
    minimum: int | None = None
    """The tokens of the shortest prefix that is kept; None: none is."""
    block: int = 1
    """Prefixes are kept in steps of so many tokens."""

    def price(self, tokens: int) -> Price:
        """The price of a request of so many tokens: all of it is billed by its tier."""
        return next(price for least, price in reversed(self.tiers) if tokens >= least)

    def kept(self, tokens: int) -> int:
        """How much of a prefix of so many tokens is kept."""
        if self.minimum is None or tokens < self.minimum:
            return 0
        return tokens - tokens % self.block

    def turn(self, tokens: int) -> Fraction:
        """What a turn costs whose request was read before.

        What falls short of a step is another number with every turn, whatever was changed, so
        that none is charged for it.
        """
        price = self.price(tokens)
        return tokens * (price.read if self.kept(tokens) else price.input)


class PromptPiece(NamedTuple):
    """A layer or a message on its way: `identity` is equal only where nothing is changed."""

    key: Key
    identity: Hashable
    tokens: int


class PrefixChange(NamedTuple):
    """The earliest place at which one request differs from another."""

    key: Key
    """What stands there: of the changed request, or of the old one where that ends."""
    tokens: int
    """Those of all that stands before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """What a change comes to. `kept` + `rewritten` + `uncached` are the tokens `after` it."""

    before: int
    after: int
    prefix: int
    """Tokens before the earliest change: all of them where nothing is changed."""
    kept: int
    """Those of the prefix that still are read from the cache."""
    rewritten: int
    """Those that are written into the cache once."""
    once: Fraction
    """What writing them costs beyond reading them."""
    per_turn: Fraction
    """What each turn costs less; below 0: more."""

    @property
    def uncached(self) -> int:
        """Tokens that are in no cache after it: too few, or short of a block."""
        return self.after - self.kept - self.rewritten

    @property
    def saved(self) -> int:
        """Tokens that are no longer sent; below 0: that are sent besides."""
        return self.before - self.after

    @property
    def turns(self) -> int | None:
        """After how many turns it has paid for itself, the first included; None: never."""
        if self.per_turn > 0:
            return ceil(self.once / self.per_turn)
        return None if self.per_turn < 0 or self.once > 0 else 0


def first_change(
    before: Iterable[PromptPiece], after: Iterable[PromptPiece]
) -> PrefixChange | None:
    """Where one request begins to differ from another; None where they are the same."""
    tokens = 0
    for old, new in zip_longest(before, after):
        if old != new:
            return PrefixChange((new or old).key, tokens)
        tokens += new.tokens
    return None


def bill(before: int, after: int, prefix: int | None, tariff: Tariff) -> Bill:
    """What it comes to that a request of `before` tokens has `after` of them now.

    `prefix` are the tokens before the earliest change; None where nothing is changed.
    """
    changed = min(before, after) if prefix is None else min(prefix, before, after)
    kept = tariff.kept(changed)
    rewritten = tariff.kept(after) - kept
    price = tariff.price(after)
    return Bill(
        before=before,
        after=after,
        prefix=changed,
        kept=kept,
        rewritten=rewritten,
        once=rewritten * (price.write - price.read),
        per_turn=tariff.turn(before) - tariff.turn(after),
    )


def bill_together(bills: Sequence[Bill], tariff: Tariff, *, waits: bool) -> Bill:
    """What one or more changes of a request come to together, each of which was billed alone.

    Where they wait, `before` is the request that they have in common, else `after` is. It is exact
    where they don't lie upon one another.
    """
    saved, prefix = sum(one.saved for one in bills), min(one.prefix for one in bills)
    shared = bills[0].before if waits else bills[0].after
    before, after = (shared, shared - saved) if waits else (shared + saved, shared)
    return bill(before, after, prefix, tariff)


def clear_at_least(tokens: int, prefix: int, turns: int, tariff: Tariff) -> int | None:
    """How many tokens must go at once behind a prefix to pay within so many turns.

    For a provider's own clearing of old results (`clear_at_least`), which breaks the cache
    just so. Estimated with the price of the whole; None where nothing is cached.
    """
    price = tariff.price(tokens)
    surcharge = price.write - price.read
    if not tariff.kept(tokens) or surcharge <= 0:
        return None
    return ceil((tokens - prefix) * surcharge / (turns * price.read + surcharge))


_MOST_PAIRS = 4_000_000
"""Pairs of messages beyond which the middle is taken as all new: it is looked at by pairs."""


class Side(StrEnum):
    """Which of the lists have a run."""

    BOTH = "both"
    BEFORE = "before"
    AFTER = "after"


class Run(NamedTuple):
    """Elements `start` to `end`, half-open, of the list after; of the one before where only it
    has them."""

    side: Side
    start: int
    end: int


def runs(before: Sequence[Hashable], after: Sequence[Hashable]) -> list[Run]:
    """The runs that lead from one list to the other, in the order of the list after."""
    most = min(len(before), len(after))
    head = next((n for n in range(most) if before[n] != after[n]), most)
    tail = next(
        (n for n in range(most - head) if before[-1 - n] != after[-1 - n]), most - head
    )
    first = before[head : len(before) - tail]
    second = after[head : len(after) - tail]
    steps: Sequence[tuple[str, int, int, int, int]]
    if len(first) * len(second) > _MOST_PAIRS:
        steps = [("replace", 0, len(first), 0, len(second))]
    else:
        steps = SequenceMatcher(None, first, second, autojunk=False).get_opcodes()
    found = [Run(Side.BOTH, 0, head)]
    for tag, old_start, old_end, start, end in steps:
        if tag == "equal":
            found.append(Run(Side.BOTH, head + start, head + end))
            continue
        found.append(Run(Side.BEFORE, head + old_start, head + old_end))
        found.append(Run(Side.AFTER, head + start, head + end))
    found.append(Run(Side.BOTH, len(after) - tail, len(after)))
    return [run for run in found if run.start < run.end]
