"""What must hold for every log through REST and the database.

The same log is sent as a client would send it, and replayed by the domain alone; on SQLite
and on PostgreSQL, wherever these tests run. An entry that a door refuses leaves no trace.
"""

import json
import subprocess
import sys
from typing import Any
from uuid import UUID

import pytest
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from operations.domain.log.log import fold
from operations.domain.thread.replay import replay
from operations.domain.thread.thread import Thread
from operations.domain.tree.leaf import Leaf
from operations.log.cache import forget_everything
from operations.log.selectors import load_history, load_leaves, load_thread
from tests.operations.support.builders import picture, shape
from tests.operations.support.rest import keys, make_session, thread
from tests.servers import PATIENCE_SECONDS, ROOT, environment, url_of_test_database
from threads.models import Session

COUNT = 9
FEW = settings(
    max_examples=20,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

indexes = st.integers(0, COUNT - 1)
ranges = st.tuples(indexes, indexes).map(sorted)
said = [{"role": "user", "content": "said"}]
conditions = st.sampled_from([{}, {}, {"tags": ["lean"]}])
edits = st.one_of(
    ranges.map(lambda both: {"type": "digest", "range": both, "summary": "Sum"}),
    ranges.map(lambda both: {"type": "snip", "range": both}),
    ranges.map(lambda both: {"type": "revise", "range": both, "replacements": said}),
    ranges.map(lambda both: {"type": "tag", "range": both, "tags": ["seen"]}),
    st.integers(-1, COUNT - 1).map(
        lambda index: {"type": "insert", "after_idx": index, "messages": said * 2}
    ),
    st.lists(indexes, min_size=2, max_size=4, unique=True).map(
        lambda order: {"type": "resequence", "new_order": order}
    ),
    indexes.map(lambda i: {"type": "condense", "target": f"m{i}", "text": "short"}),
)
steps = st.one_of(
    st.tuples(st.just("edit"), edits, st.booleans(), conditions),
    st.tuples(st.just("edit"), edits, st.booleans(), conditions),
    st.tuples(st.just("toggle"), st.integers(0, 9), st.booleans()),
    st.tuples(
        st.sampled_from(["revert", "accept", "reject"]), st.integers(0, 9), st.just(0)
    ),
    st.tuples(st.sampled_from(["undo", "redo"]), st.just(0), st.just(0)),
    st.tuples(st.just("tags"), st.sampled_from([[], ["lean"]]), st.just(0)),
)
logs = st.lists(steps, min_size=1, max_size=12)


class Sender:
    """Sends the steps of a log; what may be refused is refused."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.session_id = make_session(client, COUNT)
        self.operations: list[str] = []

    def send(self, step: tuple[Any, ...]) -> None:
        session = f"/api/sessions/{self.session_id}"
        match step:
            case "edit", body, proposed, condition:
                if body["type"] == "tag":
                    condition = {}
                body = body | condition | {"propose": proposed}
                answer = self._post(f"{session}/operations", body)
                if "operation_id" in answer:
                    self.operations.append(answer["operation_id"])
            case ("undo" | "redo") as verb, _, _:
                self._post(f"{session}/{verb}", {})
            case "tags", tags, _:
                body = {"session_id": self.session_id, "tags": tags}
                self._post("/api/tools/set_active_tags", body)
            case verb, place, active if place < len(self.operations):
                body = {"active": active} if verb == "toggle" else {}
                address = f"/api/operations/{self.operations[place]}/{verb}"
                self._post(address, body)

    def _post(self, path: str, body: Any) -> Any:
        answer = self.client.post(path, body, "application/json")
        assert answer.status_code in (200, 201, 409), (path, body, answer.content)
        return answer.json()


def session_of(sender: Sender) -> Session:
    return Session.objects.get(pk=UUID(sender.session_id))


def by_the_domain_alone(session: Session) -> Thread:
    """The thread of the entries in the database, folded and replayed from nothing."""
    leaves = [Leaf(*leaf) for leaf in load_leaves(session)]
    return replay(leaves, fold(load_history(session).log.entries))


def recorded(agent: Client, log: list[Any]) -> Sender:
    sender = Sender(agent)
    for step in log:
        sender.send(step)
    return sender


@FEW
@given(logs)
def test_a_log_sent_through_rest_makes_the_thread_that_the_domain_makes(
    agent: Client, log: list[Any]
) -> None:
    sender = recorded(agent, log)
    session = session_of(sender)
    expected = by_the_domain_alone(session)
    assert keys(agent, sender.session_id) == expected.keys
    shown = [message.key for message in expected.effective()]
    assert keys(agent, sender.session_id, view="effective") == shown
    answer = thread(agent, sender.session_id)
    assert answer["tokens"]["effective"] == expected.tokens.effective
    assert [operation["status"] for operation in answer["operations"]] == [
        report.status for report in expected.reports
    ]


@FEW
@given(logs)
def test_a_log_read_back_from_the_database_makes_the_same_thread(
    agent: Client, log: list[Any]
) -> None:
    session = session_of(recorded(agent, log))
    before = picture(load_thread(session))
    forget_everything()
    assert picture(load_thread(session)) == before


@FEW
@given(logs)
def test_reverting_everything_gives_the_originals(
    agent: Client, log: list[Any]
) -> None:
    sender = recorded(agent, log)
    for place in range(len(sender.operations)):
        sender.send(("revert", place, 0))
    assert keys(agent, sender.session_id) == [f"m{index}" for index in range(COUNT)]


@FEW
@given(logs, st.integers(0, 9))
def test_off_and_on_revert_and_restore_undo_and_redo_change_nothing(
    agent: Client, log: list[Any], chosen: int
) -> None:
    sender = recorded(agent, log)
    before = keys(agent, sender.session_id)
    listed = thread(agent, sender.session_id)["operations"]
    if chosen < len(listed) and listed[chosen]["status"] not in (
        *("off", "reverted", "proposed", "rejected"),
    ):
        for first in (("toggle", chosen, False), ("revert", chosen, 0)):
            sender.send(first)
            sender.send(("toggle", chosen, True))
            assert keys(agent, sender.session_id) == before
    sender.send(("edit", {"type": "tag", "range": [0, 0], "tags": ["x"]}, False, {}))
    tagged = shape(load_thread(session_of(sender)))
    sender.send(("undo", 0, 0))
    sender.send(("redo", 0, 0))
    assert shape(load_thread(session_of(sender))) == tagged


@FEW
@given(logs)
def test_every_original_is_in_the_tree_exactly_once(
    agent: Client, log: list[Any]
) -> None:
    session = session_of(recorded(agent, log))
    found = load_thread(session)
    leaves = [leaf for key in found.keys for leaf in found.leaf_keys(key)]
    originals = sorted(leaf for leaf in leaves if leaf.startswith("m"))
    assert originals == sorted(f"m{index}" for index in range(COUNT))


IN_ANOTHER_PROCESS = """
import json, sys
import django
django.setup()
from operations.log.selectors import load_thread
from threads.models import Session
thread = load_thread(Session.objects.get(pk=sys.argv[1]))
print(json.dumps([thread.keys, [message.key for message in thread.effective()]]))
"""


@pytest.mark.django_db(transaction=True)
def test_another_process_makes_the_same_thread(agent: Client) -> None:
    sender = Sender(agent)
    session_id = sender.session_id
    for step in (
        ("edit", {"type": "revise", "range": [3, 4], "replacements": said}, False, {}),
        ("edit", {"type": "digest", "range": [2, 6], "summary": "\ud800"}, False, {}),
        ("edit", {"type": "insert", "after_idx": 4, "messages": said}, False, {}),
        ("edit", {"type": "resequence", "new_order": [8, 0]}, False, {}),
        ("toggle", 0, False),
    ):
        sender.send(step)
    expected = [keys(agent, session_id), keys(agent, session_id, view="effective")]
    done = subprocess.run(
        [sys.executable, "-c", IN_ANOTHER_PROCESS, session_id],
        cwd=ROOT,
        env=environment(
            DATABASE_URL=url_of_test_database(),
            DJANGO_SETTINGS_MODULE="contextstudio.settings",
        ),
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == expected
