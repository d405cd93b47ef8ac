"""A result that an operation leaves out: the message with its call goes out as it came."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from tests.operations.support.rest import get, operate
from tests.validators import VALIDATORS
from threads.models import Session

from .conftest import Ask

Form = dict[str, Any]
CHAT, RESPONSES = "/v1/chat/completions", "/v1/responses"
GEMINI = "/v1beta/models/gemini-3-pro:generateContent"
Sent = Callable[..., list[Form]]


def call(name: str) -> Form:
    signed = {"google": {"thought_signature": "c2lnbmVk"}}
    function = {"name": "look", "arguments": "{ }"}
    return {"id": name, "type": "function", "function": function} | {
        "extra_content": signed
    }


def result(name: str) -> Form:
    return {"role": "tool", "tool_call_id": name, "content": f"What {name} found."}


CALLED = {"role": "assistant", "content": "", "reasoning_content": "Look at both."}
CALLED |= {"tool_calls": [call("call_1"), call("call_2")]}
ASKED = {"role": "user", "content": "How many boats?"}
CONVERSATION = [ASKED, CALLED, result("call_1"), result("call_2")]


@pytest.fixture
def sent(ask: Ask, agent: Client) -> Sent:
    """Returns the messages that go out once those of these indexes are snipped."""

    def send(given: list[Form], *snipped: int, path: str = CHAT) -> list[Form]:
        member = "messages" if path == CHAT else "input"
        body = {"model": "deepseek-reasoner", member: given}
        ask(path, body, "boats")
        session = Session.objects.get()
        operate(agent, str(session.pk), "snip", targets=[f"m{at}" for at in snipped])
        out: list[Form] = json.loads(ask(path, body, "boats").body)[member]
        return out

    return send


@pytest.mark.django_db
def test_a_call_keeps_what_only_its_provider_understands(sent: Sent) -> None:
    found = sent(CONVERSATION, 2)
    assert found[:3] == [ASKED, CALLED, CONVERSATION[3]]
    assert found[3]["tool_call_id"] == "call_1"
    assert found[3]["content"].startswith("[This result of ")
    assert len(found) == 4


@pytest.mark.django_db
def test_so_does_one_of_whose_calls_no_result_is_left(sent: Sent) -> None:
    found = sent([*CONVERSATION, ASKED], 2, 3)
    assert found[:2] == [ASKED, CALLED]
    assert [one["tool_call_id"] for one in found[2:4]] == ["call_1", "call_2"]
    assert found[4:] == [ASKED]


@pytest.mark.django_db
def test_items_of_the_responses_api_keep_their_other_members(sent: Sent) -> None:
    item = {"type": "function_call", "call_id": "call_1", "name": "look"}
    item |= {"namespace": "boats", "arguments": "{ }", "status": "completed"}
    output = {"type": "function_call_output", "call_id": "call_1", "output": "14"}
    found = sent([ASKED, item, output, ASKED], 2, path=RESPONSES)
    assert found[:2] == [ASKED, item]
    assert found[2]["type"] == "function_call_output"
    assert found[2]["output"].startswith("[This result of ")
    assert found[3:] == [ASKED]


@pytest.mark.django_db
def test_what_is_sent_is_counted_with_what_stands_for_the_result(
    sent: Sent, agent: Client
) -> None:
    plain = {**CALLED, "tool_calls": [call("call_1"), call("call_2")]}
    del plain["reasoning_content"]
    sent([ASKED, plain, *CONVERSATION[2:]], 2)
    path = f"/api/sessions/{Session.objects.get().pk}"
    shown = get(agent, f"{path}/context", provider="openai")
    last = get(agent, f"{path}/requests")["items"][0]
    assert last["tokens"]["after"] == shown["tokens"]["sent"]


@pytest.mark.django_db
def test_a_call_that_a_snip_brings_behind_an_answer_of_gemini_goes_out_with_it(
    ask: Ask, agent: Client
) -> None:
    """Gemini refuses calls that follow neither a user nor results."""

    def turn(role: str, **part: Any) -> Form:
        return {"role": role, "parts": [part]}

    look = {"name": "look", "args": {}}
    calls = turn("model", functionCall=look, thoughtSignature="c2lnbmVk")
    seen = turn("user", functionResponse={"name": "look", "response": {"output": "14"}})
    said = [turn("user", text="Hello."), turn("model", text="Hello.")]
    body = {"contents": [*said, turn("user", text="How many?"), calls, seen]}
    ask(GEMINI, body, "boats")
    session = Session.objects.get()
    operate(agent, str(session.pk), "snip", targets=["m2"])
    sent = json.loads(ask(GEMINI, body, "boats").body)
    assert VALIDATORS["gemini"](sent) == []
    assert [len(one["parts"]) for one in sent["contents"]] == [1, 2, 1]
    assert sent["contents"][1]["parts"][1]["thoughtSignature"] == "c2lnbmVk"


@pytest.mark.django_db
def test_results_of_calls_that_an_operation_joins_go_out_in_one_message_to_gemini(
    ask: Ask, agent: Client
) -> None:
    """Gemini refuses a message with the results of only some of the calls before it."""

    def turn(role: str, **part: Any) -> Form:
        return {"role": role, "parts": [part]}

    def step(name: str) -> list[Form]:
        given = {"name": name, "response": {"output": "14"}}
        calls = {"name": name, "args": {}}
        return [
            turn("model", functionCall=calls, thoughtSignature="c2lnbmVk"),
            turn("user", functionResponse=given),
        ]

    contents = [turn("user", text="How many?"), *step("look"), *step("count")]
    ask(GEMINI, {"contents": contents}, "boats")
    session = Session.objects.get()
    operate(agent, str(session.pk), "resequence", new_order=[1, 3, 2])
    sent = json.loads(ask(GEMINI, {"contents": contents}, "boats").body)
    assert VALIDATORS["gemini"](sent) == []
    assert [len(one["parts"]) for one in sent["contents"]] == [1, 2, 2]
