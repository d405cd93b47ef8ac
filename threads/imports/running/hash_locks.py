"""Serialises the recording of equal files: one without an id is recognised only by its bytes."""

from collections.abc import Iterable

from django.db import connection


def lock_hashes(hashes: Iterable[str]) -> None:
    """Lock these SHA-256 hashes until the end of the transaction, waiting for other holders.

    Once the transaction is committed, others find what it recorded. SQLite has only one writer
    anyway.
    """
    if connection.vendor != "postgresql":
        return
    with connection.cursor() as cursor:
        for sha256 in sorted({*hashes}):
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [int(sha256[:15], 16)])
