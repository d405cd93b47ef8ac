"""Titles that Codex asks for: in a thread with a name of its own, which says what it is for."""

import json
from typing import Any

import httpx
import pytest

from tests.servers import PATIENCE_SECONDS

from .conftest import Proxy
from .forms import MODEL
from .test_names import kin

NOTE = "<environment_context>\n<cwd>/home/x</cwd>\n</environment_context>"
TITLES = "Generate a concise, single-line task title.\n\nUser prompt:\n"


def ask(proxy: Proxy, thread: str, source: str, *said: str, **more: Any) -> None:
    items = [{"role": "user", "content": one} for one in (NOTE, *said)]
    turn = json.dumps({"session_id": thread, "thread_source": source})
    names = {"Session-Id": thread, "Thread-Id": thread, "X-Codex-Turn-Metadata": turn}
    httpx.post(
        proxy.url + "/v1/responses",
        json={"model": MODEL, "input": items, "store": False, **more},
        headers=proxy.headers | names,
        timeout=PATIENCE_SECONDS,
    ).raise_for_status()


def test_a_title_is_a_side_call_of_the_conversation_whose_question_it_repeats(
    proxy: Proxy,
) -> None:
    question = "How many boats are in?"
    ask(proxy, "t-1", "user", question)
    for _ in range(2):  # its first answer is regenerated
        ask(proxy, "t-2", "thread_title", TITLES + question)
    assert kin(proxy) == [(None, 3), ("side_call", 4)]


def test_a_title_of_no_conversation_that_is_known_is_one_by_itself(
    proxy: Proxy,
) -> None:
    ask(proxy, "t-3", "user", "How many boats are in?")
    ask(proxy, "t-4", "thread_title", f"{TITLES}Who painted the ferry?")
    assert [one["parent"] for one in proxy.sessions()] == [None, None]


@pytest.mark.parametrize("told", ["{", "3", '{"thread_source": "user"}'])
def test_what_else_a_turn_says_of_itself_links_nothing(proxy: Proxy, told: str) -> None:
    ask(proxy, "t-5", "user", "How many boats are in?")
    httpx.post(
        proxy.url + "/v1/responses",
        json={"model": MODEL, "input": f"{TITLES}How many boats are in?"},
        headers=proxy.headers | {"Session-Id": "t-6", "X-Codex-Turn-Metadata": told},
        timeout=PATIENCE_SECONDS,
    ).raise_for_status()
    assert [one["parent"] for one in proxy.sessions()] == [None, None]
