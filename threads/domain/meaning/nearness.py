"""How near a text is to a question: a whole number, so that places in a list can be named."""

PARTS = 10_000
"""All of them for the same text, about none for what has nothing in common."""
NEAR = 2_000
"""From which on two texts have something in common."""


def as_share(nearness: int) -> float:
    """What is shown of it, and asked for: from 0 to 1."""
    return round(max(0, nearness) / PARTS, 3)
