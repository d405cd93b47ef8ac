"""Recall is named only to a model that has it: one rule at every door."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest

from .conftest import Proxy

SMALL = "gpt-4"
"""A model whose window is soon too full."""
PATH = "/v1/chat/completions"
REFERENCE = "[recall:msg-00000000]"
LONG = "A line of what was seen. " * 100
pytestmark = pytest.mark.sqlite
"""What a model is told is the same on each database."""


class Kind(NamedTuple):
    """A client by what its model can do."""

    offered: str
    own: Sequence[str]
    recalls: bool

    @property
    def body(self) -> dict[str, Any]:
        """What its requests have besides messages."""
        tools = [
            {"type": "function", "function": {"name": name, "parameters": {}}}
            for name in self.own
        ]
        return {"model": SMALL} | ({"tools": tools} if tools else {})


KINDS = {
    "no tools": Kind("", [], recalls=False),
    "other tools": Kind("context", ["look"], recalls=False),
    "its own": Kind("", ["look", "mcp__studio__recall"], recalls=True),
    "injected": Kind("recall", ["look"], recalls=True),
}
kinds = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def called(id_: str, result: str) -> list[dict[str, Any]]:
    function = {"name": "look", "arguments": "{}"}
    call = {"id": id_, "type": "function", "function": function}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": id_, "content": result},
    ]


CONVERSATION = [
    {"role": "user", "content": "Look twice"},
    *called("call_0", LONG),
    *called("call_1", "What is left out"),
    {"role": "assistant", "content": "Words. " * 40},
    {"role": "user", "content": "Thanks"},
]


class Asked(NamedTuple):
    """What a provider was sent for a client's messages, and what it said."""

    sent: list[dict[str, Any]]
    reply: dict[str, Any]


def ask(proxy: Proxy, kind: Kind, said: list[dict[str, Any]]) -> Asked:
    headers = proxy.headers | {"X-ContextStudio-Tools": kind.offered}
    body = {"messages": said, **kind.body}
    answer = proxy.api.post(PATH, json=body, headers=headers)
    assert answer.status_code == 200, answer.text
    sent = proxy.provider.last.json["messages"]
    return Asked(sent, answer.json()["choices"][0]["message"])


def operated(proxy: Proxy, kind: Kind) -> tuple[str, list[dict[str, Any]]]:
    """A session in which everything that can name recall does, and what was said in it."""
    _, reply = ask(proxy, kind, CONVERSATION)
    session_id = proxy.session()["id"]
    policy = {"preset": "slop", "isolation": False, "truncation": {"recent": 100}}
    path = f"/api/sessions/{session_id}/policy"
    proxy.api.put(path, json={"policy": policy}).raise_for_status()
    proxy.operate(type="snip", targets=["m4"])
    text = f"📝 Words {REFERENCE}"
    proxy.operate(type="condense", target="m5", text=text)
    return session_id, [*CONVERSATION, reply, {"role": "user", "content": "And now?"}]


def texts(sent: list[dict[str, Any]]) -> str:
    return "\n".join(str(one["content"]) for one in sent)


@kinds
def test_the_proxy_names_recall_only_to_who_has_it(proxy: Proxy, kind: Kind) -> None:
    _, said = operated(proxy, kind)
    told = texts(ask(proxy, kind, said).sent)
    named = (REFERENCE, 'recall(ref_id="m2")', "recall(m4)", "whole with `recall`")
    assert [one in told for one in named] == [kind.recalls] * 4
    assert ("recall" in told) is kind.recalls
    assert "📝 Words" in told
    if not kind.recalls:
        assert "of 2,500 characters of this result left out]" in told
        assert "tokens was left out by o1.]" in told


