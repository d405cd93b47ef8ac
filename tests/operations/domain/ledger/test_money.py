"""Amounts of money as people read them."""

from fractions import Fraction

import pytest

from operations.domain.ledger.money import dollars


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        ("0", "$0"),
        ("0.19", "$0.19"),
        ("1234.5", "$1,234.50"),
        ("0.00111", "$0.0011"),
        ("0.00997", "$0.010"),
        ("0.00009", "under $0.0001"),
    ],
)
def test_an_amount_has_two_digits_that_say_something(amount: str, text: str) -> None:
    assert dollars(Fraction(amount)) == text
