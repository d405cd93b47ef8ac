"""Thinking that Anthropic requires of a response in progress, but an operation makes invalid."""

import base64
import json
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import pytest
from django.test import Client

from operations.log.cache import forget_everything
from tests.operations.support.rest import operate, post
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
def test_thinking_stays_on_if_only_a_later_step_loses_its_thinking(sent: Any) -> None:
    """The provider requires thinking at the beginning, and refuses it where thinking is off."""
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
    assert out["thinking"] == given["thinking"]
    assert [*validate(out)] == []


@pytest.mark.django_db
def test_a_step_that_never_had_thinking_leaves_it_on(sent: Any) -> None:
    steps = [said(call(f"toolu_{at}")) for at in (2, 3)]
    given = body(*BEGUN, steps[0], result("toolu_2"), steps[1], result("toolu_3"))
    assert sent(given, 5, 6)["thinking"] == given["thinking"]


@pytest.mark.django_db
def test_a_question_beside_results_begins_no_other_response(sent: Any) -> None:
    """The provider reads several messages of a user as one."""
    out = sent(body(*BEGUN, asked("Are you sure?")), 0, 1)
    assert [*validate(out)] == []
    assert "thinking" not in out


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


# A provider whose signatures cover what it had read


class Agent:
    """An agent whose model thinks before each call, and checks what it thought before."""

    def __init__(self, ask: Ask, api: Client, *, forgets: bool) -> None:
        self._ask, self._api, self._forgets = ask, api, forgets
        self.messages: list[Form] = []
        self._steps = 0

    def asks(self, text: str) -> None:
        self.messages.append(asked(text))

    def turn(self, *, is_last: bool = False) -> tuple[list[str], bool]:
        """A request: the steps sent with their thinking, and whether it asks for thinking.

        Its response calls a tool, or else is the last step.
        """
        if self._forgets:
            forget_everything()
        out = json.loads(self._ask("/v1/messages", body(*self.messages), "boats").body)
        assert [*validate(out)] == []
        found, is_on = [*_thought_through(out["messages"])], "thinking" in out
        thought = thinking(f"toolu_{self._steps}")
        thought["signature"] = _seal(out["messages"])
        name, before = f"toolu_{self._steps}", [thought] if is_on else []
        if is_last:
            self.messages.append(said(*before, {"type": "text", "text": name}))
        else:
            self.messages += [said(*before, call(name)), result(name)]
        self._steps += 1
        return found, is_on

    def operates(self, operation: str, **members: Any) -> str:
        """Record an operation; returns its id."""
        session = Session.objects.get()
        made = operate(self._api, str(session.pk), operation, **members)
        found: str = made["operation_id"]
        return found

    def switches_off(self, operation: str) -> None:
        post(self._api, f"/api/operations/{operation}/toggle", {"active": False})


def _seal(read: list[Form]) -> str:
    return base64.b64encode(sha256(json.dumps(read).encode()).digest()).decode()


def _thought_through(messages: list[Form]) -> Iterator[str]:
    for place, message in enumerate(messages):
        thoughts = [one for one in message["content"] if "signature" in one]
        for thought in thoughts:
            assert thought["signature"] == _seal(messages[:place]), place
            yield thought["thinking"]


@pytest.fixture(params=[False, True], ids=["one worker", "another worker each time"])
def loop(ask: Ask, agent: Client, request: pytest.FixtureRequest) -> Agent:
    """A loop of which two requests went out as its client has them."""
    made = Agent(ask, agent, forgets=request.param)
    made.asks("How many boats are there?")
    assert made.turn() == ([], True)
    assert made.turn() == (["toolu_0"], True)
    return made


@pytest.mark.django_db
def test_what_the_model_thought_under_an_operation_goes_on(loop: Agent) -> None:
    loop.operates("snip", targets=["m1", "m2"])
    assert loop.turn() == ([], False)  # the response in progress lost its thinking
    assert loop.turn(is_last=True) == ([], False)
    loop.asks("And how many ferries?")
    assert loop.turn() == ([], True)
    assert loop.turn() == (["toolu_4"], True)
    assert loop.turn() == (["toolu_4", "toolu_5"], True)


@pytest.mark.django_db
def test_what_the_model_thought_after_an_added_question_is_left_out(
    loop: Agent,
) -> None:
    loop.operates("snip", targets=["m1", "m2"])
    assert loop.turn(is_last=True) == ([], False)
    assert loop.turn() == ([], True)  # nothing is asked, so a question is added
    assert loop.turn(is_last=True) == ([], False)
    loop.asks("And how many ferries?")
    assert loop.turn() == ([], True)
    assert loop.turn() == (["toolu_5"], True)


@pytest.mark.django_db
def test_what_it_thought_under_an_operation_is_left_out_without_it(loop: Agent) -> None:
    loop.turn(is_last=True)
    loop.asks("And how many ferries?")
    snip = loop.operates("snip", targets=["m1", "m2"])
    assert loop.turn() == ([], True)
    assert loop.turn(is_last=True) == (["toolu_3"], True)
    loop.switches_off(snip)
    loop.asks("And how many bridges?")
    before = ["toolu_0", "toolu_1", "toolu_2"]
    assert loop.turn() == (before, True)
    assert loop.turn() == ([*before, "toolu_5"], True)


@pytest.mark.django_db
def test_what_would_be_sent_says_which_thinking_holds(
    loop: Agent, agent: Client
) -> None:
    loop.turn(is_last=True)
    loop.asks("And how many ferries?")
    loop.operates("snip", targets=["m1", "m2"])
    for _ in range(3):
        loop.turn()
    url = f"/api/sessions/{Session.objects.get().pk}/context?provider=anthropic"
    shown = agent.get(url).json()["request"]["messages"]
    assert [*_thought_through_texts(shown)] == ["toolu_3", "toolu_4"]


def _thought_through_texts(messages: list[Form]) -> Iterator[str]:
    """The calls with thinking, in a request whose texts may be written differently."""
    for message in messages:
        blocks = message["content"]
        if isinstance(blocks, list) and "signature" in blocks[0]:
            yield blocks[0]["thinking"]


@pytest.mark.django_db
def test_a_second_run_under_one_name_keeps_its_own_thinking(
    ask: Ask, agent: Client
) -> None:
    """It makes the same calls with the same results, but after another question."""
    ask("/v1/messages", body(*BEGUN[2:]), "boats")
    operate(agent, str(Session.objects.get().pk), "snip", targets=["m0"])
    ask("/v1/messages", body(*BEGUN[2:]), "boats")
    signed = {"type": "thinking", "thinking": "Hm.", "signature": "YW5ldw=="}
    again = body(asked("Which ferries?"), said(signed, call("toolu_7")))
    again["messages"].append(result("toolu_7"))
    assert json.loads(ask("/v1/messages", again, "boats").body) == again


@pytest.mark.django_db
def test_another_call_with_the_same_result_keeps_it(ask: Ask, agent: Client) -> None:
    """Where a response is generated anew; many results say just that all went well."""
    other = call("toolu_7") | {"input": {"at": "the pier"}}
    again = body(
        BEGUN[2], said(other), result("toolu_7"), thinking={"type": "disabled"}
    )
    ask("/v1/messages", body(*BEGUN[2:]), "boats")
    session_id = str(Session.objects.get().pk)
    ask("/v1/messages", again, "boats")
    words = [{"role": "user", "content": "Count the big ones only."}]
    operate(agent, session_id, "insert", after="m0", messages=words)
    out = json.loads(ask("/v1/messages", again, "boats").body)
    assert out["messages"][1:] == again["messages"][1:]
