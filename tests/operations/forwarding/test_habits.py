"""What clients do to their history, with thirty operations on it: none is lost, nothing leaks."""

import json
import re
from random import Random
from typing import Any

import pytest
from django.test import Client

from tests.operations.support.rest import get, make_session, post

from .habits import HabitualClient

pytestmark = pytest.mark.sqlite
"""No database changes how requests are aligned."""

OPERATIONS = 30
HABITS = [
    "grow",
    "grow",
    "regenerate",
    "grow",
    "compact",
    "grow",
    "undo_and_retry",
    "grow",
    "edit_inside",
    "grow",
    "cut_head",
    "grow",
    "change_prompt",
    "compact",
    "grow",
]
MEMBERS: dict[str, dict[str, Any]] = {
    "snip": {},
    "digest": {"summary": "What was done."},
    "tag": {"tags": ["done"]},
    "revise": {"replacements": [{"role": "user", "content": "In other words."}]},
    "condense": {"text": "Short."},
}
KINDS = ["snip", "digest", "tag", "insert", "redact", "replace", "revise", "condense"]


class Watched:
    """A session that a client with habits works in, and what is to be true of it."""

    def __init__(self, agent: Client, format_: str, seed: int) -> None:
        self.agent, self.random = agent, Random(seed)
        self.client = HabitualClient(format_, self.random)
        self.id = make_session(agent, [])
        self.path = f"/api/sessions/{self.id}"
        self.recorded: dict[str, dict[str, Any]] = {}
        """What each operation was recorded with, by its id."""
        self.secrets: set[str] = set()
        self.refused = b""

    def send(self, **members: Any) -> Any:
        answer = post(self.agent, f"{self.path}/apply", self.client.body() | members)
        assert answer["session_id"] == self.id
        return answer

    def sum_up(self) -> None:
        """The model is asked for a summary; its reply is recorded as the proxy does."""
        self.client.ask()
        self.check(self.send())
        reply = {"role": "assistant", "content": self.client.summary()}
        post(self.agent, f"{self.path}/messages", {"messages": [reply]}, expect=201)

    @property
    def originals(self) -> dict[str, str]:
        """The key of each original, by its word."""
        items = get(self.agent, f"{self.path}/messages")["items"]
        found = {}
        for item in items:
            if words := re.findall(r"w\d{3}", json.dumps(item["parts"])):
                found.setdefault(words[-1], item["key"])
        return found

    def operate(self) -> bool:
        """Record some operation on what the client sends; whether it could be."""
        kind = self.random.choice(KINDS)
        turns = self.client.ever
        first = self.random.randrange(len(turns))
        texts = [
            one["text"] for one in turns[first : first + self.random.randint(1, 4)]
        ]
        known = self.originals
        targets = [known[text.split()[0]] for text in texts]
        secret = ""
        if kind in ("redact", "replace"):
            if "key=" not in texts[0]:
                return False
            secret = texts[0].split()[1].removeprefix("key=")
            start = texts[0].index(secret)
            span = {"key": targets[0], "start": start, "end": start + len(secret)}
            told = {"replacement": "(a key)"} if kind == "replace" else {}
            body: dict[str, Any] = {"type": kind, "spans": [span | told]}
        elif kind == "insert":
            message = {"role": "user", "content": "Mind the gap."}
            body = {"type": kind, "after": targets[-1], "messages": [message]}
        else:
            named = (
                {"target": targets[0]} if kind == "condense" else {"targets": targets}
            )
            body = {"type": kind, **named, **MEMBERS[kind]}
        answer = self.agent.post(
            f"{self.path}/operations", body, content_type="application/json"
        )
        if answer.status_code != 201:
            assert answer.status_code in (409, 422), answer.content
            self.refused = answer.content
            return False
        made = answer.json()
        self.recorded[made["operation_id"]] = {**body, "made": made["status"]}
        if kind == "redact":
            self.secrets.add(secret)
        return True

    def check(self, answer: Any) -> None:
        """No operation is lost, none acts on what isn't there, and nothing leaks."""
        operations = get(self.agent, f"{self.path}/operations")["operations"]
        by_id = {one["id"]: one for one in operations}
        suspended = {one["id"]: one["reason"] for one in answer["suspended"]}
        known = self.originals
        sent = {known[word] for word in self.client.sent_words if word in known}
        out = json.dumps([answer["messages"], answer.get("system")])
        snipped: set[str] = set()
        for id_, body in self.recorded.items():
            one = by_id[id_]
            keys = body.get("targets") or [body.get("after") or body.get("target")]
            if spans := body.get("spans"):
                keys = [span["key"] for span in spans]
            if sent.isdisjoint(keys):
                assert one["status"] == "suspended", (one, keys)
                assert suspended[id_] == one["reason"] != ""
            else:
                assert one["status"] == body["made"], (one, keys)
                assert (id_ in answer["applied"]) is (one["status"] == "applied")
            if body["type"] in ("snip", "digest", "revise", "condense"):
                snipped |= sent.intersection(keys)
        words = {key: word for word, key in known.items()}
        said = re.sub(r"call-w\d{3}", "", out)  # a condensed call keeps its id
        assert not [words[key] for key in snipped if words[key] in said]
        assert not [secret for secret in self.secrets if secret in out]


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("format_", ["openai", "anthropic"])
def test_no_operation_is_lost_and_nothing_leaks_whatever_the_client_does(
    agent: Client, format_: str, seed: int
) -> None:
    watched = Watched(agent, format_, seed)
    client = watched.client
    for _ in range(8):
        client.grow()
        watched.send()
    client.ever = [*client.history]
    tries = 0
    while len(watched.recorded) < OPERATIONS:
        watched.operate()
        tries += 1
        assert tries < 400, watched.refused
    watched.check(watched.send())
    for habit in HABITS:
        if habit == "compact":
            watched.sum_up()
        getattr(client, habit)()
        head = get(agent, watched.path)["head"]
        watched.check(watched.send())
        again = watched.send()
        watched.check(again)
        assert get(agent, watched.path)["head"] - head <= 6
    client.restore()
    answer = watched.send()
    watched.check(answer)
    assert answer["suspended"] == []
    rows = get(agent, f"{watched.path}/requests")["items"]
    decisions = {row["decision"] for row in rows}
    assert {"first", "extended", "compacted", "regenerated", "edited"} <= decisions
    assert all(row["sentence"] for row in rows)


