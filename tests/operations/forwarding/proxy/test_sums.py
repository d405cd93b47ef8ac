"""The tokens of a stored request's messages add up to what was sent, in every provider's form."""

import json
from typing import Any

import pytest
from django.test import Client

from operations.context.inputs import counter_of
from operations.forwarding.sent.reading import load_sent
from tests.operations.support.rest import operate
from threads.domain.formats import READERS
from threads.models import Session

from .conftest import Ask

Form = dict[str, Any]
QUESTION, LAST = "What is in a, and in b?", "Say it."
RESULT = {"output": "A long text."}


def chat() -> list[Form]:
    def call(name: str) -> Form:
        function = {"name": "read", "arguments": f'{{ "path": "{name}" }}'}
        return {"id": name, "type": "function", "function": function}

    return [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": QUESTION},
        {"role": "assistant", "content": "", "tool_calls": [call("a"), call("b")]},
        {"role": "tool", "tool_call_id": "a", "content": RESULT["output"]},
        {"role": "tool", "tool_call_id": "b", "content": RESULT["output"]},
        {"role": "assistant", "content": "Much."},
        {"role": "user", "content": LAST},
    ]


def anthropic() -> list[Form]:
    def call(name: str) -> Form:
        return {"type": "tool_use", "id": name, "name": "read", "input": {"path": name}}

    def result(name: str) -> Form:
        content = RESULT["output"]
        return {"type": "tool_result", "tool_use_id": name, "content": content}

    return [
        {"role": "user", "content": QUESTION},
        {"role": "assistant", "content": [call("a"), call("b")]},
        {"role": "user", "content": [result("a"), result("b")]},
        {"role": "assistant", "content": "Much."},
        {"role": "user", "content": LAST},
    ]


def responses() -> list[Form]:
    def call(name: str) -> Form:
        given = {"name": "read", "arguments": f'{{ "path": "{name}" }}'}
        return {"type": "function_call", "call_id": name, "id": f"fc_{name}", **given}

    def result(name: str) -> Form:
        return {"type": "function_call_output", "call_id": name, **RESULT}

    return [
        {"role": "user", "content": QUESTION},
        *(call("a"), call("b"), result("a"), result("b")),
        {"role": "assistant", "content": "Much."},
        {"role": "user", "content": LAST},
    ]


def gemini() -> list[Form]:
    def call(name: str) -> Form:
        given = {"name": "read", "args": {"path": name}}
        return {"functionCall": given, "thoughtSignature": "c2lnbmVk"}

    result = {"functionResponse": {"name": "read", "response": RESULT}}
    return [
        {"role": "user", "parts": [{"text": QUESTION}]},
        {"role": "model", "parts": [call("a"), call("b")]},
        {"role": "user", "parts": [result, result]},
        {"role": "model", "parts": [{"text": "Much."}]},
        {"role": "user", "parts": [{"text": LAST}]},
    ]


FORMS: dict[str, tuple[str, Form]] = {
    "openai": ("/v1/chat/completions", {"messages": chat()}),
    "anthropic": ("/v1/messages", {"system": "Be brief.", "messages": anthropic()}),
    "openai-responses": (
        "/v1/responses",
        {"instructions": "Be brief.", "input": responses()},
    ),
    "gemini": (
        "/v1beta/models/gemini-3-pro:generateContent",
        {
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "contents": gemini(),
        },
    ),
}
MEMBERS = {
    "openai": ("", "messages"),
    "anthropic": ("system", "messages"),
    "openai-responses": ("instructions", "input"),
    "gemini": ("systemInstruction", "contents"),
}
EDITS: dict[str, Form] = {
    "snip": {"range": (3, 4)},
    "digest": {"range": (1, 2), "summary": "Two files."},
    "insert": {"after_idx": 1, "messages": [{"role": "user", "content": "Now."}]},
    "resequence": {"new_order": (3, 2)},
}


@pytest.mark.django_db
@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("kind", EDITS)
def test_its_messages_have_the_tokens_of_what_was_sent(
    ask: Ask, agent: Client, name: str, kind: str
) -> None:
    path, body = FORMS[name]
    ask(path, {"model": "m", **body}, "boats")
    session = Session.objects.get()
    operate(agent, str(session.pk), kind, **EDITS[kind])
    out = json.loads(ask(path, {"model": "m", **body}, "boats").body)
    reader, count = READERS[name], counter_of(session.encoding)
    system, messages = (out.get(member) for member in MEMBERS[name])
    said = [*reader.read_system(system), *reader.read_messages(messages)]
    sent = load_sent(session, 2)
    tokens = [sent.facts[number].tokens for number in sent.messages]
    assert sum(tokens) == sent.row.tokens_after == sum(count(one.parts) for one in said)
    assert all(tokens)
