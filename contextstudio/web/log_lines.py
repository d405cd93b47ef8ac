"""The lines of the log: without what lets somebody in.

Django names the address of a request that was refused or failed. That of a sign-in link or of an
invitation is good until it is used, and just then it was not.
"""

import logging
import re

_LINK = re.compile(r"(/sign-in/(?:invitation/)?)[\w-]{16,}")
_KEY = re.compile(r"\bcs_([0-9A-Za-z]{8})_[0-9A-Za-z]{40}")


class LineFormatter(logging.Formatter):
    """Django's lines and tracebacks, in which links and keys are masked."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as it is written."""
        line = _LINK.sub(r"\1…", super().format(record))
        return _KEY.sub(r"cs_\1_…", line)
