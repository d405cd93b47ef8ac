"""Searches for regular expressions given by users, within bounded time and memory.

An expression can be written so that matching it takes for ever, or hundreds of megabytes. The time
of one search is bounded over all the texts it covers. A search that may take much memory runs in a
separate process with a memory limit, one at a time (docs/decisions/0071).
"""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from multiprocessing import Pipe
from pathlib import Path
from time import thread_time

import regex

from contextstudio.accounts.domain.errors import Invalid, Unavailable
from operations.domain.text.pattern import MAX_MATCHES, Stretch

from . import expression_worker
from .expression_worker import Answer, Request, search

MAX_PATTERN_LENGTH = 1000
"""Most characters of an expression."""
SECONDS = 2.0
"""CPU seconds that one search may take."""
MEMORY = 256 << 20
"""Bytes of memory that the search of one text may take."""
HARMLESS = 500_000
"""Up to this product of text length and the length of expression and replacement, a search takes
a few dozen megabytes at most and runs in this process."""
_CALLS = regex.compile(r"(?<!\\)(?:\\\\)*\(\?(?:R|&|P>|[+-]?[0-9])")
"""A construct that calls a group, or the whole expression, recursively."""
_ROOT = Path(__file__).resolve().parents[2]
_TO_START = 20.0
"""Seconds that the process may take to start and be scheduled on a busy machine."""
_IN_LINE = 30.0
"""Seconds that a search waits for others to finish."""


class SearchExpression:
    """One search for an expression; the replacement may name its groups (`\\1`, `\\g<name>`)."""

    def __init__(
        self, text: str, replacement: str, *, seconds: float = SECONDS
    ) -> None:
        """Raises Invalid for an invalid expression, or a replacement with an unknown group."""
        if len(text) > MAX_PATTERN_LENGTH:
            raise Invalid(
                f"An expression has at most {MAX_PATTERN_LENGTH:,} characters."
            )
        if _CALLS.search(text):
            # On a text of any length this may take a gigabyte, and isn't stopped in time.
            raise Invalid("An expression can't call itself or one of its groups.")
        try:
            self._expression = regex.compile(text, regex.MULTILINE)
            # This matches the empty string at once, so that only the replacement is checked.
            regex.compile(f"(?:)|{text}", regex.MULTILINE).sub(replacement, "", count=1)
        except (
            regex.error,
            RecursionError,
            OverflowError,
            IndexError,
            ValueError,
        ) as error:
            raise Invalid(
                f"This is not a valid regular expression: {error}."
            ) from error
        self._text, self._replacement = text, replacement
        self._left = seconds

    def find(self, text: str) -> Iterator[Stretch]:
        """The matches in a text, in order, without empty ones.

        Raises Invalid if the search takes too long or too much memory, and Unavailable if it has
        to wait too long for other searches.
        """
        refusal, found, seconds = self._answer(text, max(self._left, 0.001))
        self._left -= seconds
        if refusal == "too_slow":
            raise Invalid(
                f"This expression takes longer than {SECONDS:.0f} seconds; make it simpler.",
                code=refusal,
            )
        if refusal:
            raise Invalid(
                "This expression takes too much memory; make it simpler.", code=refusal
            )
        return (Stretch(*one) for one in found)

    def _answer(self, text: str, seconds: float) -> Answer:
        length = len(self._text) + len(self._replacement)
        request = (
            self._text,
            self._replacement,
            text,
            seconds,
            MEMORY,
            MAX_MATCHES + 1,
        )
        if len(text) * length > HARMLESS:
            return _searched_elsewhere(request)
        begun = thread_time()
        try:
            found = search(
                self._expression,
                self._replacement,
                text,
                seconds=seconds,
                most=MAX_MATCHES + 1,
            )
        except TimeoutError:
            # The package counts the time of all threads in the process.
            if thread_time() - begun < seconds / 2:
                return _searched_elsewhere(request)
            return "too_slow", [], 0.0
        except MemoryError:
            return "too_large", [], 0.0
        return "", found, thread_time() - begun


class _SearchProcess:
    """The search process, and the connection to it."""

    def __init__(self) -> None:
        self._connection, theirs = Pipe()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603  # this Python, a module of ours
                [
                    sys.executable,
                    "-m",
                    expression_worker.__name__,
                    str(theirs.fileno()),
                ],
                cwd=_ROOT,
                stdin=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,  # Ctrl+C is for the server, which ends this process
            )

    def is_running(self) -> bool:
        return self._process.poll() is None

    def ask(self, request: Request) -> Answer:
        """Send a request and await the answer. Raises EOFError or OSError if the process ended."""
        self._connection.send(request)
        # The process times out itself, unless it hangs or isn't scheduled.
        if not self._connection.poll(_TO_START + 10 * request[3]):
            return "too_slow", [], 0.0
        answer: Answer = self._connection.recv()
        return answer

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._connection.close()


_idle: list[_SearchProcess] = []
"""At most one process that waits for the next text; it may have exited in the meantime."""
_turn = threading.Lock()


def _forget() -> None:
    """Reset the state after a fork: the process and the lock belong to the parent."""
    global _turn
    _idle.clear()
    _turn = threading.Lock()


os.register_at_fork(after_in_child=_forget)


def _searched_elsewhere(request: Request) -> Answer:
    """Search in the other process, which is ended after a refusal to free its memory."""
    if not _turn.acquire(timeout=_IN_LINE):
        raise Unavailable("Others are searching; try again in a minute.", code="busy")
    try:
        process = _idle.pop() if _idle else None
        if process is not None and not process.is_running():
            process.end()
            process = None
        process = process or _SearchProcess()
        try:
            answer = process.ask(request)
        except (EOFError, OSError):
            answer = "too_large", [], 0.0  # it had no memory left to answer
        except BaseException:
            process.end()
            raise
        if answer[0]:
            process.end()
        else:
            _idle.append(process)
        return answer
    finally:
        _turn.release()
