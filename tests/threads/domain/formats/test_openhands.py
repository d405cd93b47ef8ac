"""OpenHands' three generations: an answer of the model once, results linked to their calls."""

import json
from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads import readings
from tests.threads.folders import folder
from tests.threads.readings import compactions, events, messages, parts
from tests.threads.transcripts import lines
from threads.domain import formats
from threads.domain.formats import openhands
from threads.domain.part import Image, Text, Thinking, ToolCall, ToolResult
from threads.domain.transcript import Transcript


def read(data: Any) -> list[Transcript]:
    return readings.read(data, "openhands")


# Evaluations


ASKED = {"content": "Mend the lamp.", "action": "message"}
RAN = {
    "command": "ls",
    "thought": "I look.",
    "action": "run",
    "is_confirmed": "confirmed",
}
SEEN = {"content": "lamp.py", "command_id": 1, "observation": "run"}
DONE = {"outputs": {}, "thought": "", "action": "finish"}


def test_an_evaluation_is_a_conversation_a_line() -> None:
    first, second = read(
        lines(
            {
                "instance_id": "lamp-1",
                "instruction": "x",
                "history": [ASKED, RAN, SEEN, DONE],
            },
            {
                "instruction": "x",
                "history": [[ASKED, {"observation": "null"}], [RAN, SEEN]],
            },
            {"instruction": "x"},
        )
    )

    assert (first.title, second.title) == ("lamp-1", "Mend the lamp.")
    assert parts(first) == [
        (Text("Mend the lamp."),),
        (Text("I look."), ToolCall("call-1", "run", {"command": "ls"})),
        (ToolResult("call-1", (Text("lamp.py"),), "run"),),
        (ToolCall("call-2", "finish", {"outputs": {}}),),
    ]
    assert events(first) == ["instance_id", "instruction"]
    assert parts(second)[1:] == parts(first)[1:3]
    assert events(second) == ["observation/null", "instruction"]


# Trajectories


def action(id_: int, name: str, source: str = "agent", **args: Any) -> dict[str, Any]:
    moment = "2026-03-01T10:00:00.5"
    return {
        "id": id_,
        "timestamp": moment,
        "source": source,
        "action": name,
        "args": args,
    }


def seen(id_: int, cause: int, name: str = "run", **more: Any) -> dict[str, Any]:
    return {
        "id": id_,
        "source": "agent",
        "observation": name,
        "cause": cause,
        "content": "a",
        **more,
    }


def told(name: str, call_id: str, **answer: Any) -> dict[str, Any]:
    metadata = {
        "function_name": name,
        "tool_call_id": call_id,
        "model_response": answer,
    }
    return {"tool_call_metadata": metadata}


def calls(*ids: str) -> list[dict[str, Any]]:
    function = {"name": "bash", "arguments": "{}"}
    return [{"id": id_, "type": "function", "function": function} for id_ in ids]


def test_actions_of_one_answer_are_one_message() -> None:
    reply = {"role": "assistant", "content": "I look.", "tool_calls": calls("c1", "c2")}
    answer = {
        "id": "r-1",
        "model": "m-1",
        "choices": [{"message": reply}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 3},
    }
    [found] = read(
        [
            action(0, "system", content="Be brief.", tools=[]),
            action(
                1,
                "message",
                "user",
                content="Mend.",
                image_urls=["https://example.org/a.png", 7],
            ),
            {**action(2, "run", command="ls"), **told("bash", "c1", **answer)},
            {**seen(3, 2), **told("bash", "c1", **answer)},
            {**action(4, "run", command="pwd"), **told("bash", "c2", **answer)},
            {**seen(5, 4, "error"), **told("bash", "c2", **answer)},
            action(
                6,
                "message",
                content="Done.",
                images_urls=["data:image/png;base64,UE5H", "data:x"],
            ),
            action(7, "message", content=""),
            action(8, "change_agent_state", "environment"),
            seen(9, 8, "agent_state_changed"),
            seen(10, -1, "delegate"),
        ]
    )

    assert parts(found) == [
        (Text("Be brief."),),
        (Text("Mend."), Image("image/*", url="https://example.org/a.png")),
        (Text("I look."), ToolCall("c1", "bash", {}), ToolCall("c2", "bash", {})),
        (ToolResult("c1", (Text("a"),), "bash"),),
        (ToolResult("c2", (Text("a"),), "bash", True),),
        (Text("Done."), Image("image/png", data=b"PNG")),
    ]
    answered = messages(found)[2]
    assert (answered.model, answered.source_id, answered.usage is not None) == (
        "m-1",
        "r-1",
        True,
    )
    assert answered.created_at is not None
    assert events(found) == [
        "action/run",
        "action/message",
        "action/change_agent_state",
        "observation/agent_state_changed",
        "observation/delegate",
    ]


