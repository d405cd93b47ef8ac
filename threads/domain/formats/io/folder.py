"""Several files that come together: a folder or an unpacked archive."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

from threads.domain.transcript import Transcript


class Member(NamedTuple):
    """One file of a folder: its path in the folder (with `/`), its size in bytes, its opener."""

    name: str
    size: int
    open: Callable[[], BinaryIO]


@dataclass(frozen=True, slots=True)
class Folder:
    """Map of name to file, in the order of the names."""

    members: Mapping[str, Member]

    def named(self, suffix: str) -> list[Member]:
        """The files whose names end in `suffix`."""
        return [one for name, one in self.members.items() if name.endswith(suffix)]


class Gathered(NamedTuple):
    """Conversations, and the files they were made from, which are then not read one by one."""

    transcripts: list[Transcript]
    members: frozenset[str]
