"""A client's request as it came."""

from collections.abc import Iterable, Sequence
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

    def first_of(self, names: Iterable[bytes], most: int) -> bytes:
        """The first of some headers that says anything; empty too where that is too long."""
        given = dict(reversed(self.headers))
        found = next((value for name in names if (value := given.get(name))), b"")
        return found if len(found) <= most else b""
