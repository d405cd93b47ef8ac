"""Connections to PostgreSQL on which a server that falls silent is given up.

The system tells of a machine that is gone (see `SILENCE` in the environment), but nothing of one
that takes what it is sent and never answers: its own limit on statements doesn't run out either.
"""

import re
from functools import cached_property
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

GRACE_SECONDS = 5
"""For which an answer may be on its way, once the server must have ended the statement."""

_INTERVAL = 0.1
"""Seconds after which psycopg looks for Ctrl+C, as by itself."""
_LIMIT = re.compile(r"statement_timeout\s*=\s*(\d+)\s*(us|ms|s|min|h|d)?")
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600, "d": 86_400}


class BoundedConnection(psycopg.Connection[Any]):
    """One that waits for an answer as long as a statement may run, and a little longer."""

    is_unhurried = False
    """Whether statements may run for any time at the moment."""

    @cached_property
    def patience(self) -> float | None:
        """Seconds that the server may take for an answer; None for any time."""
        return patience_of(self.info.get_parameters().get("options", ""))

    def wait(
        self, gen: Any, interval: float = _INTERVAL, timeout: float | None = None
    ) -> Any:
        """Wait for an answer. Where none comes, raises OperationalError and closes."""
        if timeout is not None or self.is_unhurried:
            return super().wait(gen, interval, timeout)
        try:
            return super().wait(gen, interval, self.patience)
        except psycopg.OperationalError:
            if self.pgconn.transaction_status == TransactionStatus.ACTIVE:
                self.close()
            raise


def patience_of(options: str) -> float | None:
    """Seconds to wait for an answer, by the limit on statements; None where there is none."""
    said = _LIMIT.findall(options)
    if not said:
        return None
    limit, unit = said[-1]
    seconds = int(limit) * _SECONDS[unit or "ms"]
    return seconds + GRACE_SECONDS if seconds else None
