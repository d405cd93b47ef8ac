"""The messages between a process that imports and the one that reads for it.

A `ReadRequest` is answered with the transcripts of the file, without their items. Then a number
asks for the items of that transcript: batches, each a `BatchInBuffer` or, where no buffer holds
it, the batch itself, and `EndOfTranscript`. None ends the file.
"""

from pathlib import Path
from typing import NamedTuple

from threads.domain.transcript import Warning


class ReadRequest(NamedTuple):
    """The file to read, as `formats.read` takes it."""

    path: Path
    format: str
    name: str


class EndOfTranscript(NamedTuple):
    """The last message of a transcript."""

    warnings: list[Warning]


class ReadRefusal(NamedTuple):
    """`Invalid` as it goes between processes: the file is refused."""

    message: str
    at: tuple[str | int, ...]
    code: str


class ReaderFault(Exception):
    """A parser failed, or its process ended. `kind` names the exception."""

    def __init__(self, kind: str, trace: str = "") -> None:
        super().__init__(kind, trace)
        self.kind = kind
