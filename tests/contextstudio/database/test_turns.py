"""Writers of one process wait in a line; who comes first goes first, and nobody waits for ever."""

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import OperationalError, connection, transaction

from contextstudio.accounts.models import Project
from contextstudio.database.best_effort import write_if_free
from contextstudio.database.turns import Turns, impatient, turns_of

LONG = 60.0


def wait_for(line: Turns, count: int) -> None:
    """Wait until so many stand in line."""
    while len(line._waiting) < count:
        pass


def test_who_comes_first_goes_first() -> None:
    line, order = Turns(), list[int]()
    assert line.take(0)

    def write(number: int) -> None:
        assert line.take(LONG)
        order.append(number)
        line.give()

    threads = []
    for number in range(8):
        threads.append(threading.Thread(target=write, args=(number,)))
        threads[-1].start()
        wait_for(line, number + 1)
    line.give()
    for thread in threads:
        thread.join()
    assert order == list(range(8))
    assert line.take(0)


def test_a_turn_that_ends_is_handed_over_and_cannot_be_snatched() -> None:
    line = Turns()
    assert line.take(0)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(line.take, LONG)
        wait_for(line, 1)
        line.give()
        assert not line.take(0)
        assert waiting.result()


def test_who_gives_up_leaves_the_line() -> None:
    line = Turns()
    assert line.take(0)
    assert not line.take(0.01)
    assert not line.take(0)
    line.give()
    assert line.take(0)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # fork beside threads
def test_a_child_process_begins_with_an_empty_line() -> None:
    assert turns_of("forked").take(0)
    if (child := os.fork()) == 0:
        os._exit(0 if turns_of("forked").take(0) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    turns_of("forked").give()


def line_of_the_database() -> Turns:
    return turns_of(str(connection.settings_dict["NAME"]))


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
    assert line.take(0)
    line.give()


@pytest.mark.sqlite
@pytest.mark.django_db(transaction=True)
def test_who_reads_takes_no_turn_and_who_may_leave_it_waits_for_none() -> None:
    line = line_of_the_database()
    assert line.take(0)
    try:
        assert Project.objects.count() == 0
        write_if_free(in_a_transaction)
        assert Project.objects.count() == 0
        with pytest.raises(OperationalError), impatient():
            in_one_statement()
    finally:
        line.give()
    write_if_free(in_a_transaction)
    assert Project.objects.count() == 1


@pytest.mark.sqlite
@pytest.mark.django_db(transaction=True)
def test_what_may_be_left_out_hides_no_bug() -> None:
    with pytest.raises(ZeroDivisionError):
        write_if_free(raising)
