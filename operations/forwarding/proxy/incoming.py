"""A client's request as it came."""

from collections.abc import Sequence
from dataclasses import dataclass

from .headers import Header


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """A client's request, read to its end."""

    method: str
    query: bytes
    headers: Sequence[Header]
    """Their names are in lower case."""
    body: bytes

    def header(self, name: bytes) -> str:
        """The value of a header; empty where it isn't sent."""
        value = next((value for key, value in self.headers if key == name), b"")
        return value.decode("latin-1").strip()
