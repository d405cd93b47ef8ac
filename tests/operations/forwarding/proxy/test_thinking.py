"""Thinking that Anthropic requires of a response in progress, but an operation makes invalid."""

import json
from typing import Any

import pytest
from django.test import Client

from tests.operations.support.rest import operate
from tests.validators.anthropic import validate
from threads.models import Session

from .conftest import Ask

Form = dict[str, Any]
CLEARING = {"type": "clear_thinking_20251015", "keep": "all"}
TOOLS_CLEARING = {"type": "clear_tool_uses_20250919"}


def thinking(text: str) -> Form:
    return {"type": "thinking", "thinking": text, "signature": "c2lnbmVk"}


def call(name: str) -> Form:
    return {"type": "tool_use", "id": name, "name": "look", "input": {}}


def result(name: str) -> Form:
    block = {"type": "tool_result", "tool_use_id": name, "content": "14 boats."}
    return {"role": "user", "content": [block]}


def said(*blocks: Form) -> Form:
    return {"role": "assistant", "content": [*blocks]}


def asked(text: str) -> Form:
    return {"role": "user", "content": text}


def body(*messages: Form, **more: Any) -> Form:
    tools = [{"name": "look", "input_schema": {"type": "object"}}]
    mode = {"type": "enabled", "budget_tokens": 1024}
    given = {"model": "claude-sonnet-4-5", "max_tokens": 9000, "thinking": mode}
    return {**given, "tools": tools, "messages": [*messages], **more}


BEGUN = [
    asked("How many ferries are there?"),
    said(thinking("Count them."), {"type": "text", "text": "There are 3 ferries."}),
    asked("And how many boats?"),
    said(thinking("Look first."), call("toolu_1")),
    result("toolu_1"),
]
"""A conversation whose last response is in progress."""


@pytest.fixture
def sent(ask: Ask, agent: Client) -> Any:
    """Returns what goes out for a body once the messages of these indexes are snipped."""

    def send(given: Form, *snipped: int, path: str = "/v1/messages") -> Form:
        ask("/v1/messages", given, "boats")
        session = Session.objects.get()
        operate(agent, str(session.pk), "snip", targets=[f"m{at}" for at in snipped])
        out: Form = json.loads(ask(path, given, "boats").body)
        return out

    return send


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/v1/messages", "/v1/messages/count_tokens"])
def test_a_response_that_loses_its_thinking_is_continued_without_thinking(
    sent: Any, path: str
) -> None:
    out = sent(body(*BEGUN), 0, 1, path=path)
    assert out["messages"] == [BEGUN[2], said(call("toolu_1")), BEGUN[4]]
    assert [*validate(out)] == []
    assert "thinking" not in out


@pytest.mark.django_db
def test_so_is_one_of_which_only_a_later_step_loses_its_thinking(sent: Any) -> None:
    given = body(
        *BEGUN,
        said(thinking("Again."), call("toolu_2")),
        result("toolu_2"),
        said(thinking("Once more."), call("toolu_3")),
        result("toolu_3"),
    )
    out = sent(given, 5, 6)
    assert out["messages"][3] == BEGUN[3]
    assert out["messages"][-2] == said(call("toolu_3"))
    assert "thinking" not in out


@pytest.mark.django_db
def test_a_step_that_never_had_thinking_leaves_it_on(sent: Any) -> None:
    steps = [said(call(f"toolu_{at}")) for at in (2, 3)]
    given = body(*BEGUN, steps[0], result("toolu_2"), steps[1], result("toolu_3"))
    assert sent(given, 5, 6)["thinking"] == given["thinking"]


@pytest.mark.django_db
def test_from_the_next_question_on_thinking_is_on_again(sent: Any) -> None:
    answer = said(thinking("Done."), {"type": "text", "text": "There are 14."})
    given = body(*BEGUN, answer, asked("Are you sure?"))
    assert sent(given, 0, 1)["thinking"] == given["thinking"]


@pytest.mark.django_db
@pytest.mark.parametrize("mode", [{"type": "adaptive"}, {"type": "disabled"}, None, 7])
def test_other_modes_stay(sent: Any, mode: Any) -> None:
    assert sent(body(*BEGUN, thinking=mode), 0, 1)["thinking"] == mode


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("editing", "kept"),
    [
        ({"edits": [CLEARING]}, None),
        ({"edits": [CLEARING, TOOLS_CLEARING]}, {"edits": [TOOLS_CLEARING]}),
        ({"edits": [TOOLS_CLEARING]}, {"edits": [TOOLS_CLEARING]}),
        ({"edits": 7}, {"edits": 7}),
    ],
)
def test_the_provider_is_not_told_to_clear_thinking_that_is_off(
    sent: Any, editing: Form, kept: Form | None
) -> None:
    out = sent(body(*BEGUN, context_management=editing), 0, 1)
    assert out.get("context_management") == kept


@pytest.mark.django_db
def test_the_client_is_told_that_thinking_is_off(sent: Any, ask: Ask) -> None:
    sent(body(*BEGUN), 0, 1)
    notes = dict(ask("/v1/messages", body(*BEGUN), "boats").notes)
    assert notes[b"x-contextstudio-note"].startswith(b"Thinking is off")


@pytest.mark.django_db
def test_a_conversation_that_nothing_changes_goes_out_as_it_came(ask: Ask) -> None:
    given = body(*BEGUN[:3], said(call("toolu_1")), BEGUN[4])
    assert ask("/v1/messages", given, "boats").body == json.dumps(given).encode()
