"""The process that searches for expressions: `python -m operations.messages.expression_worker FD`.

Each request is answered with the matches, or the reason for a refusal. An expression may take
hundreds of megabytes before the search is abandoned; in this process memory is strictly limited.
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
"""Expression, replacement, text, CPU seconds, bytes of memory, most matches."""
Found = list[tuple[int, int, str]]
"""Start, end and replacement of each match."""
Answer = tuple[str, Found, float]
"""The code of the refusal or an empty string, the matches, and the CPU seconds used."""

MAX_WRITTEN_LENGTH = 16_000_000
"""Most characters of all replacements in one text."""
_PATIENCE = 60.0
"""Seconds without a request after which the process ends."""


class TooMuchWritten(MemoryError):
    """Raised if the replacements exceed `MAX_WRITTEN_LENGTH`, for example by repeating groups."""


def search(
    expression: "regex.Pattern[str]",
    replacement: str,
    text: str,
    *,
    seconds: float,
    most: int,
) -> Found:
    """The first `most` matches of an expression in a text, without empty ones.

    Raises TimeoutError and MemoryError.
    """
    found: Found = []
    written = 0
    for match in expression.finditer(text, timeout=seconds, concurrent=True):
        if match.end() > match.start():
            words = match.expand(replacement)
            written += len(words)
            if written > MAX_WRITTEN_LENGTH:
                raise TooMuchWritten
            found.append((match.start(), match.end(), words))
            if len(found) == most:
                break
    return found


def answer(request: Request) -> Answer:
    """Search within the memory that the request allows."""
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
    """Limit this process to `more` bytes above its current size; None removes the limit.

    If the system doesn't report the current size, only the package's own limit of 600 MB applies.
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
        pass  # the requesting process is gone


if __name__ == "__main__":
    main(int(sys.argv[1]))
