"""Anthropic's Messages, in and out."""

from threads.domain.formats.requests import RequestReader

from .messages import FORMAT, REQUEST, WRITER, read_messages

FORMATS = (FORMAT,)
WRITERS = {"anthropic": WRITER}
REQUESTS = {"anthropic": REQUEST}
READERS = {"anthropic": RequestReader(read_messages)}
