"""A process with many open files and connections, like a server with many pages."""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager

MANY = 1_100
"""More descriptors than `select` supports."""


@contextmanager
def many_open() -> Iterator[None]:
    """Within this context, newly opened files get numbers of about `MANY` or above."""
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
