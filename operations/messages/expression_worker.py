"""The process that searches for expressions: `python -m operations.messages.expression_worker FD`.

Each request is answered with what was found, or why nothing. An expression may take hundreds of
megabytes before it is given up; here no search takes more than it is given, whatever it is.
"""

import resource
import sys
import time
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import regex

Request = tuple[str, str, str, float, int, int]
"""Expression, replacement, text, seconds of a processor, bytes of memory, matches at most."""
Found = list[tuple[int, int, str]]
"""Start, end and what is to be read in its place, of each match."""
Answer = tuple[str, Found, float]
"""Empty or the code of the refusal, what was found, seconds of a processor that it took."""

MOST_WRITTEN = 16_000_000
"""Characters of all that is to be read in the places of the matches of one text."""
_PATIENCE = 60.0
"""Seconds without a request after which the process ends."""


class TooMuchWritten(MemoryError):
    """The replacement repeats groups until it is longer than anybody wants."""


def search(
    expression: "regex.Pattern[str]",
    replacement: str,
    text: str,
    *,
    seconds: float,
    most: int,
) -> Found:
    """What an expression matches of a text, from the first on; nothing that is empty.

    Raises TimeoutError and MemoryError.
    """
    found: Found = []
    written = 0
    for match in expression.finditer(text, timeout=seconds, concurrent=True):
        if match.end() > match.start():
            words = match.expand(replacement)
            written += len(words)
            if written > MOST_WRITTEN:
                raise TooMuchWritten
            found.append((match.start(), match.end(), words))
            if len(found) == most:
                break
    return found


def answer(request: Request) -> Answer:
    """Search, within the memory that the request allows."""
    expression, replacement, text, seconds, memory, most = request
    begun, refusal, found = time.process_time(), "", Found()
    _bound(memory)
    try:
        compiled = regex.compile(expression, regex.MULTILINE)
        found = search(compiled, replacement, text, seconds=seconds, most=most)
    except TimeoutError:
        refusal = "too_slow"
    except MemoryError:
        refusal = "too_large"
    _bound(None)
    return refusal, found, time.process_time() - begun


def _bound(more: int | None) -> None:
    """Let this process have so many bytes more than now; None: as many as it likes.

    Where the system doesn't say what it has, the package's own limit of 600 MB is all there is.
    """
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    limit = most
    with suppress(OSError):
        if more is not None:
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            limit = pages * resource.getpagesize() + more
            limit = limit if most == resource.RLIM_INFINITY else min(limit, most)
        resource.setrlimit(resource.RLIMIT_AS, (limit, most))


def main(connected: int) -> None:
    """Answer requests until there are no more."""
    connection: Connection[Any, Any] = Connection(connected)
    try:
        while connection.poll(_PATIENCE):
            connection.send(answer(connection.recv()))
    except (EOFError, OSError):
        pass  # who asks is gone


if __name__ == "__main__":
    main(int(sys.argv[1]))
