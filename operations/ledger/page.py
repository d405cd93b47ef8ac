"""The ledger in sentences: see `templates/operations/ledger/ledger.html`."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import floor, log10

from operations.context.model_catalog import Prices
from operations.domain.ledger.ledger import Bill
from operations.domain.providers import PROVIDERS
from operations.domain.tree.key import Key
from threads.rendering.hidden import visible

from .services import Reckoned, Row

STAGED = "staged"
"""What stands for all that is staged, where other lines have the key of an operation."""
MILLION = 1_000_000
_LEAST = Fraction(1, 10_000)
"""The least amount in dollars that is told."""


@dataclass(frozen=True, slots=True)
class Line:
    """What one operation comes to. `never`: it doesn't pay, ever."""

    key: Key
    text: str
    never: bool


def lines_of(found: Reckoned, waiting: frozenset[Key]) -> list[Line]:
    """A line for each operation that changes what is sent, and one for all that is staged."""
    lines = [
        line_of(row, found.prices, waits=row.operation in waiting)
        for row in found.rows
        if row.first is not None
    ]
    if found.together is not None:
        lines.append(line_of(found.together, found.prices, key=STAGED))
    return lines


def note_of(found: Reckoned) -> str:
    """For whom the lines are reckoned, and with which prices."""
    label, prices = PROVIDERS[found.provider].label, found.prices
    if not prices.model:
        model = visible(found.model) or "its model"
        shares = "turns follow from what the provider usually takes"
        if prices.tariff.minimum is None:
            shares = "nothing is taken to be cached"
        return f"Reckoned for {label}; no price is known of {model}: {shares}."
    token, write, read = (dollars(one * MILLION) for one in prices.tariff.price(0))
    guessed = [one for one in prices.estimated if one != "minimum"]
    text = f"Reckoned for {label}, {prices.model}: {token} a million tokens"
    if prices.tariff.minimum is None:
        return f"{text}, nothing is cached."
    text += f", {write} written into its cache, {read} read from it"
    return f"{text} (estimated: {', '.join(guessed)})." if guessed else f"{text}."


def line_of(row: Row, prices: Prices, *, waits: bool = False, key: str = "") -> Line:
    """The line of one operation, or with `key` of several together."""
    parts = list(_parts(row.bill, prices))
    if row.seals:
        count = len(row.seals)
        answers = "1 answer" if count == 1 else f"{count:,} answers"
        parts.append(f"takes the sealed reasoning from {answers}")
    text = ", ".join(parts)
    lead = "Together: " if key else "If it applies: " if waits else ""
    return Line(
        key=row.operation or key,
        text=lead + text if lead else text[:1].upper() + text[1:],
        never=row.bill.turns is None,
    )


def _parts(bill: Bill, prices: Prices) -> Iterator[str]:
    if bill.rewritten:
        yield f"rewrites {bill.rewritten:,} tokens once{_cost(bill.once, prices)}"
    yield _each_turn(bill, prices)
    if bill.turns is None:
        yield "never pays"
    elif bill.turns > 1:
        yield f"pays after {bill.turns:,} turns"
    elif bill.saved:
        yield "pays at once" if bill.turns == 0 else "pays after 1 turn"


def _each_turn(bill: Bill, prices: Prices) -> str:
    cost = _cost(abs(bill.per_turn), prices)
    if bill.saved > 0 > bill.per_turn:
        return f"saves {bill.saved:,} a turn, yet is too short to be cached then{cost}"
    if bill.saved:
        verb = "saves" if bill.saved > 0 else "adds"
        return f"{verb} {abs(bill.saved):,} a turn{cost}"
    return "saves nothing"


def _cost(amount: Fraction, prices: Prices) -> str:
    return f" ({dollars(amount)})" if prices.model else ""


def dollars(amount: Fraction) -> str:
    """An amount with two digits that say something: $1.20, $0.19, $0.0011."""
    if 0 < amount < _LEAST:
        return f"under ${float(_LEAST)}"
    value = float(f"{float(amount):.2g}") if amount < 1 else float(amount)
    if value == 0:
        return "$0"
    digits = max(2, 1 - floor(log10(value)))
    return f"${value:,.{digits}f}"
