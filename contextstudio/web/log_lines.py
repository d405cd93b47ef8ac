"""Log lines without credentials.

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
