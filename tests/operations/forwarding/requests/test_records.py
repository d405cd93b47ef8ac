"""What is kept of a client's requests."""

from decimal import Decimal

import pytest

from contextstudio.accounts.domain.errors import Invalid, NotFound
from contextstudio.accounts.models import User
from operations.forwarding.requests.records import (
    ReplyFacts,
    RequestFacts,
    finish_request,
    list_requests,
    record_request,
)
from operations.models import SessionRequest
from tests.people import caller
from threads.models import Session

FACTS = RequestFacts(
    door="apply", format="openai", decision="extended", messages=3, known=2
)


def test_requests_are_numbered_in_the_order_in_which_a_session_took_them(
    session: Session, editor: User
) -> None:
    made = [record_request(session, caller(editor), FACTS) for _ in range(3)]
    found = list_requests(caller(editor), session.pk, limit=2)
    assert [row.number for row in found.items] == [3, 2]
    rest = list_requests(caller(editor), session.pk, cursor=found.next_cursor)
    assert [row.pk for row in rest.items] == [made[0].pk]
    assert rest.items[0].message_count == 20


def test_a_reply_fills_in_what_is_known_of_it(session: Session, editor: User) -> None:
    row = record_request(session, caller(editor), FACTS)
    finish_request(row.pk, ReplyFacts(status=SessionRequest.Status.SENT))
    finish_request(
        row.pk,
        ReplyFacts(
            status=SessionRequest.Status.PARTIAL,
            error="cut\0 off",
            input_tokens=1_000,
            cost=Decimal("0.003"),
        ),
    )
    finish_request(row.pk, ReplyFacts(status=SessionRequest.Status.PARTIAL))
    row.refresh_from_db()
    assert (row.status, row.error) == ("partial", "cut off")
    assert row.input_tokens == 1_000
    assert row.output_tokens is None
    assert row.cost == Decimal("0.003")


def test_a_stranger_sees_no_requests_and_a_foreign_cursor_is_refused(
    session: Session, editor: User, stranger: User
) -> None:
    with pytest.raises(NotFound):
        list_requests(caller(stranger), session.pk)
    with pytest.raises(Invalid):
        list_requests(caller(editor), session.pk, cursor="WyJhIl0")
