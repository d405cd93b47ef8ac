"""Writing what may be left out: caches, and when something was last used."""

from collections.abc import Callable

from django.db import DatabaseError, transaction

from .outages import is_outage
from .turns import impatient


def write_if_free(write: Callable[[], object]) -> bool:
    """Write where nobody else does at the moment; else leave it out. Whether it was written.

    So nobody who only reads has to wait for those who write.
    """
    try:
        with impatient(), transaction.atomic():
            write()
    except DatabaseError as error:
        if not is_outage(error):
            raise
        return False
    return True
