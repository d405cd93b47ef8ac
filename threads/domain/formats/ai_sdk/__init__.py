"""Messages of Vercel's AI SDK: those of its pages, and those that go to models."""

from . import messages

FORMATS = (messages.FORMAT,)
