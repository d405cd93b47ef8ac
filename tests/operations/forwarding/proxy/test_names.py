"""Conversations that clients name, with the requests that agents send beside them."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.servers import PATIENCE_SECONDS, Server

from .conftest import Proxy
from .forms import MODEL, Said

LONG = "This is told at some length, so that it can be known again."
PROMPT = f"You are an agent that works on a repository of boats. {LONG}"
TITLES = "Write a title of at most six words for this session. Reply with it alone."
SEARCHER = "You search files for another agent and report what you have found there."
TOOLS = [{"name": "run", "input_schema": {"type": "object"}}]
CLAUDE, CODEX = "X-Claude-Code-Session-Id", "Session-Id"
Message = dict[str, Any]


class Claude:
    """A client that sends what Claude Code sends: all its requests under one name."""

    def __init__(self, proxy: Proxy, name: str, header: str = CLAUDE) -> None:
        self.proxy, self.said = proxy, list[Message]()
        self.key = proxy.key
        self.named = {header: name} if name else {}

    def ask(self, text: str) -> None:
        """A turn of the conversation."""
        self.said = self.goes_on(self.said, text, PROMPT)

    def goes_on(self, said: list[Message], text: str, prompt: str) -> list[Message]:
        """One of the conversations under the name, with its next turn."""
        said = [*said, {"role": "user", "content": text}]
        reply = self.send(said, prompt, tools=TOOLS)
        return [*said, {"role": "assistant", "content": reply["content"]}]

    def title(self, text: str) -> None:
        said = [{"role": "user", "content": f"<session>\n{text}\n</session>"}]
        self.send(said, TITLES)

    def probe(self) -> None:
        self.send([{"role": "user", "content": "quota"}], None, max_tokens=1)

    def send(self, said: list[Message], prompt: str | None, **more: Any) -> Any:
        body = {"model": MODEL, "max_tokens": 99, "messages": said, **more}
        if prompt:
            body["system"] = [{"type": "text", "text": prompt}]
        headers = {"Authorization": f"Bearer {self.key}"} | self.named
        url = f"{self.proxy.url}/v1/messages"
        reply = httpx.post(url, json=body, headers=headers, timeout=PATIENCE_SECONDS)
        return reply.raise_for_status().json()


def kin(proxy: Proxy) -> list[tuple[str | None, int]]:
    """What each session is to the conversation, with its messages; the oldest first."""
    found = sorted(proxy.sessions(), key=lambda one: one["created_at"])
    (own,) = [one["id"] for one in found if one["parent"] is None]
    assert {one["parent"] for one in found} <= {own, None}
    return [(one["relation"], one["message_count"]) for one in found]


@pytest.mark.parametrize("header", [CLAUDE, CODEX])
def test_titles_before_between_and_after_turns_are_side_calls_of_their_conversation(
    proxy: Proxy, header: str
) -> None:
    claude = Claude(proxy, "0b7c-boats", header)
    claude.probe()
    claude.title("How many boats are in?")
    claude.ask("How many boats are in?")
    claude.title("How many boats are in? And ferries?")
    claude.ask("And how many ferries?")
    claude.title("How many boats are in, and ferries, and yesterday?")
    claude.ask("And yesterday?")
    side = ("side_call", 3)
    assert kin(proxy) == [("side_call", 2), side, (None, 7), side, side]
    own = next(one for one in proxy.sessions() if one["parent"] is None)
    assert own["title"] == "How many boats are in?"
    assert proxy.provider.last.header(header.lower()) == "0b7c-boats"


def test_sub_agents_beside_each_other_are_sessions_of_the_conversation(
    proxy: Proxy,
) -> None:
    claude = Claude(proxy, "parallel")
    claude.ask("Look for boats in two places.")

    def work(place: str) -> list[Message]:
        said = claude.goes_on([], f"Search {place}.", SEARCHER)
        return claude.goes_on(said, f"Now search what is below {place}.", SEARCHER)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, ("the harbour", "the river")))
    claude.ask("And what is there?")
    assert kin(proxy) == [(None, 5), ("subagent", 5), ("subagent", 5)]


def test_requests_that_begin_at_once_are_of_one_conversation(proxy: Proxy) -> None:
    claude = Claude(proxy, "at-once")
    asked = [lambda: claude.ask("Boats?"), *3 * [lambda: claude.title("Boats?")]]
    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(one) for one in asked]:
            done.result()
    claude.ask("And ferries?")
    found = kin(proxy)
    assert found.count((None, 5)) == 1
    assert {relation for relation, _ in found} == {None, "side_call"}


def test_a_title_that_was_asked_for_twice_is_parted_from_the_conversation_too(
    proxy: Proxy,
) -> None:
    """The second request is an edit of the client's, which makes the session nobody's own."""
    claude = Claude(proxy, "twice")
    claude.title("Boats?")
    claude.title("Boats?")
    claude.ask("Boats?")
    claude.ask("And ferries?")
    (side, own) = kin(proxy)
    assert own == (None, 5) and side[0] == "side_call"
    (_, titles) = proxy.sessions()
    assert proxy.operations(titles["id"]) != []


def test_the_same_words_under_two_names_are_two_conversations(proxy: Proxy) -> None:
    one, other = Claude(proxy, "one"), Claude(proxy, "other")
    for claude in (one, other):
        claude.ask("Hello.")
    for claude in (one, other):
        claude.ask("How are you?")
    counts = [(found["parent"], found["message_count"]) for found in proxy.sessions()]
    assert counts == [(None, 5), (None, 5)]


def test_a_conversation_that_goes_on_under_another_name_is_known_by_what_it_says(
    proxy: Proxy,
) -> None:
    before, after = Claude(proxy, "before"), Claude(proxy, "after")
    before.ask("How many boats are in?")
    after.said = before.said
    after.ask("And ferries?")
    after.title("Boats and ferries")
    assert kin(proxy) == [(None, 5), ("side_call", 3)]


def test_what_one_session_says_is_never_put_into_another_of_its_name(
    proxy: Proxy,
) -> None:
    first, second = Claude(proxy, "shared"), Claude(proxy, "shared")
    first.ask("How many boats are in?")
    second.ask("Who painted the ferry?")
    first.ask("And yesterday?")
    second.ask("And the boat?")
    assert kin(proxy) == [(None, 5), ("subagent", 5)]


def test_a_question_that_is_sent_again_stays_in_its_conversation(proxy: Proxy) -> None:
    claude = Claude(proxy, "again")
    proxy.provider.status = 500
    with pytest.raises(httpx.HTTPStatusError):
        claude.ask("How many boats are in?")
    proxy.provider.status = 200
    claude.ask("How many boats are in?")
    assert kin(proxy) == [(None, 3)]


def test_a_strangers_name_finds_nothing(proxy: Proxy, proxying_server: Server) -> None:
    mine, theirs = Claude(proxy, "same-name"), Claude(proxy, "same-name")
    theirs.key = proxying_server.key("read,propose,edit")
    mine.ask("How many boats are in?")
    theirs.title("How many boats are in?")
    theirs.ask("Who painted the ferry?")
    found = [(one["relation"], one["message_count"]) for one in proxy.sessions()]
    assert sorted(found, key=str) == [("side_call", 3), (None, 3), (None, 3)]
    mine_id = min(proxy.sessions(), key=lambda one: str(one["created_at"]))["id"]
    assert all(one["parent"] != mine_id for one in proxy.sessions())


@pytest.mark.parametrize("name", ["", "x" * 256])
def test_without_a_name_or_with_a_boundless_one_requests_are_known_by_their_beginning(
    proxy: Proxy, name: str
) -> None:
    claude = Claude(proxy, name)
    claude.ask("How many boats are in?")
    claude.title("How many boats are in?")
    claude.ask("And ferries?")
    found = [(one["parent"], one["message_count"]) for one in proxy.sessions()]
    assert sorted(found, key=str) == [(None, 3), (None, 5)]


def test_a_deleted_conversation_leaves_its_name(proxy: Proxy) -> None:
    claude = Claude(proxy, "deleted")
    claude.ask("How many boats are in?")
    proxy.api.delete(f"/api/sessions/{proxy.session()['id']}").raise_for_status()
    other = Claude(proxy, "deleted")
    other.ask("Who painted the ferry?")
    other.title("Who painted the ferry?")
    assert kin(proxy) == [(None, 3), ("side_call", 3)]


@pytest.mark.parametrize(
    ("key", "is_name"),
    [("0199f0a2-7c1e-7d40-8a55-2f1f0e6f3b1c", True), ("prompt-of-the-shop", False)],
)
def test_a_cache_key_is_a_name_only_where_it_is_one_conversations(
    proxy: Proxy, key: str, is_name: bool
) -> None:
    def ask(text: str, **more: Any) -> None:
        said = [{"role": "user", "content": text}]
        body = {"model": MODEL, "store": False, "input": said, **more}
        sent = body | {"prompt_cache_key": key}
        url = f"{proxy.url}/v1/responses"
        httpx.post(
            url, json=sent, headers=proxy.headers, timeout=PATIENCE_SECONDS
        ).raise_for_status()

    proxy.provider.script = [Said("14 boats."), Said("Boats")]
    ask(
        "How many boats are in?",
        instructions=PROMPT,
        tools=[{"type": "function", "name": "run"}],
    )
    ask("Name this: boats.", instructions=TITLES)
    relations = {one["relation"] for one in proxy.sessions()}
    assert relations == ({None, "side_call"} if is_name else {None})


class Agents:
    """A client that says which agent asks, as Claude Code, Codex and opencode do."""

    def __init__(self, proxy: Proxy, **named: str) -> None:
        self.proxy, self.named = proxy, named

    def ask(self, said: list[Message], text: str, **agent: str) -> list[Message]:
        """One agent's conversation with its next turn."""
        said = [*said, {"role": "user", "content": text}]
        names = {
            key.replace("_", "-"): one for key, one in (self.named | agent).items()
        }
        reply = httpx.post(
            f"{self.proxy.url}/v1/messages",
            json={"model": MODEL, "max_tokens": 99, "system": PROMPT, "messages": said},
            headers=self.proxy.headers | names,
            timeout=PATIENCE_SECONDS,
        )
        content = reply.raise_for_status().json()["content"]
        return [*said, {"role": "assistant", "content": content}]