def test_an_action_without_the_model_s_answer_is_a_call_named_by_its_number() -> None:
    [found] = read(
        [
            action(1, "message", "user", content="Mend."),
            action(2, "run", command="ls"),
            seen(3, 2, extras={"image_urls": ["https://example.org/a.png"]}),
            {
                **action(4, "run", command="ls"),
                **told("bash", "c1", id="r-1", choices=[]),
            },
            {"source": "user"},
            7,
        ]
    )

    assert parts(found)[1:] == [
        (ToolCall("event-2", "run", {"command": "ls"}),),
        (
            ToolResult(
                "event-2",
                (Text("a"), Image("image/*", url="https://example.org/a.png")),
                "run",
            ),
        ),
        (ToolCall("c1", "bash", {"command": "ls"}),),
    ]
    assert events(found) == ["event", "unreadable"]


def test_what_a_condenser_forgot_is_a_compaction() -> None:
    [found] = read(
        [
            action(1, "message", "user", content="Mend."),
            action(2, "run", command="ls"),
            seen(3, 2),
            action(4, "condensation", forgotten_event_ids=[2, 3], summary="Looked."),
            action(5, "run", command="pwd"),
            action(
                6,
                "condensation",
                forgotten_events_start_id=1,
                forgotten_events_end_id=5,
                summary="All.",
            ),
            action(7, "condensation", forgotten_event_ids=[1]),
        ]
    )
    first, second = compactions(found)

    assert (first.replaces, first.messages[0].text) == ((1, 2), "Looked.")
    assert second.replaces == (0, 1, 2, 3)
    assert events(found) == ["action/condensation"]


# The SDK


def event(kind: str, id_: str = "", **members: Any) -> dict[str, Any]:
    moment = "2026-03-01T10:00:00.5"
    return {
        "id": id_ or kind,
        "timestamp": moment,
        "source": "agent",
        "kind": kind,
        **members,
    }


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words, "cache_prompt": False}


def acted(call_id: str, response: str, *thought: str, **members: Any) -> dict[str, Any]:
    call = {"id": call_id, "name": "terminal", "arguments": '{"command": "ls"}'}
    return event(
        "ActionEvent",
        call_id,
        thought=[text(words) for words in thought],
        tool_call=call,
        tool_name="terminal",
        tool_call_id=call_id,
        llm_response_id=response,
        **members,
    )


def answered(call_id: str, words: str, **observation: Any) -> dict[str, Any]:
    return event(
        "ObservationEvent",
        f"seen-{call_id}",
        tool_name="terminal",
        tool_call_id=call_id,
        observation={"content": [text(words)], **observation},
    )


def said(role: str, *content: Any, **more: Any) -> dict[str, Any]:
    message = {"role": role, "content": list(content), **more}
    return event("MessageEvent", f"said-{role}", llm_message=message)


PROMPT = event(
    "SystemPromptEvent",
    system_prompt=text("Be brief."),
    dynamic_context=text("Here."),
    tools=[],
)
LS = {"command": "ls"}


def test_the_sdk_s_events_are_what_the_model_was_given() -> None:
    picture = {"type": "image", "image_urls": ["data:image/png;base64,UE5H"]}
    [found] = read(
        lines(
            PROMPT,
            {
                **said("user", text("Mend."), picture),
                "extended_content": [text("Mind.")],
            },
            acted("c1", "r-1", "I look.", reasoning_content="Hm."),
            event("ConversationStateUpdateEvent"),
            acted("c2", "r-1"),
            answered("c1", "lamp.py"),
            answered("c2", "no", is_error=True),
            event("AgentErrorEvent", tool_call_id="c3", error="Broken."),
            event("UserRejectObservation", tool_call_id="c4", rejection_reason="No."),
            event("PauseEvent"),
            event("CondensationSummaryEvent", summary="So far."),
            event("CondensationSummaryEvent", summary=""),
            said("assistant", text("Done."), tool_calls=calls("c5")),
        )
    )

    assert parts(found) == [
        (Text("Be brief."), Text("Here.")),
        (Text("Mend."), Image("image/png", data=b"PNG"), Text("Mind.")),
        (
            Thinking("Hm."),
            Text("I look."),
            ToolCall("c1", "terminal", LS),
            ToolCall("c2", "terminal", LS),
        ),
        (ToolResult("c1", (Text("lamp.py"),), "terminal"),),
        (ToolResult("c2", (Text("no"),), "terminal", True),),
        (ToolResult("c3", (Text("Broken."),), None, True),),
        (ToolResult("c4", (Text("Action rejected: No."),), None, True),),
        (Text("So far."),),
        (Text("Done."), ToolCall("c5", "bash", {})),
    ]
    assert [len(message.records) for message in messages(found)][2] == 2
    assert events(found) == [
        "ConversationStateUpdateEvent",
        "PauseEvent",
        "CondensationSummaryEvent",
    ]


