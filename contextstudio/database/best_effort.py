"""Writes that may be skipped: caches, and times of last use."""

from collections.abc import Callable

from django.db import DatabaseError, transaction

from .outages import is_outage
from .write_queue import nowait


def write_if_free(write: Callable[[], object]) -> bool:
    """Write if nobody else is writing, else skip it. Returns whether it was written.

    So nobody who only reads has to wait for writers.
    """
    try:
        with nowait(), transaction.atomic():
            write()
    except DatabaseError as error:
        if not is_outage(error):
            raise
        return False
    return True
