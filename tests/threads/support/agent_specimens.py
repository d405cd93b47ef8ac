"""Specimens of files that agents and chats for people write: see `specimens`."""

import json
from collections.abc import Iterable
from typing import Any

TIME = "2026-03-02T10:00:00.000Z"


def document(value: Any) -> bytes:
    """One JSON document."""
    return json.dumps(value, ensure_ascii=False).encode()


def lines(records: Iterable[Any]) -> bytes:
    """JSON Lines."""
    return b"".join(document(record) + b"\n" for record in records)


def _claude(number: int, **record: Any) -> dict[str, Any]:
    return {
        "uuid": f"0000-{number}",
        "parentUuid": f"0000-{number - 1}" if number else None,
        "sessionId": "5e55-10",
        "timestamp": TIME,
        "isSidechain": False,
        **record,
    }


def _claude_said(number: int, *content: Any) -> dict[str, Any]:
    message = {"role": "assistant", "id": "msg_1", "content": [*content]}
    return _claude(number, type="assistant", message=message)


def _codex_item(stage: str, number: int, **members: Any) -> dict[str, Any]:
    """An event of one of the items that `codex exec` prints."""
    return {"type": f"item.{stage}", "item": {"id": f"item_{number}", **members}}


USE = {"type": "tool_use", "id": "t1", "name": "Look", "input": {"lamp": 1}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "It glows."}
_TREE = {
    "a": {"id": "a", "parent": None, "children": ["b"], "message": None},
    "b": {
        "id": "b",
        "parent": "a",
        "children": ["c", "d"],
        "message": {
            "id": "b",
            "author": {"role": "user"},
            "content": {"content_type": "text", "parts": ["Which lamp?"]},
        },
    },
    **{
        id_: {
            "id": id_,
            "parent": "b",
            "children": [],
            "message": {
                "id": id_,
                "author": {"role": "assistant"},
                "recipient": "all",
                "content": {"content_type": "text", "parts": ["The second."]},
            },
        }
        for id_ in "cd"
    },
}

