"""What the log says of a request, and what it must not say."""

import io
import logging
import sys
from collections.abc import Iterator

import pytest
from django.test import Client

from contextstudio.accounts.credentials import generate_key
from contextstudio.accounts.models import User
from contextstudio.accounts.sign_in.links import create_sign_in_link
from contextstudio.web.log_lines import LineFormatter, WarnOnceAMinute

pytestmark = pytest.mark.django_db


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """What the handler of the settings writes meanwhile."""
    handlers = logging.getLogger("django").handlers
    (handler,) = [one for one in handlers if isinstance(one.formatter, LineFormatter)]
    assert isinstance(handler, logging.StreamHandler)
    stream = io.StringIO()
    before = handler.setStream(stream)
    yield stream
    handler.setStream(before or sys.stderr)


def test_a_link_that_was_not_used_is_not_in_the_log(
    owner: User, written: io.StringIO
) -> None:
    token = create_sign_in_link(owner)
    browser = Client(enforce_csrf_checks=True)
    assert browser.post(f"/sign-in/{token}").status_code == 403
    assert browser.post(f"/sign-in/invitation/{token}").status_code == 403
    said = written.getvalue()
    assert said.count("/sign-in/…") == 1 and said.count("/invitation/…") == 1
    assert token not in said


def test_a_fault_whose_traceback_holds_a_key_is_written_without_it(
    written: io.StringIO,
) -> None:
    key, prefix = generate_key()
    try:
        raise RuntimeError(f"Bearer {key}")
    except RuntimeError:
        logging.getLogger("django.request").exception("Fault with %s", key)
    said = written.getvalue()
    assert "Traceback" in said and said.count(f"{prefix}_…") == 2
    assert key not in said


def test_a_warning_is_written_once_a_minute(written: io.StringIO) -> None:
    """A thread that finds no database tries again every few seconds, and its pool, too."""
    pool = logging.getLogger("psycopg.pool")
    for _ in range(3):
        pool.warning("error connecting in '%s'", "one")
        pool.warning("error connecting in '%s'", "two")
        pool.error("closing the pool")
    said = written.getvalue()
    assert [said.count(words) for words in ("'one'", "'two'", "closing")] == [1, 1, 3]
    once = WarnOnceAMinute()
    record = pool.makeRecord(pool.name, logging.WARNING, "", 0, "Away.", (), None)
    assert once.filter(record)
    record.created += WarnOnceAMinute.SECONDS - 1
    assert not once.filter(record)
    record.created += 1
    assert once.filter(record)
