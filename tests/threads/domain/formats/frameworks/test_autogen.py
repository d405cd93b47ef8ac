"""AutoGen: the chat history of 0.2, messages and states of 0.4."""

import base64
from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.readings import events, messages, parts, read, told
from threads.domain.message import Role, Usage
from threads.domain.part import Image, Opaque, Text, Thinking, ToolCall, ToolResult

CALL = {"id": "c1", "name": "look", "arguments": '{"lamp": 1}'}
RESULT = {"content": "It glows.", "name": "look", "call_id": "c1", "is_error": False}


def message(type_: str, source: str, content: Any, **members: Any) -> dict[str, Any]:
    return {"type": type_, "source": source, "content": content, **members}


def test_messages_and_events_of_agents_are_a_conversation() -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 2}
    picture = {"data": base64.b64encode(b"PNG").decode()}
    data = {
        "messages": [
            message("TextMessage", "user", "Which lamp?", id="m-1"),
            message(
                "MultiModalMessage", "user", ["This:", picture, {"data": "?"}, None]
            ),
            message("ThoughtEvent", "mender", "Hm."),
            message("ThoughtEvent", "mender", ""),
            message("ToolCallRequestEvent", "mender", [CALL], models_usage=usage),
            message("ToolCallExecutionEvent", "mender", [RESULT]),
            message("ToolCallSummaryMessage", "mender", "It glows."),
            message("MemoryQueryEvent", "mender", [{"content": "Lamp 1 is old."}]),
            message("CodeExecutionEvent", "mender", None, result={"output": "42"}),
            message("CodeExecutionEvent", "mender", None, result={}),
            message("StructuredMessage", "mender", {"lamp": 1}),
            message("ModelClientStreamingChunkEvent", "mender", "It"),
        ],
        "stop_reason": "Done.",
    }

    [found] = read(data)

    assert (found.format, found.title) == ("autogen", "Which lamp?")
    assert parts(found) == [
        (Text("Which lamp?"),),
        (
            Text("This:"),
            Image("image/png", data=b"PNG"),
            Opaque("image", {"type": "image", "data": "?"}),
        ),
        (Thinking("Hm."),),
        (ToolCall("c1", "look", {"lamp": 1}),),
        (ToolResult("c1", (Text("It glows."),), "look"),),
        (Text("Lamp 1 is old."),),
        (Text("42"),),
        (Text('{"lamp": 1}'),),
    ]
    assert [one.name for one in messages(found)][:4] == [None, None, "mender", "mender"]
    assert messages(found)[3].usage == Usage(input_tokens=5, output_tokens=2)
    assert events(found) == [
        "ThoughtEvent",
        "ToolCallSummaryMessage",
        "CodeExecutionEvent",
        "ModelClientStreamingChunkEvent",
        "stop_reason",
    ]


def test_a_chat_history_of_the_older_version_holds_openais_messages() -> None:
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "look", "arguments": "{}"},
    }
    answers = [
        {"tool_call_id": "c1", "role": "tool", "content": "It glows."},
        {"tool_call_id": "c2", "role": "tool", "content": "Dark."},
    ]
    history = [
        {"content": "Look.", "role": "user", "name": "boss"},
        {"content": None, "tool_calls": [call], "role": "assistant", "name": "mender"},
        {"content": "It glows.\n\nDark.", "role": "tool", "tool_responses": answers},
        {"content": "", "role": "user"},
    ]

    [found] = read({"chat_history": history, "summary": "Lamps.", "cost": {}})
    [rows] = read(history)

    assert parts(found)[1:] == [
        (ToolCall("c1", "look", {}),),
        (
            ToolResult("c1", (Text("It glows."),)),
            ToolResult("c2", (Text("Dark."),)),
        ),
    ]
    assert (found.format, rows.format) == ("autogen", "autogen")
    assert events(found) == ["user", "summary"]


def test_the_state_of_an_agent_is_what_it_sends_to_its_model() -> None:
    context = [
        {"type": "SystemMessage", "content": "You mend lamps."},
        message("UserMessage", "user", "Look."),
        message("AssistantMessage", "mender", [CALL], thought="Hm."),
        {"type": "FunctionExecutionResultMessage", "content": [RESULT]},
        message("AssistantMessage", "mender", "That one."),
    ]
    state = {
        "type": "AssistantAgentState",
        "version": "1.0.0",
        "llm_context": {"messages": context},
    }

    [found] = read(state)

    assert parts(found) == [
        (Text("You mend lamps."),),
        (Text("Look."),),
        (Thinking("Hm."), ToolCall("c1", "look", {"lamp": 1})),
        (ToolResult("c1", (Text("It glows."),), "look"),),
        (Text("That one."),),
    ]
    assert events(found) == ["type", "version"]


def test_the_state_of_a_team_is_its_thread_and_what_each_agent_sends() -> None:
    thread = [
        message("TextMessage", "user", "Look."),
        message("TextMessage", "mender", "Dark."),
    ]
    inner = {
        "type": "AssistantAgentState",
        "llm_context": {"messages": [message("UserMessage", "user", "Look.")]},
    }
    state = {
        "type": "TeamState",
        "agent_states": {
            "mender/1": {"type": "ChatAgentContainerState", "agent_state": inner},
            "idle/1": {"type": "ChatAgentContainerState", "agent_state": {}},
            "RoundRobinGroupChatManager/1": {
                "type": "RoundRobinManagerState",
                "message_thread": thread,
            },
        },
    }

    group, agent = read(state)

    assert group.title == "RoundRobinGroupChatManager: Look."
    assert told(group)[:2] == ["user: Look.", "assistant: Dark."]
    assert (agent.title, told(agent)) == ("mender: Look.", ["user: Look."])
    assert messages(group)[1].role is Role.ASSISTANT


def test_a_broken_message_is_a_warning() -> None:
    history = [
        message("TextMessage", "user", "Hi."),
        message("ToolCallRequestEvent", "mender", [{"id": "c1"}]),
        {"role": "tool", "tool_responses": [7]},
        message("ToolCallExecutionEvent", "mender", "gone"),
    ]

    [found] = read(history)

    assert events(found) == ["unreadable"] * 3
    assert "content[0].name" in found.warnings[0].message


def test_a_state_without_messages_is_refused() -> None:
    with pytest.raises(Invalid, match="an AutoGen conversation"):
        read({"type": "TeamState", "agent_states": {}})