OF_AGENTS: dict[str, bytes] = {
    "claude_code": lines(
        [
            {"type": "custom-title", "sessionId": "5e55-10", "customTitle": "Lamps"},
            _claude(0, type="user", message={"role": "user", "content": "Look."}),
            _claude_said(1, {"type": "thinking", "thinking": "Hm", "signature": "s"}),
            _claude_said(2, USE),
            _claude(3, type="user", message={"role": "user", "content": [RESULT]}),
            _claude(4, type="progress", data={"type": "bash_progress"}),
            _claude(
                5,
                type="system",
                subtype="compact_boundary",
                logicalParentUuid="0000-4",
                parentUuid=None,
                compactMetadata={"trigger": "auto", "preTokens": 9},
            ),
            _claude(
                6,
                type="user",
                isCompactSummary=True,
                message={"role": "user", "content": "Looked at one lamp."},
            ),
        ]
    ),
    "codex": lines(
        {"timestamp": TIME, "type": type_, "payload": payload}
        for type_, payload in [
            ("session_meta", {"id": "5e55-20", "timestamp": TIME, "cwd": "/lamps"}),
            (
                "response_item",
                {
                    "type": "message",
                    "role": "user",
                    "content": [{"type": "input_text", "text": "Look."}],
                },
            ),
            (
                "response_item",
                {
                    "type": "function_call",
                    "name": "look",
                    "arguments": "{}",
                    "call_id": "c1",
                },
            ),
            (
                "response_item",
                {"type": "function_call_output", "call_id": "c1", "output": "Dark."},
            ),
            ("event_msg", {"type": "agent_message", "message": "Dark."}),
        ]
    ),
    "gemini_cli": document(
        {
            "sessionId": "5e55-30",
            "projectHash": "0f",
            "startTime": TIME,
            "messages": [
                {"id": "1", "timestamp": TIME, "type": "user", "content": "Look."},
                {
                    "id": "2",
                    "timestamp": TIME,
                    "type": "gemini",
                    "content": "I look.",
                    "thoughts": [{"subject": "Lamps", "description": "Two."}],
                    "toolCalls": [
                        {"id": "t1", "name": "look", "args": {}, "status": "success"}
                    ],
                },
            ],
        }
    ),
    "gemini_cli, appended": lines(
        [
            {"sessionId": "5e55-31", "projectHash": "0f", "startTime": TIME},
            {"id": "1", "timestamp": TIME, "type": "user", "content": "Look."},
            {"id": "2", "timestamp": TIME, "type": "gemini", "content": "I"},
            {"id": "2", "timestamp": TIME, "type": "gemini", "content": "I look."},
            {"$rewindTo": "2"},
        ]
    ),
    "chatgpt": document([{"title": "Lamps", "mapping": _TREE, "current_node": "c"}]),
    "claude_ai": document(
        [
            {
                "uuid": "5e55-40",
                "name": "Lamps",
                "chat_messages": [
                    {"uuid": "1", "sender": "human", "text": "Look.", "content": []},
                    {
                        "uuid": "2",
                        "sender": "assistant",
                        "text": "",
                        "content": [USE, RESULT, {"type": "text", "text": "Dark."}],
                    },
                ],
            }
        ]
    ),
    "pi": lines(
        [
            {"type": "session", "version": 3, "id": "5e55-50", "cwd": "/lamps"},
            {
                "type": "message",
                "id": "1",
                "parentId": None,
                "timestamp": TIME,
                "message": {"role": "user", "content": "Look."},
            },
            {
                "type": "message",
                "id": "2",
                "parentId": "1",
                "timestamp": TIME,
                "message": {
                    "role": "assistant",
                    "content": [
                        {"type": "toolCall", "id": "t", "name": "look", "arguments": {}}
                    ],
                },
            },
        ]
    ),
    "copilot_cli": lines(
        {"type": type_, "data": data, "id": str(number), "timestamp": TIME}
        for number, (type_, data) in enumerate(
            [
                (
                    "session.start",
                    {
                        "sessionId": "5e55-60",
                        "producer": "copilot-agent",
                        "version": 1,
                        "copilotVersion": "1.0.64",
                    },
                ),
                ("user.message", {"content": "Look."}),
                (
                    "assistant.message",
                    {
                        "messageId": "1",
                        "content": "I look.",
                        "toolRequests": [
                            {"toolCallId": "t", "name": "look", "arguments": {}}
                        ],
                    },
                ),
                (
                    "tool.execution_complete",
                    {"toolCallId": "t", "success": True, "result": {"content": "Dark"}},
                ),
            ]
        )
    ),
    "codex_exec": lines(
        [
            {"type": "thread.started", "thread_id": "5e55-61"},
            {"type": "turn.started"},
            _codex_item("completed", 0, type="reasoning", text="I shall look."),
            _codex_item(
                "started",
                1,
                type="command_execution",
                command="look",
                aggregated_output="",
                exit_code=None,
                status="in_progress",
            ),
            _codex_item(
                "completed",
                1,
                type="command_execution",
                command="look",
                aggregated_output="Dark.",
                exit_code=0,
                status="completed",
            ),
            _codex_item("completed", 2, type="agent_message", text="It is dark."),
            {
                "type": "turn.completed",
                "usage": {
                    "input_tokens": 9,
                    "cached_input_tokens": 1,
                    "output_tokens": 2,
                },
            },
        ]
    ),
    "gemini_cli_stream": lines(
        {"type": type_, "timestamp": TIME, **members}
        for type_, members in [
            ("init", {"session_id": "5e55-62", "model": "m-1"}),
            ("message", {"role": "user", "content": "Look."}),
            ("message", {"role": "assistant", "content": "I ", "delta": True}),
            ("message", {"role": "assistant", "content": "look.", "delta": True}),
            ("tool_use", {"tool_name": "look", "tool_id": "t", "parameters": {}}),
            ("tool_result", {"tool_id": "t", "status": "success", "output": "Dark."}),
            ("message", {"role": "assistant", "content": "Dark.", "delta": True}),
            ("result", {"status": "success", "stats": {"output_tokens": 2}}),
        ]
    ),
}
