"""Specimens of files that terminal agents and frameworks write: see `specimens`."""

from typing import Any

from .agent_specimens import RESULT, TIME, USE, document, lines

_CALL = {
    "id": "c1",
    "type": "function",
    "function": {"name": "look", "arguments": '{"lamp": 1}'},
}


def _droid(id_: str, role: str, *content: Any) -> dict[str, Any]:
    message = {"role": role, "content": list(content)}
    return {"type": "message", "id": id_, "timestamp": TIME, "message": message}


def _run(type_: str, **members: Any) -> dict[str, Any]:
    return {"type": type_, "session_id": "5e55-31", "timestamp": TIME, **members}


def _qwen(id_: str, parent: str | None, type_: str, *parts: Any) -> dict[str, Any]:
    return {
        "uuid": id_,
        "parentUuid": parent,
        "sessionId": "5e55-33",
        "timestamp": TIME,
        "type": type_,
        "message": {
            "role": "model" if type_ == "assistant" else "user",
            "parts": [*parts],
        },
    }


def _step(number: int, source: str, type_: str, **members: Any) -> dict[str, Any]:
    return {
        "step_index": number,
        "source": source,
        "type": type_,
        "status": "DONE",
        "created_at": TIME,
        **members,
    }


def _kimi(type_: str, **event: Any) -> dict[str, Any]:
    record = {"type": type_, "stepUuid": "s", **event}
    return {"type": "context.append_loop_event", "event": record, "time": 1772445600000}


def _appended(words: str) -> dict[str, Any]:
    content = [{"type": "text", "text": words}]
    message = {"role": "user", "content": content, "origin": {"kind": "user"}}
    return {"type": "context.append_message", "message": message, "time": 1772445600000}


