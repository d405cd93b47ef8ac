"""What a process that reads is asked for, and what it tells."""

from pathlib import Path
from typing import NamedTuple

from threads.domain.transcript import Warning


class Asked(NamedTuple):
    """A file to be read, as `formats.read` takes it."""

    path: Path
    format: str
    name: str


class Ended(NamedTuple):
    """A transcript was told to its end."""

    warnings: list[Warning]


class Refused(NamedTuple):
    """The file is not read, by what `Invalid` says of it."""

    message: str
    at: tuple[str | int, ...]
    code: str


class Fault(Exception):
    """A parser stumbled, or its process did: which kind of fault it was, and its traceback."""

    def __init__(self, kind: str, trace: str = "") -> None:
        super().__init__(kind, trace)
        self.kind = kind
