"""Reading a large file in a process of its own, while this one writes what came of it.

Reading and encoding is two thirds of what an import costs. In another process it goes on while
the database writes, and takes nothing from the pages of this one; threads would share one
interpreter. The process (`worker`) knows the formats and nothing else; it stays for the next
file, and ends by itself when it is not asked for a while, or when this process ends.
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
from threads.domain import formats
from threads.domain.batch import Batch
from threads.domain.message import Message
from threads.domain.transcript import Compaction, Event, Transcript, Warning

from .protocol import Asked, Ended, Fault, Refused
from .shared_buffers import Slots, Written, share

LARGE = 2_000_000
"""Bytes from which a file is read in a process of its own, which takes 0.2 s to begin."""
WORTH = 500_000
"""Bytes from which a file is given to one that waits anyway."""
_WORKER = f"{__name__}.worker"
_ROOT = Path(__file__).resolve().parents[2]

__all__ = ["Apart", "Fault", "opened", "pays"]


class Apart:
    """The items of a transcript that another process reads.

    Whoever wants them one by one (to lay them beside what is recorded) reads them here.
    """

    def __init__(
        self, reader: "_Reader", asked: Asked, number: int, warnings: list[Warning]
    ) -> None:
        self._reader, self._asked, self._number = reader, asked, number
        self._warnings = warnings

    def __iter__(self) -> Iterator[Message | Event | Compaction]:
        with self._asked.path.open("rb") as file:
            read = formats.read(file, self._asked.format, self._asked.name)
            transcript = read[self._number]
            yield from transcript.items
            self._warnings[:] = transcript.warnings

    def batches(self) -> Iterator[Batch]:
        """As `batch.batches` gives them: the next is made while one is written."""
        self._reader.send(self._number)
        while not isinstance(told := _plain(self._reader.receive()), Ended):
            yield self._reader.take(told) if isinstance(told, Written) else told
        self._warnings[:] = told.warnings

    def has_more(self) -> bool:
        """Whether the next batch is there already, or the end."""
        return self._reader.has_told()


def pays(size: int) -> bool:
    """Whether a file of so many bytes is better read in a process of its own."""
    waits = any(one.is_there() for one in tuple(_kept))
    return size >= (WORTH if waits else LARGE)


@contextmanager
def opened(path: Path, format_: str, name: str) -> Iterator[list[Transcript]]:
    """The conversations of a file, as `formats.read` gives them.

    Raises what that raises, and Fault where the process stumbled. With a file that was not
    read to its end the process is given up.
    """
    asked = Asked(path, format_, name)
    reader, told = _ask(asked)
    try:
        found: list[Transcript] = _plain(told)
    except Invalid:
        _keep(reader)
        raise
    try:
        yield [_apart(reader, asked, *one) for one in enumerate(found)]
        reader.send(None)
    except BaseException:
        reader.end()
        raise
    _keep(reader)


def _apart(
    reader: "_Reader", asked: Asked, number: int, transcript: Transcript
) -> Transcript:
    warnings: list[Warning] = []
    items = Apart(reader, asked, number, warnings)
    return replace(transcript, items=items, warnings=warnings)


class _Reader:
    """A process that reads, and the connection to it."""

    def __init__(self) -> None:
        self._connection, theirs = Pipe()
        shared = share()
        self._slots = Slots(shared)
        with theirs, closing(os.fdopen(shared)):
            descriptors = theirs.fileno(), shared
            self._process = subprocess.Popen(  # noqa: S603  # this Python, a module of ours
                [sys.executable, "-m", _WORKER, *map(str, descriptors)],
                cwd=_ROOT,
                stdin=subprocess.DEVNULL,
                pass_fds=descriptors,
                start_new_session=True,  # Ctrl+C is for the server, which ends it
            )

    def is_there(self) -> bool:
        """Whether the process has not ended."""
        return self._process.poll() is None

    def send(self, question: Asked | int | None) -> None:
        """Ask. Raises Fault where the process has ended."""
        try:
            self._connection.send(question)
        except OSError as gone:
            raise _gone() from gone

    def receive(self) -> Any:
        """What the process tells. Raises Fault where it has ended."""
        try:
            return self._connection.recv()
        except (EOFError, OSError) as gone:
            raise _gone() from gone

    def take(self, written: Written) -> Batch:
        """The batch that lies in a slot, which is free from then on."""
        batch: Batch = self._slots.load(written)
        self.send(written.slot)
        return batch

    def has_told(self) -> bool:
        """Whether something was told that nobody has received yet."""
        return self._connection.poll()

    def end(self) -> None:
        """Let it go, whatever it does."""
        self._process.kill()
        self._process.wait()
        self._connection.close()
        self._slots.close()


_kept: list[_Reader] = []
"""Readers that wait for their next file. One that waited long has ended meanwhile."""
_lock = threading.Lock()
os.register_at_fork(after_in_child=_kept.clear)  # they are the parent's


def _ask(asked: Asked) -> tuple[_Reader, Any]:
    """A reader, and what it tells of the file first."""
    with _lock:
        reader = _kept.pop() if _kept else None
    if reader is not None:
        try:
            reader.send(asked)
            return reader, reader.receive()
        except Fault:
            reader.end()
    reader = _Reader()
    try:
        reader.send(asked)
        return reader, reader.receive()
    except BaseException:
        reader.end()
        raise


def _keep(reader: _Reader) -> None:
    """Let a reader wait for its next file, if no other does."""
    with _lock:
        if not _kept:
            _kept.append(reader)
            return
    reader.end()


def _plain(told: Any) -> Any:
    """What was told. Raises Invalid where it is a refusal, Fault where it is a fault."""
    if isinstance(told, Refused):
        raise Invalid(told.message, at=told.at, code=told.code)
    if isinstance(told, Fault):
        raise told
    return told


def _gone() -> Fault:
    return Fault("end of the process that read it")
