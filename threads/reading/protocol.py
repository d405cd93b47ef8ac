"""The messages between a process that imports and the one that reads for it.

A `ReadRequest` is answered with the transcripts of the file, without their items. Then a number
asks for the items of that transcript: batches, each a `BatchInBuffer` or, where no buffer holds
it, the batch itself, and `EndOfTranscript`. None ends the file. A `CountRequest` is answered with
the `LeafCount` of the file.

A pipe would copy each batch four times and block until the other side reads it. So a batch is
written into one of a few buffers in memory that both share, and loaded from there; only the
number of the buffer and the size of the batch go through the pipe.
"""

import os
import pickle
import sys
import tempfile
from mmap import mmap
from pathlib import Path
from typing import Any, NamedTuple

from threads.domain.transcript import Warning

COUNT = 4
"""Buffers: how many batches can wait while the next one is made."""
SIZE = 4 << 20
"""Bytes of a buffer. A full batch takes 2 to 3 MB."""


class ReadRequest(NamedTuple):
    """The file to read, as `formats.read` takes it."""

    path: Path
    format: str
    name: str


class CountRequest(NamedTuple):
    """The file whose text is to be counted."""

    path: Path
    format: str
    name: str


class EndOfTranscript(NamedTuple):
    """The last message of a transcript."""

    warnings: list[Warning]


class ReadRefusal(NamedTuple):
    """`Invalid` as it is passed between processes: the file is refused."""

    message: str
    at: tuple[str | int, ...]
    code: str


class ReaderFault(Exception):
    """A parser failed, or its process ended. `kind` names the exception."""

    def __init__(self, kind: str, trace: str = "") -> None:
        super().__init__(kind, trace)
        self.kind = kind


class BatchInBuffer(NamedTuple):
    """A batch is in a buffer. The buffer is free once its number has been sent back."""

    buffer: int
    size: int


class BatchTooLarge(Exception):
    """A batch does not fit in a buffer."""


class SharedBuffers:
    """The buffers, mapped from a descriptor, which may be closed afterwards."""

    def __init__(self, descriptor: int) -> None:
        self._memory = mmap(descriptor, COUNT * SIZE)

    def write(self, buffer: int, value: object) -> BatchInBuffer:
        """Pickle a value into a buffer. Raises BatchTooLarge."""
        into = _BufferWriter(self._memory, buffer * SIZE)
        # `dumps` would make all the bytes first and copy them once more.
        pickler = pickle.Pickler(into, pickle.HIGHEST_PROTOCOL)
        # Without pickle's memo, which saves a third of the time: batches repeat nothing large.
        pickler.fast = True
        pickler.dump(value)
        return BatchInBuffer(buffer, into.at - buffer * SIZE)

    def load(self, written: BatchInBuffer) -> Any:
        start = written.buffer * SIZE
        with (
            memoryview(self._memory) as memory,
            memory[start : start + written.size] as pickled,
        ):
            return pickle.loads(pickled)  # noqa: S301  # a process of ours wrote it

    def close(self) -> None:
        self._memory.close()


def allocate() -> int:
    """A descriptor of new memory that can be shared. The caller closes it."""
    if sys.platform == "linux":
        descriptor = os.memfd_create("transcript")
    else:
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    os.ftruncate(descriptor, COUNT * SIZE)
    return descriptor


class _BufferWriter:
    """The file that the pickler writes to: one buffer of the memory."""

    __slots__ = ("_end", "_memory", "at")

    def __init__(self, memory: mmap, start: int) -> None:
        self._memory = memory
        self.at, self._end = start, start + SIZE

    def write(self, data: bytes) -> None:
        end = self.at + len(data)
        if end > self._end:
            raise BatchTooLarge
        self._memory[self.at : end] = data
        self.at = end
