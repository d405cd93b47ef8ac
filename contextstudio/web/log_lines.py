"""Log lines without credentials, and no warning again and again.

Django logs the address of a request that was refused or failed. The address of a sign-in link or
invitation is valid until it is used, and a failed request did not use it.
"""

import logging
import re

_LINK = re.compile(r"(/sign-in/(?:invitation/)?)[\w-]{16,}")
_KEY = re.compile(r"\bcs_([0-9A-Za-z]{8})_[0-9A-Za-z]{40}")


class LineFormatter(logging.Formatter):
    """Django's lines and tracebacks, in which links and keys are masked."""

    def format(self, record: logging.LogRecord) -> str:
        """Format a record."""
        line = _LINK.sub(r"\1…", super().format(record))
        return _KEY.sub(r"cs_\1_…", line)


class WarnOnceAMinute(logging.Filter):
    """Lets each warning through once a minute, unless it has a traceback.

    While a database is away, every attempt of every thread and of its pool of connections fails
    for the same reason.
    """

    SECONDS = 60

    def __init__(self) -> None:
        super().__init__()
        self._said: dict[tuple[str, str], float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is written."""
        if record.levelno != logging.WARNING or record.exc_info:
            return True
        began = record.created - self.SECONDS
        # Other threads change it meanwhile.
        for line, at in list(self._said.items()):
            if at <= began:
                self._said.pop(line, None)
        line = record.name, record.getMessage()
        return self._said.setdefault(line, record.created) == record.created
