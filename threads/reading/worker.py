"""The process that reads: `python -m threads.reading.worker DESCRIPTOR`, of its connection.

It is asked for a file, tells its transcripts, and of each that is asked for by its number the
batches, one ahead of whoever writes them; None is the end of the file. It loads no Django.
"""

import gc
import os
import pickle
import sys
import traceback
from dataclasses import replace
from multiprocessing.connection import Connection
from queue import Queue
from threading import Thread
from typing import Any

from contextstudio.accounts.domain.errors import DomainError

from ..domain import formats
from ..domain.batch import batches
from ..domain.transcript import Transcript
from .asked import Asked, Ended, Fault, Refused

AHEAD = 2
"""Batches that wait to be taken while the next is made."""
PATIENCE = 60.0
"""Seconds without a question after which the process ends."""


def main(descriptor: int) -> None:
    """Answer until nobody asks any more."""
    connection: Connection[Any, Any] = Connection(descriptor)
    try:
        while connection.poll(PATIENCE):
            _answer(connection, connection.recv())
    except (EOFError, OSError):
        pass  # whoever asked is gone


def _answer(connection: "Connection[Any, Any]", asked: Asked) -> None:
    """Read one file, for as long as it is asked for."""
    try:
        with asked.path.open("rb") as file:
            transcripts = formats.read(file, asked.format, asked.name)
            connection.send([replace(one, items=()) for one in transcripts])
            while (number := connection.recv()) is not None:
                _tell(connection, transcripts[number])
    except DomainError as refusal:
        connection.send(Refused(refusal.message, refusal.at, refusal.code))
    except (EOFError, OSError):
        raise
    except Exception as fault:  # noqa: BLE001  # whatever it is, whoever asked is told
        connection.send(Fault(type(fault).__name__, traceback.format_exc()))


def _tell(connection: "Connection[Any, Any]", transcript: Transcript) -> None:
    """Tell the batches of a transcript. One is made while others wait to be taken."""
    made: Queue[bytes | None] = Queue(AHEAD)
    sender = Thread(target=_send, args=(connection, made), daemon=True)
    sender.start()
    try:
        for batch in batches(transcript.items, growing=True):
            made.put(pickle.dumps(batch, pickle.HIGHEST_PROTOCOL))
    finally:
        made.put(None)
        sender.join()
    connection.send(Ended(transcript.warnings))


def _send(connection: "Connection[Any, Any]", made: "Queue[bytes | None]") -> None:
    try:
        while (batch := made.get()) is not None:
            connection.send_bytes(batch)
    except OSError:  # whoever asked is gone
        os._exit(0)


if __name__ == "__main__":
    # What is loaded by now stays, and what parsers make has no cycles to speak of.
    gc.freeze()
    gc.set_threshold(50_000, 10, 10)
    main(int(sys.argv[1]))