@pytest.mark.parametrize(
    ("named", "agents"),
    [
        ({"session_id": "t-1", "thread_id": "t-1"}, ["thread_id", "t-2", "t-3"]),
        ({"x_claude_code_session_id": "c"}, ["x_claude_code_agent_id", "a", "b"]),
        (
            {"x_session_id": "harbour", "x_claude_code_session_id": "c"},
            ["x_claude_code_agent_id", "a", "b"],
        ),
    ],
    ids=["codex", "claude-code", "in-a-session-that-is-named"],
)
def test_a_sub_agent_that_repeats_the_conversation_has_a_session_of_its_own(
    proxy: Proxy, named: dict[str, str], agents: list[str]
) -> None:
    """Codex gives its sub-agents the same prompt and notes, or all that was said."""
    client, (header, *names) = Agents(proxy, **named), agents
    note = "<environment_context>\n<cwd>/home/x</cwd>\n</environment_context>"
    notes = [{"role": "user", "content": note}]
    own = client.ask(notes, "Look for boats in two places.")
    fresh = client.ask(notes, "Search the harbour.", **{header: names[0]})
    forked = client.ask(own, "Search the river.", **{header: names[1]})
    own = client.ask(own, "And what is there?")
    client.ask(fresh, "Search the docks.", **{header: names[0]})
    client.ask(forked, "Search the sea.", **{header: names[1]})
    assert kin(proxy) == [(None, 6), ("subagent", 6), ("subagent", 8)]
    assert all(proxy.operations(one["id"]) == [] for one in proxy.sessions())


