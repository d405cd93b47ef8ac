"""Recording a file while nobody else does: one without an id is known again by its bytes alone."""

from collections.abc import Iterable

from django.db import connection


def one_at_a_time(hashes: Iterable[str]) -> None:
    """Wait for who records files of these SHA-256, and have others wait for this transaction.

    What it records is known to others once it is committed. On SQLite there is one writer anyway.
    """
    if connection.vendor != "postgresql":
        return
    with connection.cursor() as cursor:
        for sha256 in sorted({*hashes}):
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [int(sha256[:15], 16)])
