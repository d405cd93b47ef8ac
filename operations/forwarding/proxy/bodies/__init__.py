"""A client's request as bytes: what is read of it, and what takes the place of its messages.

Everything that the session's operations don't touch goes out as the bytes that came in: where
nothing is touched, the whole body; else every member but the conversation's.
"""

from .body import (
    BEFORE,
    CONVERSATION,
    DECLARED,
    FORMS,
    ForwardedBody,
    declared_in,
    is_reference,
    marks_of,
)
from .reading import read_body, read_rest
from .replacing import Rewritten, rewritten

__all__ = [
    "BEFORE",
    "CONVERSATION",
    "DECLARED",
    "FORMS",
    "ForwardedBody",
    "Rewritten",
    "declared_in",
    "is_reference",
    "marks_of",
    "read_body",
    "read_rest",
    "rewritten",
]
