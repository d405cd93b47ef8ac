"""Replies that call our tools and the client's, as they are sent once all results are there."""

from typing import Any

import pytest

from operations.forwarding.proxy.tools.form import JSONObject
from operations.forwarding.proxy.tools.forms import FORMS
from operations.forwarding.proxy.tools.joining import PartedReply, joined

SIGNED = {"thoughtSignature": "a"}


def sent(form: str, reply: Any, results: Any, given: list[JSONObject]) -> Any:
    """The messages that go out in place of the client's; None if they are not the reply."""
    parted = PartedReply(reply, results, frozenset({"recall"}))
    stored = PartedReply.read(parted.written())
    found = joined(FORMS[form], stored, given)
    if found is None:
        return None
    rest = given[len(found) :]
    return [one for each in found for one in each] + rest


def chat_call(name: str, number: int) -> JSONObject:
    function = {"name": name, "arguments": "{}"}
    return {"id": f"call_{number}", "type": "function", "function": function}


def chat(*calls: JSONObject) -> JSONObject:
    return {"role": "assistant", "content": None, "tool_calls": [*calls]}


def output(number: int) -> JSONObject:
    return {"role": "tool", "tool_call_id": f"call_{number}", "content": "14 boats"}


def test_calls_return_to_their_places() -> None:
    made = [chat_call(name, n) for n, name in enumerate(("recall", "look", "recall"))]
    results, own = [output(0), output(2)], [chat(made[1]), output(1)]
    found = sent("openai", [chat(*made)], results, own)
    assert found == [chat(*made), *results, output(1)]


@pytest.mark.parametrize(
    "given",
    [
        [],
        [{"role": "user", "content": "Never mind."}],
        [{"role": "assistant", "content": "Never mind."}],
        [chat(chat_call("look", 7)), output(7)],
        [chat(chat_call("look", 1), chat_call("look", 2)), output(1), output(2)],
    ],
)
def test_another_reply_of_the_clients_stays_as_it_is(given: list[JSONObject]) -> None:
    reply = [chat(chat_call("recall", 0), chat_call("look", 1))]
    assert sent("openai", reply, [output(0)], given) is None


def test_results_of_anthropic_are_in_one_message_and_thinking_stays_first() -> None:
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "c2VhbA=="}
    ours = {"type": "tool_use", "id": "a", "name": "recall", "input": {}}
    theirs = {"type": "tool_use", "id": "b", "name": "look", "input": {}}
    cached = theirs | {"cache_control": {"type": "ephemeral"}}
    result = {"type": "tool_result", "content": "14 boats"}
    reply = [{"role": "assistant", "content": [thought, ours, theirs]}]
    results = [{"role": "user", "content": [result | {"tool_use_id": "a"}]}]
    own = {"role": "user", "content": [result | {"tool_use_id": "b"}]}
    found = sent(
        "anthropic",
        reply,
        results,
        [{"role": "assistant", "content": [thought, cached]}, own],
    )
    both = [result | {"tool_use_id": "a"}, result | {"tool_use_id": "b"}]
    assert found == [
        {"role": "assistant", "content": [thought, ours, cached]},
        {"role": "user", "content": both},
    ]
    alone = [{"role": "assistant", "content": [theirs]}]
    told = sent(
        "anthropic", reply, results, [*alone, {"role": "user", "content": "So?"}]
    )
    assert told[1:] == [*results, {"role": "user", "content": "So?"}]


def test_a_signature_of_gemini_returns_to_the_call_that_it_was_made_with() -> None:
    def call(name: str, **more: str) -> JSONObject:
        return {"functionCall": {"name": name, "args": {}}, **more}

    def response(name: str) -> JSONObject:
        return {"functionResponse": {"name": name, "response": {"output": "14"}}}

    reply = [{"role": "model", "parts": [call("recall", **SIGNED), call("look")]}]
    results = [{"role": "user", "parts": [response("recall")]}]
    # A client that streamed has one content per chunk.
    given = [
        {"role": "model", "parts": [{"text": "Hm."}]},
        {"role": "model", "parts": [call("look", **SIGNED)]},
        {"role": "user", "parts": [response("look")]},
    ]
    assert sent("gemini", reply, results, given) == [
        given[0],
        *reply,
        {"role": "user", "parts": [response("recall"), response("look")]},
    ]


def test_clients_of_gemini_spell_its_members_in_two_ways() -> None:
    def call(name: str) -> JSONObject:
        return {"functionCall": {"name": name, "args": {}}}

    def response(name: str, member: str = "functionResponse") -> JSONObject:
        return {member: {"name": name, "response": {"output": "14"}}}

    spelled = {"function_call": {"name": "look", "args": {}}}
    theirs = response("look", "function_response")
    reply = [{"role": "model", "parts": [call("recall") | SIGNED, call("look")]}]
    results = [{"role": "user", "parts": [response("recall")]}]
    given = [
        {"role": "model", "parts": [spelled | {"thought_signature": "a"}]},
        {"role": "user", "parts": [theirs]},
    ]
    assert sent("gemini", reply, results, given) == [
        {"role": "model", "parts": [call("recall") | SIGNED, spelled]},
        {"role": "user", "parts": [response("recall"), theirs]},
    ]


@pytest.mark.parametrize("has_ids", [True, False])
def test_items_have_ids_if_the_clients_have_some(has_ids: bool) -> None:
    def item(name: str, number: int, *, named: bool = True) -> JSONObject:
        found = {"type": "function_call", "call_id": f"call_{number}", "name": name}
        return found | {"arguments": "{}"} | ({"id": f"fc_{number}"} if named else {})

    def result(number: int) -> JSONObject:
        kind = "function_call_output"
        return {"type": kind, "call_id": f"call_{number}", "output": "14"}

    reply = [item("look", 0), item("recall", 1), item("look", 2), item("recall", 3)]
    results = [result(1), result(3)]
    own = [item("look", 0, named=has_ids), item("look", 2, named=has_ids)]
    # Some clients place each result behind its call.
    given = [own[0], result(0), own[1], result(2)]
    ours = [item("recall", n, named=has_ids) for n in (1, 3)]
    assert sent("openai-responses", reply, results, given) == [
        *(own[0], result(0), ours[0], own[1], ours[1]),
        *(*results, result(2)),
    ]
