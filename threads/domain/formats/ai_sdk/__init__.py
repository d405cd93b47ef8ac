"""Messages of Vercel's AI SDK: those shown on pages, and those sent to models."""

from . import cursor_cli, messages

FORMATS = (messages.FORMAT, cursor_cli.FORMAT)
