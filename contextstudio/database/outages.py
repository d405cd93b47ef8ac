"""Tells outages of a database or disk (locked, down, full) from other errors, which are bugs.

Also keeps track of a server that can be done without, such as Redis.
"""

import errno
import logging
import time

from django.db import Error, InterfaceError, OperationalError, connection

FAULTS = (Error, OSError)
"""The exceptions that doors examine: all outages are among them."""

RETRY_AFTER = 2
"""Seconds after which a request that met an outage may be repeated."""

BACKOFF_SECONDS = 5
"""For this long a dispensable server that didn't answer in time isn't asked again."""

# BUSY, LOCKED, READONLY, INTERRUPT, IOERR, FULL, CANTOPEN, PROTOCOL, AUTH of sqlite3.h: the primary
# codes that concern the file or its other users, not the statement.
_SQLITE = frozenset({5, 6, 8, 9, 10, 13, 14, 15, 23})

# Errors of the data folder's disk when it can't be written, or no more files can be opened.
_DISK = frozenset(
    {
        *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS),
        *(errno.EIO, errno.EMFILE, errno.ENFILE),
    }
)


def is_outage(error: BaseException) -> bool:
    """Whether an error is the fault of neither request nor code: it may succeed later.

    PostgreSQL's driver uses the same exceptions for all such errors: connections lost or refused,
    timeouts, deadlocks, a full pool or disk. SQLite's raises OperationalError for everything, so
    its code is examined.
    """
    if isinstance(error, OSError):
        return error.errno in _DISK
    if not isinstance(error, Error):
        return False
    code = getattr(error.__cause__, "sqlite_errorcode", None)
    if code is not None:
        return code & 0xFF in _SQLITE
    return isinstance(error, OperationalError | InterfaceError)


def connect_once() -> None:
    """Connect to PostgreSQL outside the pool, which retries and doesn't say what is wrong.

    Raises OperationalError. SQLite has no server to connect to.
    """
    if connection.vendor == "postgresql":
        with connection.wrap_database_errors:
            driver = connection.Database  # type: ignore[attr-defined]
            driver.connect(**connection.get_connection_params()).close()


def unusable(error: BaseException) -> str:
    """What an operator reads of a database's error: which database it is, and the cause."""
    # The lines after the first are hints and details.
    cause = str(error).split("\n", 1)[0].strip().rstrip(".")
    return f"The database {connection.settings_dict['NAME']} can't be used: {cause}."


def cause_of_outage(error: Error) -> Error:
    """The error itself, or that of a new connection if there can be none."""
    try:
        connect_once()
    except Error as cause:
        return cause
    return error


def log_fault(logger: logging.Logger, what: str, error: Exception) -> None:
    """Log what an error stopped: an outage in one line, as it recurs, others with a traceback."""
    if is_outage(error):
        logger.warning("%s: %s", what, " ".join(str(error).split()))
    else:
        logger.error("%s.", what, exc_info=error)


class DispensableServer:
    """Whether a server that can be done without is away, as this process has found.

    Everything that asks it fails for the same reason, so only the first failure is logged.
    """

    def __init__(self, logger: logging.Logger, sentence: str) -> None:
        self._logger, self._sentence = logger, sentence
        self._is_away = False
        self._silent_until = 0.0

    def is_silent(self) -> bool:
        """Whether it lately didn't answer in time: asking it again would mean to wait again."""
        return time.monotonic() < self._silent_until

    def failed(self, *, in_time: bool) -> None:
        """It couldn't be reached, or (not `in_time`) didn't answer in time."""
        if not in_time:
            self._silent_until = time.monotonic() + BACKOFF_SECONDS
        if not self._is_away:
            self._is_away = True
            self._logger.warning(self._sentence)

    def answered(self) -> None:
        """It is there: the next failure is logged again."""
        self._is_away = False