def test_reasoning_is_kept_in_every_form() -> None:
    sealed = {"id": "r", "summary": ["One.", "Two."], "encrypted_content": "e"}
    signed = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    [found] = read(
        [
            acted("c1", "r-1", responses_reasoning_item=sealed),
            acted("c2", "r-2", thinking_blocks=[signed], reasoning_content="Hm."),
            {
                **acted("c3", "r-3"),
                "tool_call": None,
                "action": {"kind": "T", "command": "ls"},
            },
        ]
    )

    assert parts(found) == [
        (
            Thinking("One.\n\nTwo."),
            Thinking("", data="e"),
            ToolCall("c1", "terminal", LS),
        ),
        (Thinking("Hm.", "s"), ToolCall("c2", "terminal", LS)),
        (ToolCall("c3", "terminal", LS),),
    ]


def test_what_the_sdk_s_condenser_forgot_is_a_compaction() -> None:
    forgotten = ["said-user", "c1", "c2", "gone"]
    [found] = read(
        lines(
            said("user", text("Mend.")),
            acted("c1", "r-1"),
            acted("c2", "r-1"),
            event("Condensation", forgotten_event_ids=forgotten, summary="So far."),
            event("Condensation", forgotten_event_ids=["gone"], summary="Nothing."),
        )
    )
    [compaction] = compactions(found)

    assert (compaction.replaces, compaction.messages[0].text) == ((0, 1), "So far.")
    assert events(found) == ["Condensation"]


def test_an_event_that_cannot_be_read_is_a_warning() -> None:
    broken = event("MessageEvent", llm_message=7)
    [found] = read(lines(PROMPT, broken))

    assert events(found) == ["unreadable"]
    list(found.items)
    assert [warning.line for warning in found.warnings] == [2]


def test_a_file_without_messages_is_refused() -> None:
    with pytest.raises(Invalid, match="an OpenHands conversation"):
        read(b"[]")
    with pytest.raises(Invalid, match="an OpenHands conversation"):
        read(lines({"instruction": "x", "history": []}))


def test_a_folder_of_events_is_one_conversation() -> None:
    state = {"id": "s-1", "agent": {"llm": {"model": "m-1"}}}
    [gathered] = openhands.gather(
        folder(
            {
                "a/base_state.json": state,
                "a/events/event-00010-aa.json": said("assistant", text("Done.")),
                "a/events/event-00000-bb.json": PROMPT,
                "a/events/event-00001-cc.json": said("user", text("Mend.")),
                "a/tasks.json": [],
                "b/base_state.json": state,
                "c/events/event-00000-aa.json": event("PauseEvent"),
                "d/events/0.json": {"unrelated": 1},
            }
        )
    )
    [found] = gathered.transcripts
    raw = json.dumps(PROMPT)

    assert (found.external_id, found.model, found.title) == ("s-1", "m-1", "Mend.")
    assert found.member == "a/events/event-00000-bb.json"
    assert messages(found)[0].records == (
        f"a/events/event-00000-bb.json#bytes:0-{len(raw)}",
    )
    assert [message.role for message in messages(found)] == [
        "system",
        "user",
        "assistant",
    ]
    assert events(found) == ["notes"]
    assert len(gathered.members) == 4


def test_a_folder_of_numbered_events_is_a_trajectory() -> None:
    [gathered] = openhands.gather(
        folder(
            {
                "s/metadata.json": {"conversation_id": "s-2", "title": "The lamp"},
                "s/events/10.json": action(10, "message", content="Done."),
                "s/events/9.json": action(9, "message", "user", content="Mend."),
            }
        )
    )
    [found] = gathered.transcripts

    assert (found.external_id, found.title) == ("s-2", "The lamp")
    assert parts(found) == [(Text("Mend."),), (Text("Done."),)]


@pytest.mark.parametrize("name", ["trajectory", "events", "items"])
def test_a_server_s_answer_holds_events_in_a_list(name: str) -> None:
    data = {name: [action(1, "message", "user", content="Mend.")], "next": None}
    [found] = read(data)

    assert parts(found) == [(Text("Mend."),)]
    assert formats.detect(json.dumps(data).encode())[0].format == "openhands"


def test_each_generation_is_known() -> None:
    for data in (
        lines({"instance_id": "1", "history": []}, {}),
        lines(PROMPT, PROMPT),
        json.dumps([action(1, "message")]).encode(),
    ):
        assert formats.detect(data)[0].format == "openhands"
