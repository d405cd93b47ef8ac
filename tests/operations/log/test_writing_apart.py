"""What takes long to work out is added to a log that others write to meanwhile."""

from typing import Any

import pytest
from django.db import connection

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import NotFound, Unavailable
from contextstudio.accounts.domain.rights import Right
from operations.domain.log.operation import Tag
from operations.log import transaction
from operations.log.transaction import LogTransaction, open_log, write_apart
from operations.models import LogEntry
from threads.models import Session
from threads.sessions.services import delete_session


class Long:
    """Adds a tag, which somebody else does too while it is worked out, so many times."""

    def __init__(self, session: Session, caller: Caller, disturbed: int) -> None:
        self.session, self.caller, self.disturbed = session, caller, disturbed
        self.depths: list[int] = []
        """Transactions that were open, each time that it was worked out."""

    def __call__(self, log: LogTransaction) -> None:
        self.depths.append(len(connection.atomic_blocks))
        log.add(Tag(targets=("m0",), tags=("mine",)))
        if len(self.depths) <= self.disturbed:
            with transaction.atomic():
                other = open_log(self.caller, self.session.pk, Right.EDIT)
                other.add(Tag(targets=("m1",), tags=("theirs",)))
                other.commit()

    def run(self) -> None:
        write_apart(self.session, self.caller, self)


def tags() -> list[Any]:
    entries = LogEntry.objects.order_by("number")
    return [b"mine" in bytes(entry.payload) for entry in entries]


def test_it_is_worked_out_again_without_a_lock_until_nobody_comes_between(
    session: Session, caller: Caller
) -> None:
    depth = len(connection.atomic_blocks)
    long = Long(session, caller, transaction._TRIES - 1)
    long.run()
    assert tags() == [False] * long.disturbed + [True]
    assert long.depths == [depth] * transaction._TRIES


def test_where_somebody_always_comes_between_it_gives_up_and_locks_nobody_out(
    session: Session, caller: Caller
) -> None:
    depth = len(connection.atomic_blocks)
    long = Long(session, caller, 1_000)
    with pytest.raises(Unavailable, match="keep writing"):
        long.run()
    assert tags() == [False] * transaction._TRIES
    assert long.depths == [depth] * transaction._TRIES


@pytest.mark.parametrize("is_purged", [False, True])
def test_where_the_session_is_deleted_meanwhile_nothing_is_added(
    session: Session, caller: Caller, is_purged: bool
) -> None:
    def write(log: LogTransaction) -> None:
        log.add(Tag(targets=("m0",), tags=("mine",)))
        delete_session(caller, session.pk, purge=is_purged)

    with pytest.raises(NotFound):
        write_apart(session, caller, write)
    assert not LogEntry.objects.exists()
