"""The content of messages, for tests without a database."""

from typing import NamedTuple

from threads.domain.part import Part


class Read(NamedTuple):
    """The content of a message in the thread, and how it was recorded."""

    parts: tuple[Part, ...]
    strategy: str
    name: str | None = None
