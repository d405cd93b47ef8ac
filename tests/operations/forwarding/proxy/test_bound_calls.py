"""Calls of tools that the Responses API defines itself: both halves go out in one form."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.test import Client

from operations.forwarding.proxy.recording import Outcome, record_outcome
from operations.forwarding.proxy.replies import ReplyReader
from tests.operations.support.rest import operate
from tests.validators.openai_responses import validate
from threads.models import Session

from .conftest import Ask

Form = dict[str, Any]
PATH = "/v1/responses"
_SHELL = {"commands": ["ls"], "timeout_ms": None, "max_output_length": None}
_PRINTED = {"stdout": "14 boats", "stderr": "", "outcome": {"type": "exit"}}
_SHOT = {"type": "computer_screenshot", "image_url": "https://boats.example/a.png"}
_FOUND = {"execution": "client", "status": "completed"}
_TOOL = {"type": "function", "name": "count", "parameters": {"type": "object"}}
_PATCH = {"type": "update_file", "path": "boats.txt", "diff": "@@"}
_EXEC = {"type": "exec", "command": ["ls"], "env": {}}
PAIRS: dict[str, tuple[Form, Form]] = {
    "shell": (
        {"type": "shell_call", "action": _SHELL},
        {"type": "shell_call_output", "output": [_PRINTED]},
    ),
    "apply_patch": (
        {"type": "apply_patch_call", "status": "completed", "operation": _PATCH},
        {"type": "apply_patch_call_output", "status": "completed", "output": "Done."},
    ),
    "computer": (
        {
            "type": "computer_call",
            "action": {"type": "screenshot"},
            "status": "completed",
        },
        {"type": "computer_call_output", "output": _SHOT},
    ),
    "local_shell": (
        {"type": "local_shell_call", "status": "completed", "action": _EXEC},
        {"type": "local_shell_call_output", "output": "14 boats"},
    ),
    "tool_search": (
        {"type": "tool_search_call", "arguments": {"query": "count"}, **_FOUND},
        {"type": "tool_search_output", "tools": [_TOOL], **_FOUND},
    ),
}
pairs = pytest.mark.parametrize("kind", PAIRS)
Sent = Callable[..., list[Form]]


def pair(kind: str) -> tuple[Form, Form]:
    call, output = PAIRS[kind]
    return {**call, "call_id": "call_1"}, {**output, "call_id": "call_1"}


def asked(text: str) -> Form:
    return {"role": "user", "content": text}


def reasoned(text: str) -> Form:
    return {"type": "reasoning", "summary": [], "encrypted_content": text}


def said(text: str) -> Form:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "role": "assistant", "content": content}


@pytest.fixture
def sent(ask: Ask, agent: Client) -> Sent:
    """Returns the items that go out once the messages of these indexes are snipped."""

    def send(
        items: list[Form], *snipped: int, reply: Any = (), answered: Any = ()
    ) -> list[Form]:
        given = {"model": "gpt-5", "store": False, "input": [*items]}
        first = ask(PATH, given, "boats")
        assert first.body == json.dumps(given).encode()
        if reply:
            reader = ReplyReader("openai-responses", "application/json")
            output = {"object": "response", "status": "completed", "output": reply}
            reader.feed(json.dumps(output).encode())
            assert first.exchange is not None
            read = partial(reader.finish, broken=False)
            record_outcome(first.exchange, Outcome(read=read, status=200))
        given["input"] = [*items, *reply, *answered]
        session = Session.objects.get()
        operate(agent, str(session.pk), "snip", targets=[f"m{at}" for at in snipped])
        out: Form = json.loads(ask(PATH, given, "boats").body)
        assert [*validate(out)] == []
        items_sent: list[Form] = out["input"]
        return items_sent

    return send


def types_of(items: list[Form]) -> list[str]:
    found = [item for item in items if "call_id" in item]
    assert all(item["call_id"] == "call_1" for item in found)
    return [item["type"] for item in found]


@pairs
def test_an_output_goes_in_the_form_of_a_call_that_is_written_anew(
    sent: Sent, kind: str
) -> None:
    call, output = pair(kind)
    items = [asked("Hello."), said("Hello."), asked("How many boats?")]
    found = sent(items, 0, 1, reply=[reasoned("Look."), call], answered=[output])
    as_function = ["function_call", "function_call_output"]
    own = [call["type"], output["type"]] if kind == "tool_search" else as_function
    assert types_of(found) == own
    assert [item.get("type") for item in found].count("reasoning") == 0


@pytest.mark.django_db
def test_what_a_shell_printed_is_sent_whole_as_a_function_s_output(sent: Sent) -> None:
    call, output = pair("shell")
    printed = " ".join(f"boat-{number}" for number in range(900))
    output["output"] = [{**_PRINTED, "stdout": printed}]
    items = [asked("Hello."), said("Hello."), asked("How many boats?")]
    found = sent(items, 0, 1, reply=[reasoned("Look."), call], answered=[output])
    assert printed in found[-1]["output"]


@pairs
def test_a_call_goes_in_the_form_of_what_stands_for_an_output_that_is_left_out(
    sent: Sent, kind: str
) -> None:
    call, output = pair(kind)
    found = sent([asked("How many boats?"), call, output, asked("And now?")], 2)
    is_shell = kind == "local_shell"  # whose call takes the output of a function
    first = call["type"] if is_shell else "function_call"
    assert types_of(found) == [first, "function_call_output"]


@pairs
def test_a_pair_that_nothing_touches_goes_out_as_it_came(sent: Sent, kind: str) -> None:
    call, output = pair(kind)
    items = [asked("Hello."), said("Hello."), asked("How many boats?"), call, output]
    assert sent(items, 0, 1) == items[2:]


@pytest.mark.django_db
def test_an_output_that_is_masked_takes_its_call_along(ask: Ask, agent: Client) -> None:
    call, output = pair("local_shell")
    given = {"model": "gpt-5", "input": [asked("How many boats?"), call, output]}
    ask(PATH, given, "boats")
    session = Session.objects.get()
    pattern = {"start": "14", "end": "boats"}
    operate(agent, str(session.pk), "redact", patterns=[pattern])
    out = json.loads(ask(PATH, given, "boats").body)
    assert types_of(out["input"]) == ["function_call", "function_call_output"]
    assert "14 boats" not in json.dumps(out)


@pytest.mark.django_db
@pytest.mark.parametrize("arguments", ['{"at": "pier', '"pier"'])
def test_a_call_whose_arguments_are_cut_off_goes_in_one_form_with_its_output(
    sent: Sent, arguments: str
) -> None:
    """As of a reply that reached its limit of tokens: it is written as a custom tool's."""
    call = {"type": "function_call", "call_id": "call_1", "name": "count"}
    call |= {"arguments": arguments}
    output = {"type": "function_call_output", "call_id": "call_1", "output": "No JSON."}
    items = [asked("Hello."), said("Hello."), asked("How many boats?")]
    found = sent(items, 0, 1, reply=[reasoned("Look."), call], answered=[output])
    assert types_of(found) == ["custom_tool_call", "custom_tool_call_output"]
    assert found[1]["input"] == arguments


@pytest.mark.django_db
def test_codex_answers_its_shell_as_a_function(ask: Ask, agent: Client) -> None:
    call, _ = pair("local_shell")
    output = {"type": "function_call_output", "call_id": "call_1", "output": "14"}
    items = [asked("Hello."), said("Hello."), asked("How many boats?"), call, output]
    given = {"model": "gpt-5", "input": items}
    ask(PATH, given, "boats")
    session = Session.objects.get()
    operate(
        agent, str(session.pk), "redact", patterns=[{"start": "Hello.", "all": True}]
    )
    out = json.loads(ask(PATH, given, "boats").body)
    assert types_of(out["input"]) == ["local_shell_call", "function_call_output"]


@pytest.mark.django_db
def test_a_call_that_is_written_anew_keeps_its_namespace(sent: Sent) -> None:
    call = {"type": "function_call", "call_id": "call_1", "name": "search"}
    call |= {"namespace": "mcp__boats__", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "call_1", "output": "14"}
    items = [asked("Hello."), said("Hello."), asked("How many boats?")]
    found = sent(items, 0, 1, reply=[reasoned("Look."), call], answered=[output])
    assert call in found
    assert reasoned("Look.") not in found
