"""Logs of Copilot Chat's requests, as its debug view exports them."""

from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support import readings
from tests.threads.support.editor_specimens import REPLAY, REPLAYED_CALL, replayed
from threads.domain.message import Message, Role, Usage
from threads.domain.part import (
    Image,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)


def parts_of(*content: Any, role: Any = 2, **members: Any) -> tuple[Any, ...]:
    """The parts of a message that was sent."""
    sent = [{"role": role, "content": [*content], **members}]
    [found] = readings.read({"prompt": "x", "promptId": "p", "logs": [replayed(sent)]})
    return readings.messages(found)[0].parts


def test_the_last_request_of_a_chain_is_the_conversation() -> None:
    [found] = readings.read(REPLAY)
    system, asked, called, result, told = readings.messages(found)

    assert (found.format, found.title, found.model) == (
        "copilot_replay",
        "Look.",
        "m-1",
    )
    assert (system.role, asked.role) == (Role.SYSTEM, Role.USER)
    assert called.parts == (Thinking("I shall look."), ToolCall("c1", "look", {}))
    assert result.parts == (ToolResult("c1", (Text("It is dark."),)),)
    assert told.parts == (Text("The second one."),)
    assert told.usage == Usage(input_tokens=5, output_tokens=2)
    assert readings.events(found) == ["request/panel/editAgent", "toolCall/look"]


def test_a_request_of_another_kind_is_a_conversation_of_its_own() -> None:
    title = replayed([{"role": "user", "content": "Name this chat."}], "Lamps")
    prompt = REPLAY["prompts"][0]
    found = readings.read({"prompts": [{**prompt, "logs": [*prompt["logs"], title]}]})
    assert [readings.texts(one)[-1] for one in found] == ["The second one.", "Lamps"]


def test_calls_are_read_where_no_request_is() -> None:
    other = {"kind": "element", "name": "x"}
    call = {**REPLAYED_CALL, "response": [{"x": 1}, ""], "thinking": None}
    [found] = readings.read(
        {"prompt": "Look.", "promptId": "p", "logs": [REPLAYED_CALL, other, call]}
    )
    made = ToolCall("c1", "look", {"lamp": 2})
    assert readings.parts(found) == [
        (Text("Look."),),
        (Thinking("I shall look."), made),
        (ToolResult("c1", (Text("It is dark."),), "look"),),
        (made,),
        (ToolResult("c1", (Text('{"x": 1}'),), "look"),),
    ]
    assert readings.events(found) == ["element"]


def test_each_kind_of_content_has_its_part() -> None:
    sealed = {"type": "thinking", "thinking": {"text": "zzz", "encrypted": True}}
    marker = {"type": 2, "value": {"type": "stateful_marker", "value": {}}}
    call = {"type": "tool_call", "toolCall": {"name": "look", "input": {"lamp": 1}}}
    assert parts_of(
        "Hi",
        "",
        {"type": 2, "value": sealed},
        {"type": 2, "value": {"type": "thinking", "thinking": {}}},
        marker,
        {"type": 2, "value": call},
        {"type": 0, "imageUrl": {"url": "https://x/y.png"}},
        {"type": 0, "imageUrl": {"url": "data:image/png;base64,UE5H"}},
        tool_calls=[{"id": "c2"}],
    ) == (
        Text("Hi"),
        Thinking("", data="zzz"),
        Opaque("stateful_marker", marker),
        ToolCall("", "look", {"lamp": 1}),
        Image("image/*", url="https://x/y.png"),
        Image("image/png", data=b"PNG"),
    )


def test_an_answer_that_failed_is_kept_whole() -> None:
    failed = replayed([{"role": 1, "content": "Hi"}]) | {
        "response": {"type": "failed", "message": [{"reason": "x"}, None]}
    }
    [found] = readings.read({"prompts": [{"prompt": "Hi", "logs": [failed]}]})
    last = readings.messages(found)[-1]
    assert isinstance(last, Message)
    assert last.parts == (Opaque("response", {"reason": "x"}),)


def test_a_log_without_a_word_is_refused() -> None:
    for prompt in ({"prompt": "", "logs": []}, {"logs": 1}, {"prompt": ""}):
        data = {"totalLogEntries": 0, "prompts": [prompt]}
        with pytest.raises(Invalid, match="holds no messages"):
            readings.read(data)
    with pytest.raises(Invalid):
        readings.read({"totalLogEntries": 0})
