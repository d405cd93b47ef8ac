"""Connections to PostgreSQL that give up on a server that falls silent.

The operating system detects a machine that is gone (see `SILENCE` in the environment), but not one
that accepts what it is sent and never answers: its own statement timeout doesn't fire either.
"""

import re
from functools import cached_property
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

GRACE_SECONDS = 5
"""How long an answer may still be on its way after the server must have ended the statement."""

_INTERVAL = 0.1
"""Seconds after which psycopg checks for Ctrl+C: its own default."""
_LIMIT = re.compile(r"statement_timeout\s*=\s*(\d+)\s*(us|ms|s|min|h|d)?")
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600, "d": 86_400}


class BoundedConnection(psycopg.Connection[Any]):
    """A connection that waits for an answer as long as a statement may run, and a little longer."""

    has_no_timeout = False
    """Whether statements may currently run for any time."""

    @cached_property
    def answer_timeout(self) -> float | None:
        """Seconds that the server may take for an answer; None for no limit."""
        return answer_timeout(self.info.get_parameters().get("options", ""))

    def wait(
        self, gen: Any, interval: float = _INTERVAL, timeout: float | None = None
    ) -> Any:
        """Wait for an answer. If none comes, close the connection and raise OperationalError."""
        if timeout is not None or self.has_no_timeout:
            return super().wait(gen, interval, timeout)
        try:
            return super().wait(gen, interval, self.answer_timeout)
        except psycopg.OperationalError:
            if self.pgconn.transaction_status == TransactionStatus.ACTIVE:
                self.close()
            raise


def answer_timeout(options: str) -> float | None:
    """Seconds to wait for an answer, given the statement timeout; None if there is none."""
    said = _LIMIT.findall(options)
    if not said:
        return None
    limit, unit = said[-1]
    seconds = int(limit) * _SECONDS[unit or "ms"]
    return seconds + GRACE_SECONDS if seconds else None
