"""Writers of one process wait in a line; who comes first goes first, and nobody waits for ever."""

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import OperationalError, connection, transaction

from contextstudio.accounts.models import Project
from contextstudio.database.best_effort import write_if_free
from contextstudio.database.write_queue import WriteQueue, nowait, queue_of

LONG = 60.0


def wait_for(line: WriteQueue, count: int) -> None:
    """Wait until so many stand in line."""
    while len(line._waiting) < count:
        pass


def test_who_comes_first_goes_first() -> None:
    line, order = WriteQueue(), list[int]()
    assert line.acquire(0)

    def write(number: int) -> None:
        assert line.acquire(LONG)
        order.append(number)
        line.release()

    threads = []
    for number in range(8):
        threads.append(threading.Thread(target=write, args=(number,)))
        threads[-1].start()
        wait_for(line, number + 1)
    line.release()
    for thread in threads:
        thread.join()
    assert order == list(range(8))
    assert line.acquire(0)


def test_a_turn_that_ends_is_handed_over_and_cannot_be_snatched() -> None:
    line = WriteQueue()
    assert line.acquire(0)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(line.acquire, LONG)
        wait_for(line, 1)
        line.release()
        assert not line.acquire(0)
        assert waiting.result()


def test_who_gives_up_leaves_the_line() -> None:
    line = WriteQueue()
    assert line.acquire(0)
    assert not line.acquire(0.01)
    assert not line.acquire(0)
    line.release()
    assert line.acquire(0)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # fork beside threads
def test_a_child_process_begins_with_an_empty_line() -> None:
    assert queue_of("forked").acquire(0)
    if (child := os.fork()) == 0:
        os._exit(0 if queue_of("forked").acquire(0) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    queue_of("forked").release()


def line_of_the_database() -> WriteQueue:
    return queue_of(str(connection.settings_dict["NAME"]))


def raising() -> None:
    with transaction.atomic():
        Project.objects.create(slug="rolled-back", name="x")
        raise ZeroDivisionError


def in_a_transaction() -> None:
    with transaction.atomic():
        Project.objects.create(slug="kept", name="x")


def in_a_nested_one() -> None:
    with transaction.atomic(), transaction.atomic():
        Project.objects.create(slug="kept", name="x")


def in_one_statement() -> None:
    Project.objects.update(name="x")


def breaking_off() -> None:
    with transaction.atomic():
        connection.close()


@pytest.mark.sqlite
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "write",
    [raising, in_a_transaction, in_a_nested_one, in_one_statement, breaking_off],
)
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_turn_ends_with_its_transaction_however_that_ends(
    write: Callable[[], None],
) -> None:
    line = line_of_the_database()
    line.longest = 0
    try:
        write()
    except (ZeroDivisionError, OperationalError):
        pass
    except Exception as error:  # noqa: BLE001
        assert "closed" in str(error)
    assert line.longest > 0
    assert line.acquire(0)
    line.release()


@pytest.mark.sqlite
@pytest.mark.django_db(transaction=True)
def test_who_reads_takes_no_turn_and_who_may_leave_it_waits_for_none() -> None:
    line = line_of_the_database()
    assert line.acquire(0)
    try:
        assert Project.objects.count() == 0
        write_if_free(in_a_transaction)
        assert Project.objects.count() == 0
        with pytest.raises(OperationalError), nowait():
            in_one_statement()
    finally:
        line.release()
    write_if_free(in_a_transaction)
    assert Project.objects.count() == 1


@pytest.mark.sqlite
@pytest.mark.django_db(transaction=True)
def test_what_may_be_left_out_hides_no_bug() -> None:
    with pytest.raises(ZeroDivisionError):
        write_if_free(raising)
