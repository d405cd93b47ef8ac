"""A process that has many files and connections open, as a server with many pages has."""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager

MANY = 1_100
"""More than `select` can name."""


@contextmanager
def many_open() -> Iterator[None]:
    """Within, whatever is opened has a number above `MANY`, or almost."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    soft = max(before[0], 2 * MANY)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, before[1]))
    held = [os.open(os.devnull, os.O_RDONLY) for _ in range(MANY)]
    try:
        yield
    finally:
        for one in held:
            os.close(one)
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
