"""Reading a large file in another process, while this one writes to the database.

Reading and encoding are two thirds of the cost of an import. In a process of its own this work
runs beside the writes and doesn't slow down the pages that this process serves; threads would
share one interpreter (docs/decisions/0061-reading-in-a-process-of-its-own.md). The process
(`worker`) loads only the formats. It stays for the next file, and ends by itself when there is
none for a while or when this process ends.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

from contextstudio.accounts.domain.errors import Invalid
from threads.domain import formats, leaves
from threads.domain.batch import Batch
from threads.domain.leaves import LeafCount
from threads.domain.message import Message
from threads.domain.transcript import Compaction, Event, Transcript, Warning

from . import protocol
from .protocol import ReaderFault

LARGE = 2_000_000
"""A file of this many bytes is worth starting a process for, which takes 0.2 s."""
LARGE_ENOUGH = 500_000
"""A file of this many bytes is worth passing to a process that is already running."""
_WORKER = f"{__name__}.worker"
_ENDED = "end of the process that read it"
_ROOT = Path(__file__).resolve().parents[2]

__all__ = [
    "ReaderFault",
    "RemoteItems",
    "count_leaves",
    "is_worthwhile",
    "open_transcripts",
]


class RemoteItems:
    """The items of a transcript in a file that another process has open.

    An import of a new session takes its `batches`. One that compares with a recorded session
    iterates over the items, one by one, and so reads the file again in this process.
    """

    def __init__(
        self,
        reader: "_ReaderProcess",
        request: protocol.ReadRequest,
        number: int,
        warnings: list[Warning],
    ) -> None:
        self._reader, self._request, self._number = reader, request, number
        self._warnings = warnings

    def __iter__(self) -> Iterator[Message | Event | Compaction]:
        with self._request.path.open("rb") as file:
            read = formats.read(file, self._request.format, self._request.name)
            transcript = read[self._number]
            yield from transcript.items
            self._warnings[:] = transcript.warnings

    def batches(self) -> Iterator[Batch]:
        """The items as `threads.domain.batch.batches` groups them, made ahead of their use."""
        self._reader.send(self._number)
        while not isinstance(
            answer := _checked(self._reader.receive()), protocol.EndOfTranscript
        ):
            if isinstance(answer, protocol.BatchInBuffer):
                batch: Batch = self._reader.buffers.load(answer)
                self._reader.send(answer.buffer)  # the buffer is free again
                yield batch
            else:
                yield answer
        self._warnings[:] = answer.warnings

    def has_more(self) -> bool:
        """Whether the next batch, or the end, is available without waiting."""
        return self._reader.connection.poll()


def is_worthwhile(size: int) -> bool:
    """Whether a file of so many bytes is read faster in another process."""
    waits = any(one.is_running() for one in tuple(_idle))
    return size >= (LARGE_ENOUGH if waits else LARGE)


@contextmanager
def open_transcripts(path: Path, format_: str, name: str) -> Iterator[list[Transcript]]:
    """The conversations of a file, as `formats.read` returns them.

    Raises what `formats.read` raises, and ReaderFault if the process failed. If the file is not
    read to its end, the process is stopped, for it would go on sending batches.
    """
    request = protocol.ReadRequest(path, format_, name)
    reader, answer = _send(request)
    try:
        found: list[Transcript] = _checked(answer)
    except Invalid:
        _keep(reader)
        raise
    transcripts = []
    for number, transcript in enumerate(found):
        warnings: list[Warning] = []
        items = RemoteItems(reader, request, number, warnings)
        transcripts.append(replace(transcript, items=items, warnings=warnings))
    try:
        yield transcripts
        reader.send(None)
    except BaseException:
        reader.end()
        raise
    _keep(reader)


def count_leaves(path: Path, format_: str, name: str) -> LeafCount:
    """Count where the text of a file went; a large file is counted in another process.

    Raises what `formats.read` raises, and ReaderFault if the process failed.
    """
    if not is_worthwhile(path.stat().st_size):
        with path.open("rb") as file:
            return leaves.count_leaves(formats.read(file, format_, name), file)
    reader, answer = _send(protocol.CountRequest(path, format_, name))
    _keep(reader)
    counted: LeafCount = _checked(answer)
    return counted


class _ReaderProcess:
    """The other process, and the connection to it."""

    def __init__(self) -> None:
        self.connection, theirs = Pipe()
        shared = protocol.allocate()
        self.buffers = protocol.SharedBuffers(shared)
        with theirs, closing(os.fdopen(shared)):
            descriptors = theirs.fileno(), shared
            self._process = subprocess.Popen(  # noqa: S603  # this Python, a module of ours
                [sys.executable, "-m", _WORKER, *map(str, descriptors)],
                cwd=_ROOT,
                stdin=subprocess.DEVNULL,
                pass_fds=descriptors,
                start_new_session=True,  # Ctrl+C is for the server, which ends it
            )

    def is_running(self) -> bool:
        return self._process.poll() is None

    def send(
        self, message: protocol.ReadRequest | protocol.CountRequest | int | None
    ) -> None:
        """Send a message of the protocol. Raises ReaderFault if the process has ended."""
        try:
            self.connection.send(message)
        except OSError as gone:
            raise ReaderFault(_ENDED) from gone

    def receive(self) -> Any:
        """The next message. Raises ReaderFault if the process has ended."""
        try:
            return self.connection.recv()
        except (EOFError, OSError) as gone:
            raise ReaderFault(_ENDED) from gone

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self.connection.close()
        self.buffers.close()


_idle: list[_ReaderProcess] = []
"""At most one process waiting for the next file; it may have ended by itself meanwhile."""
_lock = threading.Lock()
os.register_at_fork(after_in_child=_idle.clear)  # the processes belong to the parent


def _send(
    request: protocol.ReadRequest | protocol.CountRequest,
) -> tuple[_ReaderProcess, Any]:
    """Send a request to a process; returns the process and its first answer."""
    with _lock:
        reader = _idle.pop() if _idle else None
    if reader is not None:
        try:
            reader.send(request)
            return reader, reader.receive()
        except ReaderFault:
            reader.end()
    reader = _ReaderProcess()
    try:
        reader.send(request)
        return reader, reader.receive()
    except BaseException:
        reader.end()
        raise


def _keep(reader: _ReaderProcess) -> None:
    with _lock:
        if not _idle:
            _idle.append(reader)
            return
    reader.end()


def _checked(answer: Any) -> Any:
    """Return an answer. Raises Invalid if it is a refusal, ReaderFault if reading failed."""
    if isinstance(answer, protocol.ReadRefusal):
        raise Invalid(answer.message, at=answer.at, code=answer.code)
    if isinstance(answer, ReaderFault):
        raise answer
    return answer