def test_what_is_redacted_stays_so_where_a_sub_agent_repeats_it(proxy: Proxy) -> None:
    client = Agents(proxy, session_id="t-1")
    own = client.ask([], "The ferry's key is 4711.", thread_id="t-1")
    proxy.operate(type="redact", patterns=[{"start": "4711", "all": True}])
    forked = client.ask(own, "Search the river.", thread_id="t-2")
    client.ask(forked, "Search the sea.", thread_id="t-2")
    assert [b"4711" in asked.body for asked in proxy.provider.asked] == [
        True,
        False,
        False,
    ]


def test_a_sub_agent_with_a_session_of_its_own_name_belongs_to_the_session_it_works_for(
    proxy: Proxy,
) -> None:
    """As opencode names both; where that session is not here, it is one by itself."""
    client, above = Agents(proxy), {"x_parent_session_id": "ses-1"}
    client.ask([], "Search the sea.", x_session_id="ses-0", **above)
    client.ask([], "Look for boats.", x_session_id="ses-1")
    said = client.ask([], "Search the harbour.", x_session_id="ses-2", **above)
    client.ask(said, "Search the docks.", x_session_id="ses-2", **above)
    found = {one["external_id"]: one for one in proxy.sessions()}
    assert found["ses-2"]["parent"] == found["ses-1"]["id"]
    assert found["ses-2"]["relation"] == "subagent"
    assert found["ses-2"]["message_count"] == 5
    assert found["ses-0"]["parent"] is None


def test_a_thread_id_without_a_conversations_name_says_nothing(proxy: Proxy) -> None:
    client = Agents(proxy, x_session_id="harbour")
    said = client.ask([], "How many boats are in?", thread_id="1")
    client.ask(said, "And ferries?", thread_id="2")
    assert proxy.session()["message_count"] == 5
