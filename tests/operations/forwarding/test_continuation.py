"""The turns of a loop answer, byte for byte, as if each request were the first."""

import json
import math
import random
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from django.test import Client

from operations.domain.context.portions import request as portions
from operations.domain.forwarding.alignment import Unit, UnitCounts
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import original_number
from operations.forwarding import before_lock, outbound
from operations.forwarding.sent.reading import load_sent
from operations.log.cache import PROCESS_MEMORY, forget_everything
from operations.messages import reader
from operations.models import LogEntry
from tests.operations.support.rest import get, make_session, operate, post, put, said
from threads.models import Session
from threads.store.originals import Original, load_recorded_at

TURNS = 14


@pytest.fixture(autouse=True)
def memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(portions, "MIN_MESSAGES", 2)
    monkeypatch.setattr(portions, "MIN_PLAIN_LENGTH", 4)
    monkeypatch.setattr(outbound, "_BLOCK", 3)
    forget_everything()
    yield
    forget_everything()


class Twins:
    """Two sessions that are sent the same: one is remembered, the other never.

    The first is served by several processes in turn, each of which remembers for itself. Of its
    requests all is worked out before the session is locked, of the other's nothing.
    """

    def __init__(
        self,
        agent: Client,
        committing: Any,
        workers: int,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        self._agent, self._committing = agent, committing
        self._monkeypatch = monkeypatch
        self._memories: list[dict[Any, Any]] = [{} for _ in range(workers)]
        self.ids = [make_session(agent, []) for _ in range(2)]

    def send(self, body: dict[str, Any]) -> int:
        """The status of both answers, which say the same."""
        sent = json.dumps(body).encode()
        PROCESS_MEMORY.held.update(self._memories.pop(0))
        self._monkeypatch.setattr(before_lock, "LONG", 0)
        remembered = self._answer(self.ids[0], sent)
        self._memories.append(dict(PROCESS_MEMORY.held))
        forget_everything()
        self._monkeypatch.setattr(before_lock, "LONG", math.inf)
        fresh = self._answer(self.ids[1], sent)
        forget_everything()
        assert remembered == fresh
        return int(remembered[0])

    def act(self, kind: str, **arguments: Any) -> None:
        """Record an edit in both, or be refused in both."""
        statuses = set()
        for session_id in self.ids:
            path = f"/api/sessions/{session_id}/operations"
            edit = json.dumps({"type": kind, **arguments})
            with self._committing(execute=True):
                answer = self._agent.post(path, edit, "application/json")
            statuses.add(answer.status_code)
        assert statuses in ({201}, {409}, {422})

    def change(self, rng: random.Random) -> None:
        """Switch an operation that both have, or let one say something else."""
        listed = [
            get(self._agent, f"/api/sessions/{one}/operations")["operations"]
            for one in self.ids
        ]
        if not listed[0]:
            return
        place, is_switched = rng.randrange(len(listed[0])), rng.random() < 0.7
        body = {"active": rng.random() < 0.5}
        if not is_switched:
            body = {"summary": f"Amended {rng.random()}."}
        statuses = set()
        for found in listed:
            what = "toggle" if is_switched else "amend"
            path = f"/api/operations/{found[place]['id']}/{what}"
            with self._committing(execute=True):
                answer = self._agent.post(path, json.dumps(body), "application/json")
            statuses.add(answer.status_code)
        assert statuses in ({200}, {409}, {422})

    def policy(self, policy: dict[str, Any]) -> None:
        for session_id in self.ids:
            put(self._agent, f"/api/sessions/{session_id}/policy", {"policy": policy})

    def _answer(self, session_id: str, body: bytes) -> tuple[Any, ...]:
        path = f"/api/sessions/{session_id}/apply"
        with self._committing(execute=True):
            answer = self._agent.post(path, body, "application/json")
        told = answer.json()
        messages, _, _ = answer.content.partition(b'],"applied":')
        beside = ("system", "issues", "steps", "tokens", "message_count", "detail")
        last = self._requests(session_id)
        return (
            answer.status_code,
            messages if answer.status_code == 200 else b"",
            {name: told.get(name) for name in beside},
            self._keys(session_id, told.get("applied", ())),
            self._keys(session_id, (one["id"] for one in told.get("suspended", ()))),
            last,
        )

    def _keys(self, session_id: str, ids: Iterable[str]) -> list[int]:
        """The numbers of operations, which both sessions have alike."""
        rows = LogEntry.objects.filter(session=session_id).values_list("id", "number")
        numbers = {str(id_): number for id_, number in rows}
        return [numbers[one] for one in ids]

    def _requests(self, session_id: str) -> Any:
        """What is kept of the last request: its figures, and what was sent."""
        found = self._agent.get(f"/api/sessions/{session_id}/requests?limit=1").json()
        drop = ("id", "created_at", "prepared_ms", "session_id")
        for one in found["items"]:
            sent = load_sent(Session.objects.get(pk=session_id), one["number"])
            tokens = sum(sent.facts[number].tokens for number in sent.messages)
            assert tokens == one["tokens"]["after"]
        return [
            {k: v for k, v in one.items() if k not in drop} for one in found["items"]
        ]


def openai(rng: random.Random, place: int) -> list[dict[str, Any]]:
    """A turn: a question and an answer, or calls and what they bring."""
    words = f"Word {place}. " * rng.randint(1, 30)
    if rng.random() < 0.4:
        return [
            {"role": "user", "content": words},
            {"role": "assistant", "content": f"Said {place}."},
        ]
    ids = [f"c{place}{k}" for k in range(rng.randint(1, 2))]
    calls = [
        {"id": i, "type": "function", "function": {"name": "look", "arguments": "{}"}}
        for i in ids
    ]
    said: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": calls}
    results = [{"role": "tool", "tool_call_id": i, "content": words * 20} for i in ids]
    return [said, *results]


def anthropic(rng: random.Random, place: int) -> list[dict[str, Any]]:
    words = f"Word {place}. " * rng.randint(1, 30)
    thinking = {"type": "thinking", "thinking": words, "signature": "c2ln"}
    if rng.random() < 0.4:
        answer = [thinking, {"type": "text", "text": f"Said {place}."}]
        return [
            {"role": "user", "content": words},
            {"role": "assistant", "content": answer},
        ]
    use = {"type": "tool_use", "id": f"c{place}", "name": "look", "input": {}}
    seen = {"type": "tool_result", "tool_use_id": f"c{place}", "content": words * 20}
    return [
        {"role": "assistant", "content": [thinking, use]},
        {"role": "user", "content": [seen]},
    ]


POLICIES: list[dict[str, Any]] = [
    {},
    {"preset": "slop", "window": 3},
    {"truncation": {"inactive": 60}, "markers": True},
    {"window": 2, "isolation": True},
]


@pytest.mark.parametrize("seed", range(16))
def test_a_loop_answers_as_if_each_request_were_the_first(
    agent: Client,
    django_capture_on_commit_callbacks: Any,
    monkeypatch: pytest.MonkeyPatch,
    seed: int,
) -> None:
    rng = random.Random(seed)
    committing, workers = django_capture_on_commit_callbacks, 1 + seed // 2 % 3
    twins = Twins(agent, committing, workers, monkeypatch)
    turn = openai if seed % 2 else anthropic
    body: dict[str, Any] = {"format": turn.__name__, "messages": []}
    if not seed % 2:
        body["system"] = "Be brief."
    messages: list[Any] = [{"role": "user", "content": "Begin."}]
    for number in range(TURNS):
        for _ in range(rng.randint(1, 2)):
            messages += turn(rng, 10 * number + len(messages) * 1_000)
        change(rng, twins, messages, number)
        if rng.random() < 0.1:
            body["model"] = f"model-{number}"
        assert twins.send(body | {"messages": messages}) == 200
        if rng.random() < 0.2:
            assert twins.send(body | {"messages": messages}) == 200


def change(rng: random.Random, twins: Twins, messages: list[Any], number: int) -> None:
    """Perhaps an edit of what was sent before, another policy, or a client's own edit."""
    what = rng.random()
    held = 2 * number
    if what < 0.45 and held > 4:
        edit(rng, twins, number)
    elif what < 0.5 and held > 4:
        twins.act("redact", patterns=[{"start": f"Word {held}", "all": True}])
    elif what < 0.7:
        twins.change(rng)
    elif what < 0.8:
        twins.policy(rng.choice(POLICIES))
    elif what < 0.85 and len(messages) > 6:
        del messages[-1]
    elif what < 0.9 and len(messages) > 6:
        messages[3] = messages[3] | {"content": f"Edited {number}."}


def edit(rng: random.Random, twins: Twins, number: int) -> None:
    """An edit of what was sent before."""
    held = 2 * number
    first = rng.randrange(1, held - 1)
    last = min(held - 1, first + rng.randrange(3))
    made = {"role": "assistant", "content": f"Made {number}."}
    kind, arguments = rng.choice(
        (
            ("snip", {"range": [first, first]}),
            ("digest", {"range": [first, first], "summary": f"Sum {number}."}),
            ("revise", {"range": [first, first], "replacements": [made]}),
            ("insert", {"after": f"m{first}", "messages": [made]}),
            ("resequence", {"order": [f"m{last}", f"m{first}"]}),
        )
    )
    twins.act(kind, **arguments)


def indexes_read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The originals that are read from now on, by their indexes."""
    asked: list[int] = []

    def read(session: Session, indexes: Iterable[int]) -> dict[int, Original]:
        asked.extend(wanted := [*indexes])
        return load_recorded_at(session, wanted)

    monkeypatch.setattr(reader, "load_recorded_at", read)
    return asked


def test_the_first_operation_reads_only_what_it_touches(
    agent: Client,
    django_capture_on_commit_callbacks: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    committing = django_capture_on_commit_callbacks
    messages = said(90)
    session_id = make_session(agent, [])
    path = f"/api/sessions/{session_id}/apply"
    monkeypatch.setattr(reader, "FEW", 20)
    with committing(execute=True):
        post(agent, path, {"messages": messages[:88]})
    asked = indexes_read(monkeypatch)
    with committing(execute=True):
        operate(agent, session_id, "digest", targets=["m40", "m41"], summary="Sum")
        asked.clear()
        answer = post(agent, path, {"messages": messages})
    assert answer["messages"][:40] == messages[:40]
    assert answer["messages"][-48:] == messages[42:]
    assert 0 < len({*asked}) < 20


def test_an_operation_after_a_long_first_request_reads_only_what_it_touches(
    agent: Client,
    django_capture_on_commit_callbacks: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    committing = django_capture_on_commit_callbacks
    messages = [one | {"content": one["content"] * 100} for one in said(92)]
    assert len(json.dumps(messages)) > before_lock.LONG
    session_id = make_session(agent, messages[:88])
    operate(agent, session_id, "digest", targets=["m10"], summary="Sum")
    path = f"/api/sessions/{session_id}/apply"
    monkeypatch.setattr(reader, "FEW", 20)
    for count in (88, 90):
        with committing(execute=True):
            post(agent, path, {"messages": messages[:count]})
    asked = indexes_read(monkeypatch)
    with committing(execute=True):
        operate(agent, session_id, "digest", targets=["m40"], summary="Sum")
        asked.clear()
        post(agent, path, {"messages": messages})
    assert 0 < len({*asked}) < 20


def test_the_result_that_a_call_lacks_is_found_without_reading_what_follows_it(
    agent: Client,
    django_capture_on_commit_callbacks: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    committing = django_capture_on_commit_callbacks
    function = {"name": "look", "arguments": "{}"}
    call = {"id": "call_1", "type": "function", "function": function}
    asking = {"role": "assistant", "content": None, "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": "call_1", "content": "Found."}
    messages = [*said(40), said(1)[0], asking, result, *said(40)[1:], *said(2)]
    session_id = make_session(agent, [])
    path = f"/api/sessions/{session_id}/apply"
    monkeypatch.setattr(reader, "FEW", 20)
    with committing(execute=True):
        post(agent, path, {"messages": messages[:-2]})
        operate(agent, session_id, "snip", targets=["m42"])
    asked = indexes_read(monkeypatch)
    with committing(execute=True):
        answer = post(agent, path, {"messages": messages})
    assert "o1" in answer["messages"][42]["content"]
    assert {*asked}.isdisjoint(range(50, 70))


def test_a_turn_that_no_memo_may_go_with_reads_no_original(
    agent: Client,
    django_capture_on_commit_callbacks: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    committing = django_capture_on_commit_callbacks
    messages = said(12)
    session_id = make_session(agent, [])
    path = f"/api/sessions/{session_id}/apply"
    with committing(execute=True):
        post(agent, path, {"messages": messages[:10]})
    asked = indexes_read(monkeypatch)
    with committing(execute=True):
        post(agent, path, {"messages": messages})
    assert not asked
    get(agent, f"/api/sessions/{session_id}/context")
    assert asked


def test_a_turn_that_passes_looks_at_its_new_messages_alone(
    agent: Client,
    django_capture_on_commit_callbacks: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    committing = django_capture_on_commit_callbacks
    messages = said(14)
    session_id = make_session(agent, [])
    path = f"/api/sessions/{session_id}/apply"
    monkeypatch.setattr(outbound, "_BLOCK", 8)
    with committing(execute=True):
        post(agent, path, {"messages": messages[:10]})
    asked: list[str] = []

    def tokens(thread: Thread, key: str) -> int:
        asked.append(key)
        return thread.leaves[original_number(key) - 1].tokens

    monkeypatch.setattr(outbound, "_recorded_tokens", tokens)
    with committing(execute=True):
        post(agent, path, {"messages": messages[:12]})
        post(agent, path, {"messages": messages})
    assert sorted(asked) == ["m10", "m11", "m12", "m13"]


def test_a_turn_goes_through_none_of_what_was_aligned_before(
    agent: Client,
    django_capture_on_commit_callbacks: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    committing = django_capture_on_commit_callbacks
    messages = said(60)
    session_id = make_session(agent, [])
    path = f"/api/sessions/{session_id}/apply"
    with committing(execute=True):
        post(agent, path, {"messages": messages[:50]})
    counted: list[int] = []
    count = UnitCounts.extended

    def counting(self: UnitCounts, units: Iterable[Unit]) -> UnitCounts:
        found = [*units]
        counted.append(len(found))
        return count(self, found)

    monkeypatch.setattr(UnitCounts, "extended", counting)
    with committing(execute=True):
        post(agent, path, {"messages": messages})
    assert sum(counted) == 10
