"""What a change costs once and saves each turn, if the provider caches prefixes.

A provider keeps the prefix of a request that it has read before: system and tools, then the
messages in order. What comes before the earliest change is read from the cache for a fraction of
the price; everything after it is written into the cache again, once. From then on each turn reads
what is left. docs/ledger.md explains the same sums with their sources.
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
    """The price of one token: not cached, written into the cache, or read from it."""

    input: Fraction
    write: Fraction
    read: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Tariff:
    """What a model's tokens cost, and how much of a prefix its provider caches."""

    tiers: tuple[tuple[int, Price], ...]
    """Prices with the number of tokens from which they apply; the first applies from 0."""
    minimum: int | None = None
    """The shortest prefix that is cached, in tokens; None if none is."""
    block: int = 1
    """Prefixes are cached in multiples of this many tokens."""

    def price(self, tokens: int) -> Price:
        """The price per token of a request; its size decides the tier for all of it."""
        return next(price for least, price in reversed(self.tiers) if tokens >= least)

    def cached_tokens(self, tokens: int) -> int:
        """How many tokens of a prefix are cached."""
        if self.minimum is None or tokens < self.minimum:
            return 0
        return tokens - tokens % self.block

    def turn_cost(self, tokens: int) -> Fraction:
        """The cost of a turn whose request was read before.

        The remainder that falls short of a block varies with every turn, whatever was changed, so
        it isn't charged.
        """
        price = self.price(tokens)
        return tokens * (price.read if self.cached_tokens(tokens) else price.input)


class PromptPiece(NamedTuple):
    """A layer or a message of a request; `identity` is equal only if nothing is changed."""

    key: Key
    identity: Hashable
    tokens: int


class PrefixChange(NamedTuple):
    """The earliest place at which one request differs from another."""

    key: Key
    """The piece there, taken from the old request if the changed one has ended."""
    tokens: int
    """The tokens of everything before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """The cost of a change. `kept` + `rewritten` + `uncached` = `after`."""

    before: int
    after: int
    prefix: int
    """Tokens before the earliest change; all of them if nothing is changed."""
    kept: int
    """Tokens of the prefix that are still read from the cache."""
    rewritten: int
    """Tokens that are written into the cache once."""
    once: Fraction
    """The extra cost of writing them instead of reading them."""
    per_turn: Fraction
    """The saving per turn; negative if a turn costs more."""

    @property
    def uncached(self) -> int:
        """Tokens that are not cached afterwards: too few, or short of a block."""
        return self.after - self.kept - self.rewritten

    @property
    def saved(self) -> int:
        """Tokens that are no longer sent; negative if more are sent."""
        return self.before - self.after

    @property
    def turns(self) -> int | None:
        """After how many turns the change has paid for itself, the first included; None: never."""
        if self.per_turn > 0:
            return ceil(self.once / self.per_turn)
        return None if self.per_turn < 0 or self.once > 0 else 0


def first_change(
    before: Iterable[PromptPiece], after: Iterable[PromptPiece]
) -> PrefixChange | None:
    """The first place at which two requests differ; None if they are the same."""
    tokens = 0
    for old, new in zip_longest(before, after):
        if old != new:
            return PrefixChange((new or old).key, tokens)
        tokens += new.tokens
    return None


def bill(before: int, after: int, prefix: int | None, tariff: Tariff) -> Bill:
    """The bill of a change that takes a request from `before` to `after` tokens.

    `prefix` counts the tokens before the earliest change; None if nothing is changed.
    """
    changed = min(before, after) if prefix is None else min(prefix, before, after)
    kept = tariff.cached_tokens(changed)
    rewritten = tariff.cached_tokens(after) - kept
    price = tariff.price(after)
    return Bill(
        before=before,
        after=after,
        prefix=changed,
        kept=kept,
        rewritten=rewritten,
        once=rewritten * (price.write - price.read),
        per_turn=tariff.turn_cost(before) - tariff.turn_cost(after),
    )


def bill_of_saving(
    sent: int, saved: int, prefix: int | None, tariff: Tariff, *, waits: bool
) -> Bill:
    """The bill of a change that is known by what it saves in the thread.

    `sent` counts the request without the change if that waits to be applied (`waits`), else the
    request with it. The other request has at least what comes before the change, however much of
    the rest the thread counts that is never sent.
    """
    least = sent if prefix is None else min(prefix, sent)
    other = max(least, sent - saved if waits else sent + saved)
    before, after = (sent, other) if waits else (other, sent)
    return bill(before, after, prefix, tariff)


def combined_bill(bills: Sequence[Bill], tariff: Tariff, *, waits: bool) -> Bill:
    """The combined bill of changes to a request that were billed one by one.

    If they wait to be applied (`waits`), they share `before`, else they share `after`. The result
    is exact if they don't overlap.
    """
    saved, prefix = sum(one.saved for one in bills), min(one.prefix for one in bills)
    shared = bills[0].before if waits else bills[0].after
    return bill_of_saving(shared, saved, prefix, tariff, waits=waits)


def clear_at_least(tokens: int, prefix: int, turns: int, tariff: Tariff) -> int | None:
    """How many tokens must be removed at once after a prefix to pay off within so many turns.

    Meant for a provider's own clearing of old results (`clear_at_least`), which breaks the cache
    in the same way. Estimated at the price of the whole request; None if nothing is cached.
    """
    price = tariff.price(tokens)
    surcharge = price.write - price.read
    if not tariff.cached_tokens(tokens) or surcharge <= 0:
        return None
    return ceil((tokens - prefix) * surcharge / (turns * price.read + surcharge))


_MAX_PAIRS = 4_000_000
"""Above this many pairs of messages, the middle counts as entirely new, since it is compared pair
by pair."""


class DiffSide(StrEnum):
    """Which of the two lists contain a run."""

    BOTH = "both"
    BEFORE = "before"
    AFTER = "after"


class DiffRun(NamedTuple):
    """Elements `start` to `end`, half-open, of the list after.

    For a run that only the list before has, they count in that list.
    """

    side: DiffSide
    start: int
    end: int


def diff_runs(before: Sequence[Hashable], after: Sequence[Hashable]) -> list[DiffRun]:
    """The diff of two lists as runs, in the order of the list after."""
    most = min(len(before), len(after))
    head = next((n for n in range(most) if before[n] != after[n]), most)
    tail = next(
        (n for n in range(most - head) if before[-1 - n] != after[-1 - n]), most - head
    )
    first = before[head : len(before) - tail]
    second = after[head : len(after) - tail]
    steps: Sequence[tuple[str, int, int, int, int]]
    if len(first) * len(second) > _MAX_PAIRS:
        steps = [("replace", 0, len(first), 0, len(second))]
    else:
        steps = SequenceMatcher(None, first, second, autojunk=False).get_opcodes()
    found = [DiffRun(DiffSide.BOTH, 0, head)]
    for tag, old_start, old_end, start, end in steps:
        if tag == "equal":
            found.append(DiffRun(DiffSide.BOTH, head + start, head + end))
            continue
        found.append(DiffRun(DiffSide.BEFORE, head + old_start, head + old_end))
        found.append(DiffRun(DiffSide.AFTER, head + start, head + end))
    found.append(DiffRun(DiffSide.BOTH, len(after) - tail, len(after)))
    return [run for run in found if run.start < run.end]
