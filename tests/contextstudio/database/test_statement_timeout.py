"""PostgreSQL ends what runs or waits too long, and says so; some commands take their time."""

from collections.abc import Iterator

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection, transaction
from django.db.models.signals import post_migrate, pre_migrate

from contextstudio.backup import checks
from contextstudio.database.outages import is_outage

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db(transaction=True)]


def limit(name: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"SHOW {name}")
        return str(cursor.fetchone()[0])


def test_statements_and_waits_for_locks_have_limits() -> None:
    assert limit("statement_timeout") == "30s"
    assert limit("lock_timeout") == "5s"


def test_a_statement_that_is_ended_is_an_outage() -> None:
    with (
        pytest.raises(OperationalError) as ended,
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute("SET LOCAL statement_timeout = 10")
        cursor.execute("SELECT pg_sleep(60)")
    assert is_outage(ended.value)


def test_while_migrations_run_statements_have_no_limit() -> None:
    facts = {
        "sender": apps.get_app_config("threads"),
        "app_config": apps.get_app_config("threads"),
        "verbosity": 0,
        "interactive": False,
        "using": "default",
        "plan": [],
        "apps": apps,
    }
    pre_migrate.send(**facts)
    assert limit("statement_timeout") == "0"
    post_migrate.send(**facts)
    assert limit("statement_timeout") == "30s"


def test_verify_may_take_longer_and_nothing_behind_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def faults() -> Iterator[str]:
        yield f"The limit is {limit('statement_timeout')}."

    monkeypatch.setattr(checks, "faults", faults)
    with pytest.raises(CommandError, match=r"The limit is 0\."):
        call_command("verify")
    assert limit("statement_timeout") == "30s"
