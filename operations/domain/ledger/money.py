"""Formats amounts of money for people."""

from fractions import Fraction
from math import floor, log10

_MIN_SHOWN = Fraction(1, 10_000)
"""The smallest amount in dollars that is shown."""


def dollars(amount: Fraction) -> str:
    """An amount with at least two significant digits: $1.20, $0.19, $0.0011."""
    if 0 < amount < _MIN_SHOWN:
        return f"under ${float(_MIN_SHOWN)}"
    value = float(f"{float(amount):.2g}") if amount < 1 else float(amount)
    if value == 0:
        return "$0"
    digits = max(2, 1 - floor(log10(value)))
    return f"${value:,.{digits}f}"
