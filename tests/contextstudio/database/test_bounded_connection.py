"""A database server that says nothing any more is given up, and not by what takes its time."""

import socket
import threading
from collections.abc import Iterator
from typing import cast

import psycopg
import pytest
from django.db import OperationalError, connection, transaction

from contextstudio.database.bounded_connection import (
    GRACE_SECONDS,
    BoundedConnection,
    answer_timeout,
)
from contextstudio.database.outages import is_outage
from contextstudio.database.statement_timeout import without_statement_timeout


@pytest.mark.parametrize(
    ("options", "seconds"),
    [
        ("-c lock_timeout=5000 -c statement_timeout=30000", 30),
        ("-c statement_timeout=30000 -c statement_timeout=60000", 60),
        ("-c statement_timeout=2min", 120),
        ("-c statement_timeout=45s -c work_mem=1MB", 45),
    ],
)
def test_an_answer_is_waited_for_a_little_longer_than_a_statement_may_run(
    options: str, seconds: int
) -> None:
    assert answer_timeout(options) == seconds + GRACE_SECONDS


@pytest.mark.parametrize("options", ["", "-c statement_timeout=0"])
def test_where_statements_have_no_limit_waiting_has_none(options: str) -> None:
    assert answer_timeout(options) is None


class Line:
    """A way to the database, through which nothing passes once it is cut; nobody is told."""

    def __init__(self, there: tuple[str, int]) -> None:
        self._there = there
        self._is_cut = threading.Event()
        self._door = socket.create_server(("127.0.0.1", 0))
        self._ends: list[socket.socket] = []
        self.port = self._door.getsockname()[1]
        threading.Thread(target=self._let_in, daemon=True).start()

    def cut(self) -> None:
        self._is_cut.set()

    def close(self) -> None:
        for end in (self._door, *self._ends):
            end.close()

    def _let_in(self) -> None:
        here, _ = self._door.accept()
        there = socket.create_connection(self._there)
        self._ends = [here, there]
        for source, sink in ((here, there), (there, here)):
            threading.Thread(
                target=self._pass, args=(source, sink), daemon=True
            ).start()

    def _pass(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            while piece := source.recv(65_536):
                if not self._is_cut.is_set():
                    sink.sendall(piece)
        except OSError:
            pass


@pytest.fixture
def line() -> Iterator[Line]:
    described = connection.settings_dict
    found = Line((described["HOST"], int(described["PORT"] or 5432)))
    yield found
    found.close()


@pytest.mark.postgresql
@pytest.mark.django_db
def test_a_server_that_falls_silent_is_an_outage(line: Line) -> None:
    parameters = connection.get_connection_params()
    given = {**parameters, "host": "127.0.0.1", "port": line.port}
    with BoundedConnection.connect(**given) as session:
        session.execute("SELECT 1")
        line.cut()
        session.answer_timeout = 0.01
        with pytest.raises(psycopg.OperationalError) as silent:
            session.execute("SELECT 1")
        assert session.closed
    with pytest.raises(OperationalError) as told, connection.wrap_database_errors:
        raise silent.value
    assert is_outage(told.value)


@pytest.fixture
def session(transactional_db: None) -> Iterator[BoundedConnection]:
    """Django's connection, which no test after this one is left with."""
    connection.ensure_connection()
    yield cast(BoundedConnection, connection.connection)
    connection.close()


@pytest.mark.postgresql
def test_requests_wait_with_a_limit_and_what_takes_its_time_without(
    session: BoundedConnection,
) -> None:
    assert session.answer_timeout == 30 + GRACE_SECONDS
    with without_statement_timeout(), connection.cursor() as cursor:
        session.answer_timeout = 0.001
        cursor.execute("SELECT pg_sleep(0.2)")
    assert not session.has_no_timeout
    with pytest.raises(OperationalError), connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(0.2)")


@pytest.mark.postgresql
def test_a_refused_statement_ends_no_connection(session: BoundedConnection) -> None:
    with (
        pytest.raises(OperationalError, match="statement timeout"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute("SET LOCAL statement_timeout = 10")
        cursor.execute("SELECT pg_sleep(60)")
    assert not session.closed
