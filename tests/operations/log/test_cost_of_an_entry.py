"""What is done to a log of 100,000 entries costs what it changes, not what is there.

Work is counted in calls: of functions in Python and in C, each step of a generator among them.
"""

import sys
from collections.abc import Callable
from functools import cache
from itertools import islice
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import slipcover.probe
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from contextstudio.accounts.models import User
from operations.domain.log.operation import Edit, Insert, Snip, Tag
from operations.domain.tree.leaf import MadeMessage
from operations.log.cache import forget_everything
from operations.log.codec import encode
from operations.models import LogEntry
from tests.operations.conftest import Page
from tests.operations.support.rest import get, make_session, operate, post
from threads.domain.part import Text
from threads.models import Session

pytestmark = pytest.mark.sqlite
"""Calls of functions are counted, and the number of queries: the same on each database."""

MAX_RATIO = 3 if sys.version_info < (3, 14) else 4
"""Times as many calls. The maps of newer Pythons are read by functions of Python."""
ENTRIES = 100_000
MESSAGES = 400


def edit(number: int) -> Edit:
    """Mostly tags, some inserts, and snips of single messages."""
    key = f"m{number * 7 % (MESSAGES - 20)}"
    if number % 50 == 0:
        return Insert(
            after=key, messages=(MadeMessage("user", (Text("Mind this."),), 3),)
        )
    if number % 50 == 1 and number < 5_000:
        return Snip(targets=(f"m{number // 50}",))
    return Tag(targets=(key,), tags=(f"tag-{number % 7}",))


def fill(session_id: str) -> None:
    now = timezone.now()
    said = (encode(edit(number)) for number in range(1, ENTRIES + 1))
    rows = (
        LogEntry(
            session_id=session_id,
            number=number,
            kind=kind,
            payload=payload,
            actor="system",
            actor_name="A test",
            created_at=now,
        )
        for number, (kind, payload) in enumerate(said, start=1)
    )
    while some := list(islice(rows, 5_000)):
        LogEntry.objects.bulk_create(some)
    Session.objects.filter(pk=session_id).update(head=ENTRIES)


MEASURING = Path(slipcover.__file__).parent
"""What measures which lines are run makes calls of its own, and more of them in a longer act."""


class Work:
    """Calls and queries."""

    def __init__(self, run: Callable[[], Any]) -> None:
        self.calls = 0
        self._measuring = 0
        with CaptureQueriesContext(connection) as queries:
            sys.setprofile(self._count)
            try:
                run()
            finally:
                sys.setprofile(None)
        self.queries = len(queries)

    def _count(self, frame: FrameType, event: str, argument: object) -> None:
        """Count a call, but none of measuring."""
        if event in ("call", "return") and is_measuring(frame.f_code.co_filename):
            self._measuring += 1 if event == "call" else -1
        elif not self._measuring and argument is not slipcover.probe.signal:
            self.calls += event in ("call", "c_call")


@cache
def is_measuring(file: str) -> bool:
    return MEASURING in Path(file).parents


def acts(agent: Client, session_id: str) -> dict[str, Callable[[], Any]]:
    """What is done, one after the other."""
    made: list[str] = []

    def edited(kind: str, **fields: Any) -> Callable[[], Any]:
        def run() -> None:
            answer = operate(agent, session_id, kind, **fields)
            made.append(answer["operation_id"])

        return run

    def switched(place: int, act: str, **body: Any) -> Callable[[], Any]:
        def run() -> None:
            post(agent, f"/api/operations/{made[place]}/{act}", body)

        return run

    path = f"/api/sessions/{session_id}"
    return {
        "a tag": edited("tag", range=[380, 383], tags=["seen"]),
        "a snip": edited("snip", range=[385, 386]),
        "a digest": edited("digest", targets=["m390", "m391"], summary="Short."),
        "an insert": edited(
            "insert", after="m395", messages=[{"role": "user", "content": "Mind it."}]
        ),
        "a proposal": edited("snip", range=[397, 397], propose=True),
        "accepting it": switched(-1, "accept"),
        "switching off": switched(1, "toggle", active=False),
        "switching on": switched(1, "toggle", active=True),
        "undo": lambda: post(agent, f"{path}/undo"),
        "redo": lambda: post(agent, f"{path}/redo"),
        "reverting": switched(0, "revert"),
        "a page of the thread": lambda: get(agent, f"{path}/thread", limit=50),
        "a page of operations": lambda: get(agent, f"{path}/operations", limit=50),
        "a page of the log": lambda: get(agent, f"{path}/log", limit=50),
    }


def edits_of(page: Page) -> dict[str, Callable[[], Any]]:
    """What is done on a page, one after the other."""
    return {
        "tagging": lambda: page.edit("tag", targets="m380", tags="seen"),
        "snipping": lambda: page.edit("snip", targets="m387 m388"),
        "putting off": lambda: page.post(f"operations/o{page.head}/off"),
        "undoing": lambda: page.post("undo"),
    }


def opened(session_id: str, user: User) -> Page:
    """A page that has been edited once, as it stands then."""
    client, session = Client(), Session.objects.get(pk=session_id)
    client.force_login(user)
    page = Page(client, session, head=session.head)
    assert page.edit("tag", targets="m1", tags="first").status_code == 200
    return page


@pytest.mark.django_db(transaction=True)
def test_an_entry_costs_as_much_on_a_long_log_as_on_an_empty_one(
    agent: Client, editor: User
) -> None:
    forget_everything()
    empty, full = make_session(agent, MESSAGES), make_session(agent, MESSAGES)
    fill(full)
    for session_id in (empty, full):  # a process reads a session once
        get(agent, f"/api/sessions/{session_id}/thread", limit=50)
        operate(agent, session_id, "tag", range=[1, 2], tags=["first"])
    answer = agent.get(f"/api/sessions/{full}/thread", {"limit": 50})
    assert len(answer.content) < 300_000
    assert answer.json()["operations_total"] == ENTRIES + 1
    short, long = acts(agent, empty), acts(agent, full)
    for name in short:
        alone, beside = Work(short[name]), Work(long[name])
        assert beside.queries <= alone.queries, name
        # A page shows more where there is more; it is as long as it may be here, and short there.
        most = 40 if name.startswith("a page") else MAX_RATIO
        assert beside.calls <= most * alone.calls, name
    short, long = (edits_of(opened(one, editor)) for one in (empty, full))
    for name in short:
        alone, beside = Work(short[name]), Work(long[name])
        assert beside.queries <= alone.queries, name
        # Beside what changed, the page shows the newest operations, and the thread from afar.
        assert beside.calls <= MAX_RATIO * alone.calls, name