@kinds
def test_all_doors_show_what_the_last_client_is_sent(proxy: Proxy, kind: Kind) -> None:
    session_id, said = operated(proxy, kind)
    sent, _ = ask(proxy, kind, said)
    path = f"/api/sessions/{session_id}"
    again = {"messages": said, "append": False, **kind.body}
    if kind.offered == "recall":
        again["tools"] = [*again["tools"], {"function": {"name": "recall"}}]
    applied = proxy.api.post(f"{path}/apply", json=again).raise_for_status().json()
    assert applied["messages"] == sent
    shown = proxy.api.get(f"{path}/context").raise_for_status().json()
    assert texts(shown["messages"][:-1]) == texts(sent)
    body = {"session_id": session_id, "max_tokens": 10**6}
    tool = proxy.api.post("/api/tools/show_context", json=body).raise_for_status()
    assert tool.json()["request"] == shown["request"]
    form = {"format": "openai", "view": "effective"}
    exported = proxy.api.get(f"{path}/export", params=form).raise_for_status()
    assert exported.json() == shown["request"]


def test_a_client_that_loses_the_tool_is_told_no_more_of_it(proxy: Proxy) -> None:
    before, after = KINDS["its own"], KINDS["other tools"]
    _, said = operated(proxy, before)
    with_it, reply = ask(proxy, before, said)
    assert "recall" in texts(with_it)
    further = [*said, reply, {"role": "user", "content": "Go on"}]
    assert "recall" not in texts(ask(proxy, after, further).sent)
    # What was kept for the one is not taken for the other, and is there again.
    assert texts(ask(proxy, before, further).sent).startswith(texts(with_it))


@kinds
def test_who_asks_for_the_context_can_say_it(proxy: Proxy, kind: Kind) -> None:
    session_id, _ = operated(proxy, kind)
    path = f"/api/sessions/{session_id}/context"
    for recall in (True, False):
        query = {"recall": json.dumps(recall)}
        shown = proxy.api.get(path, params=query).raise_for_status().json()
        assert ("recall" in json.dumps(shown["request"])) is recall


def test_an_answer_that_is_known_says_again_what_its_client_can(proxy: Proxy) -> None:
    session_id, said = operated(proxy, KINDS["no tools"])
    path = f"/api/sessions/{session_id}"
    body = {"messages": said}
    first = proxy.api.post(f"{path}/apply", json=body).raise_for_status()
    ask(proxy, KINDS["its own"], said)
    assert "recall" in proxy.api.get(f"{path}/context").text
    again = proxy.api.post(f"{path}/apply", json=body).raise_for_status()
    assert again.json()["messages"] == first.json()["messages"]
    shown = proxy.api.get(f"{path}/context").raise_for_status().json()
    assert "recall" not in json.dumps(shown["request"])


@kinds
def test_before_any_request_who_reads_here_can_recall(proxy: Proxy, kind: Kind) -> None:
    new = {"title": "Boats", "messages": CONVERSATION}
    path = f"/api/sessions/{proxy.api.post('/api/sessions', json=new).json()['id']}"
    policy = {"policy": {"preset": "slop"}}
    proxy.api.put(f"{path}/policy", json=policy).raise_for_status()
    shown = proxy.api.get(f"{path}/context").raise_for_status().json()
    assert "recall" in json.dumps(shown["request"])
    body = {"messages": CONVERSATION, **kind.body}
    applied = proxy.api.post(f"{path}/apply", json=body).raise_for_status().json()
    has_it = "mcp__studio__recall" in kind.own
    assert ("recall" in json.dumps(applied)) is has_it


@kinds
def test_lines_of_the_pruner_refer_to_what_can_be_recalled(
    proxy: Proxy, kind: Kind
) -> None:
    long = {"role": "assistant", "content": "Words and words. " * 2000}
    steps = [{"role": "assistant", "content": f"Step {number}"} for number in range(12)]
    said = [{"role": "user", "content": "Go on"}, long, *steps]
    ask(proxy, kind, said)
    path = f"/api/sessions/{proxy.session()['id']}/policy"
    policy = {"policy": {"preset": "nexora"}}
    proxy.api.put(path, json=policy).raise_for_status()
    again = [*said, {"role": "user", "content": "And now?"}]
    told = texts(ask(proxy, kind, again).sent)
    assert "📝 Words" in told
    assert ("[recall:" in told) is kind.recalls
    # The log keeps the reference, by which people find it and a purge knows the line.
    path = f"/api/sessions/{proxy.session()['id']}/thread"
    shown = proxy.api.get(path, params={"view": "effective"}).raise_for_status()
    assert "[recall:" in shown.text
