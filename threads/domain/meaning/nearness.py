"""How near a text is to a query: a whole number, so that a position in a list can be named."""

PARTS = 10_000
"""The full scale: this for the same text, about 0 for texts with nothing in common."""
NEAR = 2_000
"""The nearness from which two texts have something in common."""


def as_share(nearness: int) -> float:
    """Nearness as it is shown and requested: a share from 0 to 1."""
    return round(max(0, nearness) / PARTS, 3)
