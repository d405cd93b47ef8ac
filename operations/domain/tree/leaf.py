"""The skeleton of an original: all that replay needs to know of it."""

from typing import NamedTuple


class Leaf(NamedTuple):
    """Role, tokens and group of an original; its key is its place among the others."""

    role: str
    tokens: int
    group: int
