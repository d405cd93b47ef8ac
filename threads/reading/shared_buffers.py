"""Memory that the process that reads shares with the one that asks: batches go through it.

A pipe would copy each of them four times and wait for whoever reads it. So a batch is written
into one of a few slots, from which it is loaded at once; only which slot, and how much of it,
goes through the pipe.
"""

import os
import pickle
import sys
import tempfile
from mmap import mmap
from typing import Any, NamedTuple

COUNT = 4
"""Slots: so many batches wait to be taken while the next is made."""
SIZE = 4 << 20
"""Bytes of a slot. A full batch takes 2 to 3 MB: bodies, and their words."""


class Written(NamedTuple):
    """A batch lies in a slot, in so many bytes. Whoever has loaded it tells the slot back."""

    slot: int
    size: int


class TooLarge(Exception):
    """A batch does not fit in a slot."""


class Slots:
    """The slots, by the descriptor of what both processes map; it may be closed then."""

    def __init__(self, descriptor: int) -> None:
        self._memory = mmap(descriptor, COUNT * SIZE)

    def write(self, slot: int, value: object) -> Written:
        """Lay a value into a slot. Raises TooLarge."""
        into = _Into(self._memory, slot * SIZE)
        # Written as it is made: a text of it all would be made and copied once more.
        pickler = pickle.Pickler(into, pickle.HIGHEST_PROTOCOL)
        pickler.fast = (
            True  # a third less: batches hold nothing twice that is worth a note
        )
        pickler.dump(value)
        return Written(slot, into.at - slot * SIZE)

    def load(self, written: Written) -> Any:
        """A value that lies in a slot: the copy of it that this process has from now on."""
        start = written.slot * SIZE
        with (
            memoryview(self._memory) as memory,
            memory[start : start + written.size] as laid,
        ):
            return pickle.loads(laid)  # noqa: S301  # a process of ours wrote it

    def close(self) -> None:
        """Give the memory back."""
        self._memory.close()


def share() -> int:
    """The descriptor of new memory that can be shared; whoever asks closes it."""
    if sys.platform == "linux":
        descriptor = os.memfd_create("transcript")
    else:
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    os.ftruncate(descriptor, COUNT * SIZE)
    return descriptor


class _Into:
    """Where the pickler writes: from a place of the memory on, to the end of a slot."""

    __slots__ = ("_end", "_memory", "at")

    def __init__(self, memory: mmap, start: int) -> None:
        self._memory = memory
        self.at, self._end = start, start + SIZE

    def write(self, data: bytes) -> None:
        end = self.at + len(data)
        if end > self._end:
            raise TooLarge
        self._memory[self.at : end] = data
        self.at = end
