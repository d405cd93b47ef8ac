"""Prepared queries find what their querysets find, and rows written past Django are the same."""

import uuid
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.db.models import (
    BooleanField,
    CharField,
    Exists,
    IntegerField,
    OuterRef,
    QuerySet,
    UUIDField,
)
from django.test.utils import CaptureQueriesContext

from contextstudio.accounts.models import Project
from contextstudio.database import driver
from contextstudio.database.prepared import Param, Prepared, insert, update
from operations.models import ContextPolicy, SessionRequest
from threads.models import Session

pytestmark = pytest.mark.django_db
SUSPENDED = {"It was sent without.": ["o1", "o2"]}


@pytest.fixture
def session(project: Project) -> Session:
    return Session.objects.create(
        project=project,
        title="One",
        format="x",
        created_by="user:1",
        overview={"on": 1},
    )


def _rows(projects: tuple[int, ...], title: Any) -> QuerySet[Session]:
    policies = ContextPolicy.objects.filter(session=OuterRef("pk"))
    sessions = Session.objects.filter(project__in=projects, title=title)
    return sessions.annotate(chosen=Exists(policies)).select_related("project")


def test_models_are_those_of_the_queryset(session: Session) -> None:
    prepared = Prepared(lambda projects: _rows(projects, Param("title", CharField())))
    ids = (session.project_id,)
    for title in ("One", "Two"):
        found = prepared.rows(ids, title=title)
        expected = list(_rows(ids, title))
        assert found == expected
        for one, other in zip(found, expected, strict=True):
            names = [field.attname for field in Session._meta.concrete_fields]
            assert [getattr(one, name) for name in names] == [
                getattr(other, name) for name in names
            ]
            assert (one.project, one.chosen) == (other.project, False)  # type: ignore[attr-defined]  # annotated


def test_nothing_is_found_in_an_empty_list(session: Session) -> None:
    prepared = Prepared(lambda projects: _rows(projects, Param("title", CharField())))
    assert prepared.first((), title="One") is None
    assert prepared.first((session.project_id,), title="One") == session


def test_columns_are_read_as_the_queryset_reads_them(session: Session) -> None:
    def rows(key: Any) -> QuerySet[Session, Any]:
        return Session.objects.filter(pk=key)

    one = Prepared(
        lambda: rows(Param("key", UUIDField())).values_list("id", "overview")
    )
    flat = Prepared(
        lambda: rows(Param("key", UUIDField())).values_list("created_at", flat=True)
    )
    assert one.rows(key=session.pk) == [(session.pk, {"on": 1})]
    assert flat.first(key=session.pk) == rows(session.pk).get().created_at
    assert flat.first(key=uuid.uuid4()) is None


def test_the_last_statements_are_kept(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []

    def make(count: int) -> QuerySet[Session]:
        made.append(count)
        known = Param("known", BooleanField())
        return Session.objects.annotate(known=known).filter(
            message_count__lt=Param("count", IntegerField())
        )

    prepared = Prepared(make)
    for shape in (1, 2, 1, 2):
        assert [one.known for one in prepared.rows(shape, count=1, known=True)] == [  # type: ignore[attr-defined]  # annotated
            True
        ]
    assert made == [1, 2]


def test_a_row_is_inserted_as_django_would(session: Session) -> None:
    facts: dict[str, Any] = {
        "session": session,
        "actor": "key:1",
        "actor_name": "agent",
        "door": "apply",
        "format": "openai",
        "decision": "first",
        "head": 0,
        "message_count": 2,
        "applied": 0,
        "suspended": SUSPENDED,
        "prepared_ms": 1.5,
        "sent": [[0, 2]],
        **dict.fromkeys(("messages", "known", "new", "unknown", "absent"), 2),
        **dict.fromkeys(("tokens_before", "tokens_after"), 2**40),
    }
    insert([SessionRequest(number=number, **facts) for number in (1, 2)])
    SessionRequest.objects.create(number=3, **facts)
    rows = list(SessionRequest.objects.order_by("number"))
    apart = {"id", "number", "created_at"}
    names = {field.attname for field in SessionRequest._meta.concrete_fields} - apart
    told = [[getattr(row, name) for name in sorted(names)] for row in rows]
    assert [row.number for row in rows] == [1, 2, 3]
    assert told[0] == told[1] == told[2]
    assert all(row.created_at for row in rows)


def test_fields_are_updated_and_no_others(session: Session) -> None:
    session.title, session.overview = "Two", {"on": 2}
    update(session, "overview")
    kept = Session.objects.get()
    assert (kept.title, kept.overview) == ("One", {"on": 2})


def test_who_watches_statements_sees_these_too(session: Session) -> None:
    prepared = Prepared(
        lambda: Session.objects.filter(title=Param("title", CharField()))
    )
    session.overview = {"on": 3}
    with CaptureQueriesContext(connection) as seen:
        assert prepared.first(title="One") == session
        update(session, "overview")
    asked, told = [one["sql"] for one in seen]
    assert asked.startswith("SELECT")
    assert "UPDATE" in told


def test_what_the_driver_refuses_is_raised_as_django_raises_it(
    session: Session,
) -> None:
    session.title = "x" * 40
    with pytest.raises(DatabaseError), transaction.atomic():
        insert([session])


def test_a_transaction_that_may_only_be_rolled_back_is_asked_nothing(
    session: Session,
) -> None:
    prepared = Prepared(
        lambda: Session.objects.filter(title=Param("title", CharField()))
    )
    with transaction.atomic():
        transaction.set_rollback(True)
        with pytest.raises(transaction.TransactionManagementError):
            prepared.first(title="One")
        with pytest.raises(transaction.TransactionManagementError):
            update(session, "title")


def test_a_percent_sign_in_a_statement_is_one() -> None:
    assert driver.fetch(driver.prepare("SELECT %s, '5%%'"), ["a"], connection) == [
        ("a", "5%")
    ]
