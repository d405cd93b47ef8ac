"""Anthropic's Messages, in and out."""

from .messages import FORMAT, REQUEST, WRITER

FORMATS = (FORMAT,)
WRITERS = {"anthropic": WRITER}
REQUESTS = {"anthropic": REQUEST}
