"""A client's request as bytes: reading it, and replacing its messages.

Everything that the session's operations don't change goes out as the bytes that came in: the
whole body if nothing is changed, else every member but the conversation.
"""

from .body import (
    CONVERSATION,
    DECLARED,
    FORMS,
    PREVIOUS_RESPONSE,
    ForwardedBody,
    declared_in,
    is_reference,
    marks_of,
)
from .reading import read_body, read_rest
from .replacing import Rewritten, rewritten
from .thinking import THINKING

__all__ = [
    "CONVERSATION",
    "DECLARED",
    "FORMS",
    "PREVIOUS_RESPONSE",
    "THINKING",
    "ForwardedBody",
    "Rewritten",
    "declared_in",
    "is_reference",
    "marks_of",
    "read_body",
    "read_rest",
    "rewritten",
]
