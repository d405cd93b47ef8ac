"""Which errors of a database and of a disk are outages: locked, away, full. The others are bugs."""

import errno

from django.db import Error, InterfaceError, OperationalError

FAULTS = (Error, OSError)
"""What doors look at: among these are all outages."""

RETRY_AFTER = 2
"""Seconds after which who met an outage may ask again."""

# BUSY, LOCKED, READONLY, INTERRUPT, IOERR, FULL, CANTOPEN, PROTOCOL, AUTH of sqlite3.h: the
# primary codes that say something of the file or of others at it, not of the statement.
_SQLITE = frozenset({5, 6, 8, 9, 10, 13, 14, 15, 23})

# What the disk of the data folder says when it can't be written, or no more files be opened.
_DISK = frozenset(
    {
        *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS),
        *(errno.EIO, errno.EMFILE, errno.ENFILE),
    }
)


def is_outage(error: BaseException) -> bool:
    """Whether an error is no fault of the request or the code: it may go well later.

    PostgreSQL's driver names such errors alike: connections lost or refused, time limits,
    deadlocks, a pool or a disk that is full. SQLite's says OperationalError of everything, so
    its code is looked at.
    """
    if isinstance(error, OSError):
        return error.errno in _DISK
    if not isinstance(error, Error):
        return False
    code = getattr(error.__cause__, "sqlite_errorcode", None)
    if code is not None:
        return code & 0xFF in _SQLITE
    return isinstance(error, OperationalError | InterfaceError)
