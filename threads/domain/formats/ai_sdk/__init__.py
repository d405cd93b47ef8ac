"""Messages of Vercel's AI SDK: those of its pages, and those that go to models."""

from . import cursor_cli, messages

FORMATS = (messages.FORMAT, cursor_cli.FORMAT)
