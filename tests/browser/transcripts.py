"""Transcripts as Claude Code writes them, for the browser to drop, choose or paste."""

import uuid
from collections.abc import Iterator
from typing import Any

from tests.threads.support.transcripts import (
    SESSION,
    answer,
    call,
    lines,
    result,
    text,
    user,
)

TURN = 6
"""Messages of one turn: a question, two calls with their results, an answer."""
CALLS = (1, 3)
"""The positions of the calls in a turn."""


def agent_session(turns: int) -> bytes:
    """The lines of a session of `turns` turns; message 6 × n asks question n."""
    return with_own_id(lines(*_records(turns)))


def with_own_id(content: bytes) -> bytes:
    """The same content with a new session id, which the server has not seen."""
    return content.replace(SESSION.encode(), str(uuid.uuid4()).encode())


def _records(turns: int) -> Iterator[dict[str, Any]]:
    last: str | None = None
    for turn in range(turns):
        for step, message in enumerate(_turn(turn)):
            id_ = f"r{turn}-{step}"
            line = answer if isinstance(message, dict) else user
            yield line(id_, last, message)
            last = id_


def _turn(turn: int) -> list[Any]:
    first, second = f"c{turn}a", f"c{turn}b"
    return [
        f"Question {turn}: what does the ledger hold?",
        call(first),
        result(first),
        call(second),
        result(second),
        text(f"Answer {turn}: it holds {turn * 7} entries, all of them paid."),
    ]
