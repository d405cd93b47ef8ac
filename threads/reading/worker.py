"""The process that reads: `python -m threads.reading.worker CONNECTION MEMORY`.

It is asked for a file, tells its transcripts, and of each that is asked for by its number the
batches, some ahead of whoever writes them; None is the end of the file. It loads no Django.
"""

import gc
import sys
import traceback
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any

from contextstudio.accounts.domain.errors import DomainError
from threads.domain import formats
from threads.domain.batch import batches
from threads.domain.transcript import Transcript

from .protocol import Asked, Ended, Fault, Refused
from .shared_buffers import COUNT, Slots, TooLarge

PATIENCE = 60.0
"""Seconds without a question after which the process ends."""


def main(connected: int, shared: int) -> None:
    """Answer until nobody asks any more."""
    connection: Connection[Any, Any] = Connection(connected)
    slots = Slots(shared)
    try:
        while connection.poll(PATIENCE):
            _answer(connection, slots, connection.recv())
    except (EOFError, OSError):
        pass  # whoever asked is gone


def _answer(connection: "Connection[Any, Any]", slots: Slots, asked: Asked) -> None:
    """Read one file, for as long as it is asked for."""
    try:
        with asked.path.open("rb") as file:
            transcripts = formats.read(file, asked.format, asked.name)
            connection.send([replace(one, items=()) for one in transcripts])
            while (number := connection.recv()) is not None:
                _tell(connection, slots, transcripts[number])
    except DomainError as refusal:
        connection.send(Refused(refusal.message, refusal.at, refusal.code))
    except (EOFError, OSError):
        raise
    except Exception as fault:  # noqa: BLE001  # whatever it is, whoever asked is told
        connection.send(Fault(type(fault).__name__, traceback.format_exc()))


def _tell(
    connection: "Connection[Any, Any]", slots: Slots, transcript: Transcript
) -> None:
    """Tell the batches of a transcript: each as soon as a slot is free for it."""
    free = list(range(COUNT))
    for batch in batches(transcript.items, growing=True):
        slot = free.pop() if free else connection.recv()
        try:
            connection.send(slots.write(slot, batch))
        except TooLarge:
            free.append(slot)
            connection.send(batch)
    connection.send(Ended(transcript.warnings))
    for _ in range(COUNT - len(free)):
        connection.recv()


if __name__ == "__main__":
    # What is loaded by now stays, and what parsers make has no cycles to speak of.
    gc.freeze()
    gc.set_threshold(50_000, 10, 10)
    main(*map(int, sys.argv[1:]))