@pytest.mark.parametrize("format_", ["openai", "anthropic"])
def test_side_calls_and_sub_agents_get_sessions_of_their_own(
    agent: Client, format_: str
) -> None:
    watched = Watched(agent, format_, 3)
    tools = {"tools": [{"type": "function", "function": {"name": "look"}}]}
    for _ in range(2):
        watched.client.grow()
        watched.send(**tools)
    helpers = [HabitualClient(format_, watched.random) for _ in range(2)]
    for n, helper in enumerate(helpers):
        helper.prompt = f"You are helper {n}.\nYou look for things and report them."
        helper.words = 500 + 100 * n
    found: list[set[str]] = [set(), set()]
    for _ in range(3):
        for n, helper in enumerate(helpers):  # in turn, as those that run side by side
            helper.grow()
            answer = post(agent, f"{watched.path}/apply", helper.body() | tools)
            found[n].add(answer["session_id"])
        watched.client.grow()
        watched.send(**tools)
    assert [len(one) for one in found] == [1, 1]
    assert len(set.union(*found, {watched.id})) == 3
    question = watched.client.history[0]["text"]
    title = {
        "messages": [
            {"role": "system", "content": "You write titles of conversations."},
            {"role": "user", "content": f"A title for this: {question}"},
        ]
    }
    named = post(agent, f"{watched.path}/apply", title)
    assert named["session_id"] not in {watched.id, *found[0], *found[1]}
    assert named["messages"] == title["messages"]
    (row,) = get(agent, f"/api/sessions/{named['session_id']}/requests")["items"]
    assert row["decision"] == "linked"
    page = agent.get(f"/sessions/{watched.id}/")
    for word in ("Sub-agents", "Side calls"):
        assert word in page.content.decode()
    dry = post(agent, f"{watched.path}/apply", title | {"append": False})
    assert dry["messages"] == title["messages"]
    assert dry["session_id"] == named["session_id"]
