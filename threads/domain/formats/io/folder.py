"""Several files that come together: a folder, or an archive that was unpacked."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

from threads.domain.transcript import Transcript


class Member(NamedTuple):
    """One file of a folder: its path in it (with `/`), its size in bytes, how it is opened."""

    name: str
    size: int
    open: Callable[[], BinaryIO]


@dataclass(frozen=True, slots=True)
class Folder:
    """Files by their names, in the order of the names."""

    members: Mapping[str, Member]

    def named(self, suffix: str) -> list[Member]:
        """The files whose names end in this."""
        return [one for name, one in self.members.items() if name.endswith(suffix)]


class Gathered(NamedTuple):
    """Conversations, and the files that they were made of: these are not read alone again."""

    transcripts: list[Transcript]
    members: frozenset[str]
