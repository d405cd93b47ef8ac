"""An agent asks for a slice in the middle of its turn, and is answered as it goes on."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from tests.operations.support.rest import make_session, operate, post
from tests.validators import anthropic, openai

Form = dict[str, Any]
FIRST, LAST = 3, 6
"""Of the rounds that are gone: a user's message, a call, its result, an answer each."""


class Loop:
    """What a client of one format keeps, and what it is given to send."""

    def __init__(self, client: Client, format: str) -> None:
        self.client = client
        self.format = format
        self.messages: list[Form] = []
        self.session = make_session(client, [], parsing_strategy=format)

    def says(self, words: str, role: str = "user") -> None:
        self.messages.append({"role": role, "content": words})

    def calls(self, id_: str, name: str, **arguments: Any) -> None:
        if self.format == "openai":
            function = {"name": name, "arguments": json.dumps(arguments)}
            call = {"id": id_, "type": "function", "function": function}
            form = {"role": "assistant", "content": None, "tool_calls": [call]}
        else:
            block = {"type": "tool_use", "id": id_, "name": name, "input": arguments}
            form = {"role": "assistant", "content": [block]}
        self.messages.append(form)

    def is_answered(self, id_: str, words: str) -> None:
        if self.format == "openai":
            form: Form = {"role": "tool", "tool_call_id": id_, "content": words}
        else:
            block = {"type": "tool_result", "tool_use_id": id_, "content": words}
            form = {"role": "user", "content": [block]}
        self.messages.append(form)

    def applies(self) -> list[Form]:
        """What it is to send, which its provider takes."""
        tools = [{"name": "mcp__studio__recall"}]
        body = {"messages": self.messages, "format": self.format, "tools": tools}
        answer = post(self.client, f"/api/sessions/{self.session}/apply", body)
        request: Form = {"model": "a-model", "messages": answer["messages"]}
        if self.format == "anthropic":
            request |= {"max_tokens": 1000}
        assert list(VALIDATORS[self.format](request)) == []
        sent: list[Form] = answer["messages"]
        return sent


VALIDATORS: dict[str, Callable[[Form], Any]] = {
    "openai": openai.validate,
    "anthropic": anthropic.validate,
}


@pytest.fixture(params=["openai", "anthropic"])
def loop(request: pytest.FixtureRequest, agent: Client) -> Loop:
    loop = Loop(agent, request.param)
    for number in range(5):
        loop.says(f"Question {number}")
        loop.calls(f"call_{number}", "look", at=number)
        loop.is_answered(f"call_{number}", f"Result {number}")
        loop.says(f"Answer {number}", "assistant")
    loop.says("What did the second look say?")
    return loop


def test_the_slice_is_sent_with_the_turn_in_progress_and_then_all_again(
    loop: Loop,
) -> None:
    assert loop.applies() == loop.messages
    # The model asks for what it wants to see; its agent calls the tool and answers.
    wish = {"start_message_index": 6, "end_message_index": 7}
    loop.calls("call_slice", "request_context_slice", **wish)
    body = {"session_id": loop.session, **wish}
    said = post(loop.client, "/api/tools/request_context_slice", body)
    loop.is_answered("call_slice", json.dumps(said))
    # The result that it wanted, the call of it, and the turn; nothing is used up by looking.
    context = f"/api/sessions/{loop.session}/context"
    for _ in range(2):
        assert loop.client.get(context, {"consume": "true"}).status_code == 200
    sent = loop.applies()
    texts = json.dumps(sent)
    assert sent[-3:] == loop.messages[-3:]
    assert "Result 1" in texts
    assert "call_1" in texts
    for gone in ("Question 0", "Answer 1", "Result 2", "Answer 4"):
        assert gone not in texts
    # From the next request on it is the whole conversation again.
    loop.calls("call_again", "look", at=9)
    loop.is_answered("call_again", "Result 9")
    assert loop.applies() == loop.messages
    loop.says("It said: Result 1.", "assistant")
    loop.says("Thanks.")
    assert loop.applies() == loop.messages


def test_what_was_said_after_a_snipped_result_stays_behind_its_stub(loop: Loop) -> None:
    loop.applies()
    operate(loop.client, loop.session, "snip", targets=["m6"])
    sent = loop.applies()
    called = next(
        place for place, one in enumerate(sent) if "call_1" in json.dumps(one)
    )
    call, stub, answer = sent[called : called + 3]
    assert call == loop.messages[5]
    assert "recall(m6)" in json.dumps(stub)
    assert answer == loop.messages[7]
    assert len(sent) == len(loop.messages)
