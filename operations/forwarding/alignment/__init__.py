"""Aligns the messages of a client's request with its session, and finds what is new."""

from .aligning import RequestAlignment, align_request, keep
from .given import read_opening, read_replies
from .inbound import Inbound

__all__ = [
    "Inbound",
    "RequestAlignment",
    "align_request",
    "keep",
    "read_opening",
    "read_replies",
]
