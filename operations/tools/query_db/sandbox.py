"""A copy of rows in a separate process that can be queried in SQL: see `worker`."""

import json
import marshal
import os
import struct
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from multiprocessing import connection
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NamedTuple, cast

from contextstudio.accounts.domain.errors import Invalid

_WORKER = Path(__file__).with_name("worker.py")
_AT_ONCE = 500
STARTED_WITHIN = 20.0
"""The seconds that the process may take to start; they don't count for the caller."""
SECONDS = 2.0
"""The seconds that loading the rows and answering a statement may take together."""
ANSWERED_WITHIN = 4.0
"""The seconds after which a worker is abandoned; it should have ended its fork long before."""


class QueryRow(NamedTuple):
    """One original, with fields in the order of `worker.COLUMNS`; texts are UTF-8 without NUL."""

    id: int
    key: str
    group_id: int
    role: str
    content: str
    status: str
    parsing_strategy: str
    tool_name: str | None
    tokens: int
    tags: str
    created_at: str | None


class QueryAnswer(NamedTuple):
    """The result of a statement: column names, rows of JSON values, and whether there were more."""

    columns: list[str]
    rows: list[list[Any]]
    truncated: bool


def _too_long() -> Invalid:
    return Invalid(
        f"The query took more than {SECONDS:.0f} seconds, including the time to load its rows.",
        at=["sql"],
        code="too_long",
    )


class Sandbox:
    """A private copy of rows, as a context manager; it is gone when its process ends."""

    def __init__(self, rows: Iterable[QueryRow]) -> None:
        self._rows = rows

    def __enter__(self) -> "Sandbox":
        self._process = subprocess.Popen(  # noqa: S603  # this Python, a script of ours
            [sys.executable, "-I", "-B", str(_WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={},
            cwd="/",
        )
        try:
            self._load()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    def ask(self, sql: str) -> QueryAnswer:
        """The result of one statement. Raises Invalid, with a code, if there is none."""
        try:
            left = SECONDS - self._loaded_in
            self._send((sql.encode("utf-8", "replace").decode(), left))
            told = self._receive(ANSWERED_WITHIN)
        except TimeoutError as late:
            raise _too_long() from late
        except (OSError, EOFError) as error:
            raise Invalid(
                "The statement needed too much memory and was ended.",
                at=["sql"],
                code="too_large",
            ) from error
        if "code" in told:
            raise Invalid(told["sentence"], at=["sql"], code=told["code"])
        return QueryAnswer(**told)

    def _load(self) -> None:
        try:
            told = self._receive(STARTED_WITHIN)
            begun = time.monotonic()
            rows = map(tuple, self._rows)
            while not told and (some := list(islice(rows, _AT_ONCE))):
                if time.monotonic() - begun > SECONDS:
                    raise _too_long()
                self._send(some)
            self._send([])
            told = told or self._receive(max(0.0, SECONDS - time.monotonic() + begun))
            self._loaded_in = time.monotonic() - begun
        except TimeoutError as late:
            raise _too_long() from late
        except (OSError, EOFError):
            told = {"code": "too_large"}
        if told:
            raise Invalid(
                "The session is too large to query in SQL.",
                at=["session_id"],
                code="too_large",
            )

    def _send(self, value: Any) -> None:
        frame = marshal.dumps(value)
        pipe = cast(IO[bytes], self._process.stdin)
        pipe.write(struct.pack(">I", len(frame)) + frame)
        pipe.flush()

    def _receive(self, seconds: float) -> dict[str, Any]:
        frame = b"".join(self._read(seconds))
        told: dict[str, Any] = json.loads(frame)
        return told

    def _read(self, seconds: float) -> Iterator[bytes]:
        """Read the next frame in pieces.

        Raises EOFError if the worker ended, TimeoutError if late.
        """
        pipe, until = cast(IO[bytes], self._process.stdout), time.monotonic() + seconds
        left, head = 4, b""
        while left:
            if not connection.wait([pipe.fileno()], max(0.0, until - time.monotonic())):
                raise TimeoutError
            piece = os.read(pipe.fileno(), left)
            if not piece:
                raise EOFError
            left -= len(piece)
            if len(head) < 4:
                head += piece
                left = struct.unpack(">I", head)[0] if len(head) == 4 else left
            else:
                yield piece

    def _end(self) -> None:
        self._process.kill()
        self._process.communicate()
