"""How long PostgreSQL lets a statement run, and how to lift that limit where needed."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models.signals import post_migrate, pre_migrate

_LIFT = "SET statement_timeout = 0"
_RESTORE = "RESET statement_timeout"


def lift_timeout_for_migrations() -> None:
    """Lift the limit while migrations run; the lock timeout stays. Call it once."""
    pre_migrate.connect(_lift, dispatch_uid="contextstudio.statement_timeout")
    post_migrate.connect(_restore, dispatch_uid="contextstudio.statement_timeout")


@contextmanager
def without_statement_timeout() -> Iterator[None]:
    """Lift the limit in this thread, for work that goes through the whole database."""
    _lift(DEFAULT_DB_ALIAS)
    try:
        yield
    finally:
        _restore(DEFAULT_DB_ALIAS)


def _lift(using: str, **_: Any) -> None:
    _set(using, _LIFT)


def _restore(using: str, **_: Any) -> None:
    _set(using, _RESTORE)


def _set(using: str, statement: str) -> None:
    if connections[using].vendor == "postgresql":
        with connections[using].cursor() as cursor:
            cursor.execute(statement)
        connections[using].connection.has_no_timeout = statement == _LIFT
