"""The reading process: `python -m threads.reading.worker CONNECTION MEMORY`.

It answers the messages of `protocol` and makes batches ahead of the process that writes them.
It doesn't load Django, so that it starts quickly and stays small.
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
from threads.domain.leaves import count_leaves
from threads.domain.transcript import Transcript

from . import protocol

PATIENCE = 60.0
"""Seconds without a request after which the process ends."""


def main(connected: int, shared: int) -> None:
    connection: Connection[Any, Any] = Connection(connected)
    buffers = protocol.SharedBuffers(shared)
    try:
        while connection.poll(PATIENCE):
            _answer(connection, buffers, connection.recv())
    except (EOFError, OSError):
        pass  # the importing process is gone


def _answer(
    connection: "Connection[Any, Any]",
    buffers: protocol.SharedBuffers,
    request: protocol.ReadRequest | protocol.CountRequest,
) -> None:
    try:
        with request.path.open("rb") as file:
            transcripts = formats.read(file, request.format, request.name)
            if isinstance(request, protocol.CountRequest):
                connection.send(count_leaves(transcripts, file))
                return
            connection.send([replace(one, items=()) for one in transcripts])
            while (number := connection.recv()) is not None:
                _send_batches(connection, buffers, transcripts[number])
    except DomainError as refusal:
        connection.send(protocol.ReadRefusal(refusal.message, refusal.at, refusal.code))
    except (EOFError, OSError):
        raise
    except Exception as fault:  # noqa: BLE001  # whatever it is, the other side must hear of it
        kind = type(fault).__name__
        connection.send(protocol.ReaderFault(kind, traceback.format_exc()))


def _send_batches(
    connection: "Connection[Any, Any]",
    buffers: protocol.SharedBuffers,
    transcript: Transcript,
) -> None:
    """Send the batches of a transcript, each as soon as a buffer is free for it."""
    free = list(range(protocol.COUNT))
    for batch in batches(transcript.items, growing=True):
        buffer = free.pop() if free else connection.recv()
        try:
            connection.send(buffers.write(buffer, batch))
        except protocol.BatchTooLarge:
            free.append(buffer)
            connection.send(batch)
    connection.send(protocol.EndOfTranscript(transcript.warnings))
    # The next transcript begins with all buffers free, so wait for those still being loaded.
    for _ in range(protocol.COUNT - len(free)):
        connection.recv()


if __name__ == "__main__":
    # What is loaded by now stays, and parsers make hardly any cycles: collecting is wasted time.
    gc.freeze()
    gc.set_threshold(50_000, 10, 10)
    main(*map(int, sys.argv[1:]))
