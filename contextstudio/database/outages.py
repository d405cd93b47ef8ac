"""Which errors of a database are outages: locked, away, full. The others are bugs."""

from django.db import Error, InterfaceError, OperationalError

RETRY_AFTER = 2
"""Seconds after which who met an outage may ask again."""

# BUSY, LOCKED, READONLY, INTERRUPT, IOERR, FULL, CANTOPEN, PROTOCOL, AUTH of sqlite3.h: the
# primary codes that say something of the file or of others at it, not of the statement.
_SQLITE = frozenset({5, 6, 8, 9, 10, 13, 14, 15, 23})


def is_outage(error: BaseException) -> bool:
    """Whether an error is no fault of the request or the code: it may go well later.

    PostgreSQL's driver names such errors alike: connections lost or refused, time limits,
    deadlocks, a pool or a disk that is full. SQLite's says OperationalError of everything, so
    its code is looked at.
    """
    if not isinstance(error, Error):
        return False
    code = getattr(error.__cause__, "sqlite_errorcode", None)
    if code is not None:
        return code & 0xFF in _SQLITE
    return isinstance(error, OperationalError | InterfaceError)
