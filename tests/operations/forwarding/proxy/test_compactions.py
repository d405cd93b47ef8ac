"""What providers do within a reply, and how clients send it back: compactions, searches."""

import json
from typing import Any

import httpx
import pytest

from tests.servers import PATIENCE_SECONDS
from threads.domain.formats import READERS
from threads.domain.formats.traffic.replies import read_reply
from threads.domain.message import Role
from threads.domain.part import Opaque, Text

from .conftest import Proxy
from .forms import MODEL

TRIGGER = {"type": "compaction_trigger"}
SUMMARY = {"type": "compaction", "encrypted_content": "gAAAA"}
SEARCH = {"type": "web_search_call", "action": {"type": "search", "query": "boats"}}


def said(role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": text}]
    return {"type": "message", "role": role, "content": content}


def respond(proxy: Proxy, items: list[Any], *output: Any) -> list[Any]:
    """Send the items as Codex does; what the provider answers, which says `output` if given."""
    if output:
        reply = {"id": "resp_1", "status": "completed", "output": output}
        head = [("content-type", "application/json")]
        proxy.provider.raw = head, json.dumps(reply).encode()
    body = {"model": MODEL, "store": False, "input": items}
    answer = httpx.post(
        f"{proxy.url}/v1/responses",
        json=body,
        headers=proxy.headers,
        timeout=PATIENCE_SECONDS,
    )
    proxy.provider.raw = None
    found: list[Any] = answer.raise_for_status().json()["output"]
    return found


@pytest.mark.parametrize("acts", [False, True])
def test_a_compaction_that_an_item_asks_for_is_of_the_session_and_the_item_is_not(
    proxy: Proxy, acts: bool
) -> None:
    asked = said("user", "Which boats are there?")
    items = [said("developer", "You are a coding agent."), asked]
    items += respond(proxy, items)
    if acts:
        proxy.operate(type="digest", targets=["m1"], summary="They asked for boats.")
    made = {**SUMMARY, "id": "cmp_1", "status": "completed"}
    respond(proxy, [*items, TRIGGER], made)
    sent = proxy.provider.last.json["input"]
    assert sent[-1] == TRIGGER
    assert ("They asked for boats." in str(sent)) == acts
    assert acts or sent == [*items, TRIGGER]
    # Codex keeps what its user said, and the compaction without what names it.
    respond(proxy, [items[0], asked, SUMMARY, said("user", "And which ferries?")])
    roles = [one["role"] for one in proxy.messages()]
    assert roles == ["developer", "user", *2 * ["assistant"], "user", "assistant"]


def test_a_search_that_comes_back_without_its_id_is_the_same(proxy: Proxy) -> None:
    items = [said("user", "Which boats are there?")]
    found = {**SEARCH, "id": "ws_1", "status": "completed"}
    answer = said("assistant", "There are 14 boats.")
    respond(proxy, items, found, {**answer, "id": "msg_1", "status": "completed"})
    items += [SEARCH, answer, said("user", "And which ferries?")]
    respond(proxy, items)
    assert proxy.provider.last.json["input"] == items
    assert proxy.operations(proxy.session()["id"]) == []
    assert len(proxy.messages()) == 4


def test_a_program_that_the_provider_ran_is_kept_whole_with_what_it_gave() -> None:
    program = {"type": "program", "id": "p", "call_id": "c", "code": "1 + 1"}
    gave = {"type": "program_output", "id": "o", "call_id": "c", "result": "2"}
    output = [program, gave, said("assistant", "Two.")]
    (reply,) = read_reply("openai-responses", {"output": output})
    kept = Opaque("program", program), Opaque("program_output", gave), Text("Two.")
    assert reply.parts == kept
    sent = READERS["openai-responses"].read_messages(output)
    assert tuple(part for one in sent for part in one.parts) == kept
    assert {one.role for one in sent} == {Role.ASSISTANT}