OF_ROWS: dict[str, bytes] = {
    "droid": lines(
        [
            {"type": "session_start", "id": "5e55-30", "title": "Lamps", "cwd": "/"},
            _droid("m1", "user", {"type": "text", "text": "Look."}),
            _droid("m2", "assistant", USE),
            _droid("m3", "user", RESULT),
            {"type": "compaction_state", "summaryText": "Looked at a lamp."},
            _droid("m4", "user", {"type": "text", "text": "And now?"}),
        ]
    ),
    "droid_stream": lines(
        [
            _run("system", subtype="init", model="m-1"),
            _run("message", role="user", text="Look.", id="m1"),
            _run("tool_call", id="c1", toolName="Look", parameters={"lamp": 1}),
            _run("tool_result", id="c1", value="It glows."),
            _run("completion", finalText="None is."),
        ]
    ),
    "grok": lines(
        [
            {"type": "system", "content": "You mend lamps."},
            {"type": "user", "content": [{"type": "text", "text": "Look."}]},
            {"type": "reasoning", "summary": [], "encrypted_content": "c2VhbA=="},
            {
                "type": "assistant",
                "content": "",
                "tool_calls": [{"id": "c1", "name": "look", "arguments": "{}"}],
                "model_id": "m-1",
            },
            {"type": "tool_result", "tool_call_id": "c1", "content": "Dark."},
        ]
    ),
    "kimi": lines(
        [
            {"type": "metadata", "protocol_version": "1.4", "created_at": 1},
            _appended("Look."),
            _kimi("step.begin"),
            _kimi("content.part", part={"type": "think", "think": "Hm."}),
            _kimi("tool.call", toolCallId="c1", name="look", args={"lamp": 1}),
            _kimi("step.end", usage={"inputOther": 5, "output": 2}),
            _kimi("tool.result", toolCallId="c1", result={"output": "Dark."}),
            {
                "type": "context.apply_compaction",
                "summary": "Dark.",
                "compactedCount": 2,
            },
            {"type": "context.undo", "count": 1},
        ]
    ),
    "kimi, its context": lines(
        [
            {"role": "_system_prompt", "content": "You mend lamps."},
            {"role": "user", "content": "Look."},
            {"role": "assistant", "content": [], "tool_calls": [_CALL]},
            {"role": "tool", "content": "Dark.", "tool_call_id": "c1"},
            {"role": "_usage", "token_count": 12},
        ]
    ),
    "qwen_code": lines(
        [
            _qwen("1", None, "user", {"text": "Look."}),
            _qwen(
                "2", "1", "assistant", {"functionCall": {"name": "look", "args": {}}}
            ),
            _qwen("3", "1", "assistant", {"text": "It glows."}),
            {
                **_qwen("4", "3", "system"),
                "subtype": "chat_compression",
                "systemPayload": {
                    "compressedHistory": [
                        {"role": "user", "parts": [{"text": "Lamps."}]}
                    ]
                },
            },
        ]
    ),
    "antigravity": lines(
        [
            _step(0, "USER_EXPLICIT", "USER_INPUT", content="Look."),
            _step(
                1,
                "MODEL",
                "PLANNER_RESPONSE",
                thinking="Hm.",
                tool_calls=[{"name": "look", "args": {"lamp": "1"}}],
            ),
            _step(2, "MODEL", "VIEW_FILE", content="It glows."),
        ]
    ),
    "pydantic_ai": document(
        [
            {
                "kind": "request",
                "parts": [
                    {"part_kind": "system-prompt", "content": "You mend lamps."},
                    {
                        "part_kind": "user-prompt",
                        "content": ["Look."],
                        "timestamp": TIME,
                    },
                ],
            },
            {
                "kind": "response",
                "parts": [
                    {"part_kind": "text", "content": "I look."},
                    {
                        "part_kind": "tool-call",
                        "tool_name": "look",
                        "args": '{"lamp": 1}',
                        "tool_call_id": "c1",
                    },
                ],
                "usage": {"input_tokens": 5},
            },
            {
                "kind": "request",
                "parts": [
                    {
                        "part_kind": "tool-return",
                        "tool_name": "look",
                        "content": {"glows": True},
                        "tool_call_id": "c1",
                    }
                ],
            },
        ]
    ),
    "autogen": document(
        {
            "messages": [
                {"type": "TextMessage", "source": "user", "content": "Look."},
                {
                    "type": "ToolCallRequestEvent",
                    "source": "mender",
                    "content": [{"id": "c1", "name": "look", "arguments": "{}"}],
                },
                {
                    "type": "ToolCallExecutionEvent",
                    "source": "mender",
                    "content": [{"content": "Dark.", "name": "look", "call_id": "c1"}],
                },
            ],
            "stop_reason": "Done.",
        }
    ),
    "autogen, a state": document(
        {
            "type": "TeamState",
            "agent_states": {
                "mender/1": {
                    "type": "ChatAgentContainerState",
                    "agent_state": {
                        "type": "AssistantAgentState",
                        "llm_context": {
                            "messages": [
                                {
                                    "type": "UserMessage",
                                    "source": "user",
                                    "content": "Look.",
                                },
                                {
                                    "type": "AssistantMessage",
                                    "source": "mender",
                                    "content": "Dark.",
                                },
                            ]
                        },
                    },
                }
            },
        }
    ),
    "openai_agents": document(
        {
            "$schemaVersion": "1.6",
            "original_input": "Look.",
            "generated_items": [
                {
                    "type": "tool_call_item",
                    "raw_item": {
                        "type": "function_call",
                        "call_id": "c1",
                        "name": "look",
                        "arguments": "{}",
                    },
                    "agent": {"name": "mender"},
                },
                {
                    "type": "tool_call_output_item",
                    "raw_item": {
                        "type": "function_call_output",
                        "call_id": "c1",
                        "output": "Dark.",
                    },
                    "agent": {"name": "mender"},
                },
            ],
            "model_responses": [],
        }
    ),
    "open_webui": document(
        [
            {
                "id": "5e55-40",
                "user_id": "u",
                "title": "Lamps",
                "chat": {
                    "models": ["m-1"],
                    "params": {"system": "You mend lamps."},
                    "history": {
                        "currentId": "c",
                        "messages": {
                            "a": {
                                "id": "a",
                                "parentId": None,
                                "role": "user",
                                "content": "Look.",
                            },
                            "b": {
                                "id": "b",
                                "parentId": "a",
                                "role": "assistant",
                                "content": "No.",
                            },
                            "c": {
                                "id": "c",
                                "parentId": "a",
                                "role": "assistant",
                                "content": '<details type="tool_calls" id="c1" name="look"'
                                ' arguments="{}" result="&quot;Dark.&quot;">\n</details>\nDark.',
                            },
                        },
                    },
                },
            }
        ]
    ),
    "librechat": document(
        {
            "conversationId": "5e55-41",
            "endpoint": "openAI",
            "title": "Lamps",
            "options": {"model": "m-1", "promptPrefix": "You mend lamps."},
            "messages": [
                {"messageId": "a", "text": "Look.", "isCreatedByUser": True},
                {
                    "messageId": "b",
                    "parentMessageId": "a",
                    "content": [
                        {"type": "think", "think": "Hm."},
                        {
                            "type": "tool_call",
                            "tool_call": {
                                "id": "c1",
                                "name": "look",
                                "args": "{}",
                                "output": "No.",
                            },
                        },
                    ],
                },
            ],
        }
    ),
    "grok_com": document(
        {
            "conversations": [
                {
                    "conversation": {"id": "5e55-42", "title": "Lamps"},
                    "responses": [
                        {
                            "response": {
                                "_id": "a",
                                "sender": "human",
                                "message": "Look.",
                            }
                        },
                        {
                            "response": {
                                "_id": "b",
                                "sender": "assistant",
                                "message": "Dark.",
                            }
                        },
                    ],
                }
            ]
        }
    ),
    "continue": document(
        {
            "sessionId": "5e55-50",
            "title": "Lamps",
            "workspaceDirectory": "/",
            "history": [
                {
                    "message": {"role": "user", "content": "Look."},
                    "contextItems": [{"content": "x = 1"}],
                },
                {
                    "message": {
                        "role": "assistant",
                        "content": "",
                        "toolCalls": [_CALL],
                    },
                    "toolCallStates": [
                        {"toolCallId": "c1", "output": [{"content": "Dark."}]}
                    ],
                },
            ],
        }
    ),
    "zed": document(
        {
            "version": "0.3.0",
            "title": "Lamps",
            "messages": [
                {"User": {"id": "u", "content": [{"Text": "Look."}]}},
                {
                    "Agent": {
                        "content": [
                            {"ToolUse": {"id": "c1", "name": "look", "input": {}}}
                        ],
                        "tool_results": {
                            "c1": {"tool_use_id": "c1", "content": {"Text": "Dark."}}
                        },
                    }
                },
            ],
        }
    ),
    "claude_code_web": document(
        {
            "loglines": [
                {"type": "user", "message": {"role": "user", "content": "Look."}},
                {
                    "type": "assistant",
                    "message": {"role": "assistant", "content": [USE]},
                },
                {"type": "user", "message": {"role": "user", "content": [RESULT]}},
            ]
        }
    ),
    "letta": document(
        {
            "agents": [
                {
                    "name": "Mender",
                    "memory_blocks": [],
                    "tool_ids": [],
                    "messages": [
                        {
                            "role": "user",
                            "content": [{"type": "text", "text": "Look."}],
                        },
                        {"role": "assistant", "content": [], "tool_calls": [_CALL]},
                        {
                            "role": "tool",
                            "content": [{"type": "text", "text": "Dark."}],
                            "tool_call_id": "c1",
                            "tool_returns": [
                                {"tool_call_id": "c1", "status": "success"}
                            ],
                        },
                    ],
                }
            ]
        }
    ),
}
