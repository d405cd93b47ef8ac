"""Specimens of chats in editors, of kits and of rows of data sets: see `specimens`."""

from typing import Any

from .agent_specimens import TIME, document, lines

UI_CHAT: list[dict[str, Any]] = [
    {"id": "m1", "role": "user", "parts": [{"type": "text", "text": "Look."}]},
    {
        "id": "m2",
        "role": "assistant",
        "parts": [
            {"type": "step-start"},
            {
                "type": "reasoning",
                "text": "I shall look.",
                "providerMetadata": {"anthropic": {"signature": "c2VhbA=="}},
            },
            {
                "type": "tool-look",
                "toolCallId": "c1",
                "state": "output-available",
                "input": {"lamp": 1},
                "output": {"light": False},
            },
            {"type": "step-start"},
            {"type": "text", "text": "It is dark."},
        ],
    },
]
UI_CHAT_OF_4: dict[str, Any] = {
    "id": "chat-1",
    "messages": [
        {"id": "m1", "role": "user", "content": "Look."},
        {
            "id": "m2",
            "role": "assistant",
            "content": "It is dark.",
            "toolInvocations": [
                {
                    "state": "result",
                    "toolCallId": "c1",
                    "toolName": "look",
                    "args": {"lamp": 1},
                    "result": "dark",
                }
            ],
        },
    ],
}
MODEL_CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "You mend lamps."},
    {"role": "user", "content": [{"type": "text", "text": "Look."}]},
    {
        "role": "assistant",
        "content": [
            {
                "type": "tool-call",
                "toolCallId": "c1",
                "toolName": "look",
                "input": {"lamp": 1},
            }
        ],
    },
    {
        "role": "tool",
        "content": [
            {
                "type": "tool-result",
                "toolCallId": "c1",
                "toolName": "look",
                "output": {"type": "text", "value": "It is dark."},
            }
        ],
    },
]
REQUEST: dict[str, Any] = {
    "requestId": "request_1",
    "responseId": "response_1",
    "timestamp": 1772445600000,
    "modelId": "copilot/m-1",
    "message": {"text": "Which lamp is broken?", "parts": []},
    "response": [{"value": "I look."}, {"value": "The second one."}],
    "result": {
        "usage": {"promptTokens": 30, "completionTokens": 9},
        "metadata": {
            "renderedGlobalContext": [{"type": 1, "text": "Linux."}],
            "renderedUserMessage": [
                {"type": 1, "text": "<userRequest>Which lamp is broken?</userRequest>"},
                {"type": 3, "cacheType": "ephemeral"},
            ],
            "toolCallRounds": [
                {
                    "thinking": {"text": "I shall look."},
                    "response": "I look.",
                    "toolCalls": [
                        {"id": "c1", "name": "look", "arguments": '{"lamp": 2}'}
                    ],
                },
                {"response": "The second one.", "toolCalls": []},
            ],
            "toolCallResults": {
                "c1": {
                    "content": [
                        {
                            "value": {
                                "node": {
                                    "type": 1,
                                    "children": [
                                        {"type": 2, "text": "It is"},
                                        {
                                            "type": 2,
                                            "text": "dark.",
                                            "lineBreakBefore": True,
                                        },
                                    ],
                                }
                            }
                        }
                    ]
                }
            },
        },
    },
}
VSCODE_SESSION: dict[str, Any] = {
    "version": 3,
    "responderUsername": "GitHub Copilot",
    "requests": [REQUEST],
    "sessionId": "5e55-70",
    "customTitle": "Lamps",
}
VSCODE_LOG: list[dict[str, Any]] = [
    {"kind": 0, "v": {**VSCODE_SESSION, "requests": []}},
    {"kind": 1, "k": ["customTitle"], "v": "Lamps of the house"},
    {"kind": 2, "k": ["requests"], "v": [{**REQUEST, "result": None, "response": []}]},
    {"kind": 2, "k": ["requests", 0, "response"], "v": REQUEST["response"]},
    {"kind": 1, "k": ["requests", 0, "result"], "v": REQUEST["result"]},
    {"kind": 1, "k": ["inputState", "inputText"], "v": ""},
    {"kind": 3, "k": ["inputState", "inputText"]},
]


def _sent(role: int, *content: Any, **members: Any) -> dict[str, Any]:
    said = [{"type": 1, "text": c} if isinstance(c, str) else c for c in content]
    return {"role": role, "content": said, **members}


_ASKED = [_sent(0, "You mend lamps."), _sent(1, "Look.")]
_THOUGHT = {"type": "thinking", "thinking": {"id": "t", "text": "I shall look."}}
_GONE_ON = [
    _sent(
        2,
        {"type": 2, "value": _THOUGHT},
        {"type": 3, "cacheType": "ephemeral"},
        toolCalls=[{"id": "c1", "function": {"name": "look", "arguments": "{}"}}],
    ),
    _sent(3, "It is dark.", toolCallId="c1"),
]


def replayed(messages: list[dict[str, Any]], *words: str) -> dict[str, Any]:
    """A request in a log of Copilot Chat."""
    return {
        "id": "r1",
        "kind": "request",
        "type": "ChatMLSuccess",
        "name": "panel/editAgent",
        "metadata": {
            "model": "m-1",
            "endTime": TIME,
            "usage": {"prompt_tokens": 5, "completion_tokens": 2},
        },
        "requestMessages": {"messages": messages},
        "response": {"type": "success", "message": [*words]},
    }


REPLAYED_CALL = {
    "id": "c1",
    "kind": "toolCall",
    "tool": "look",
    "args": '{"lamp": 2}',
    "time": TIME,
    "response": ["It is dark."],
    "thinking": {"text": "I shall look."},
}
REPLAY: dict[str, Any] = {
    "exportedAt": TIME,
    "totalPrompts": 1,
    "totalLogEntries": 3,
    "prompts": [
        {
            "prompt": "Look.",
            "promptId": "p1",
            "logCount": 3,
            "logs": [
                replayed(_ASKED, "I look."),
                REPLAYED_CALL,
                replayed(_ASKED + _GONE_ON, "The second one."),
            ],
        }
    ],
}
AMP_THREAD: dict[str, Any] = {
    "v": 3,
    "id": "T-5e550000-0000-0000-0000-000000000071",
    "created": 1772445600000,
    "title": "Lamps",
    "messages": [
        {
            "role": "user",
            "messageId": 0,
            "content": [{"type": "text", "text": "Look at @lamp.txt."}],
            "meta": {"sentAt": 1772445600000},
            "fileMentions": {"files": [{"uri": "lamp.txt", "content": "Two lamps."}]},
        },
        {
            "role": "assistant",
            "messageId": 1,
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "c2VhbA=="},
                {"type": "tool_use", "id": "c1", "name": "look", "input": {"lamp": 1}},
            ],
            "usage": {"model": "m-1", "inputTokens": 9, "outputTokens": 3},
        },
        {
            "role": "user",
            "messageId": 2,
            "content": [
                {
                    "type": "tool_result",
                    "toolUseID": "c1",
                    "run": {"status": "done", "result": {"light": False}},
                }
            ],
        },
    ],
}
GOOSE_CHAT: list[dict[str, Any]] = [
    {
        "id": "msg_1",
        "role": "user",
        "created": 1772445600,
        "content": [{"type": "text", "text": "Look."}],
    },
    {
        "role": "assistant",
        "created": 1772445601,
        "content": [
            {
                "type": "toolRequest",
                "id": "c1",
                "toolCall": {
                    "status": "success",
                    "value": {"name": "look", "arguments": {"lamp": 1}},
                },
            }
        ],
    },
    {
        "role": "user",
        "created": 1772445602,
        "content": [
            {
                "type": "toolResponse",
                "id": "c1",
                "toolResult": {
                    "status": "success",
                    "value": {"content": [{"type": "text", "text": "It is dark."}]},
                },
            }
        ],
    },
]
GOOSE_SESSION = {
    "id": "20260302_1",
    "working_dir": "/home/x",
    "name": "Lamps",
    "conversation": GOOSE_CHAT,
    "message_count": 3,
}
GOOSE_LINES = [{"working_dir": "/home/x", "description": "Lamps"}, *GOOSE_CHAT]
ALPACA = {
    "instruction": "Which lamp is broken?",
    "input": "There are two lamps.",
    "output": "The second one.",
    "system": "You mend lamps.",
    "history": [["Hello.", "Good morning."]],
    "source": "a workshop",
}
PREFERENCE = {
    "prompt": [{"role": "user", "content": "Which lamp is broken?"}],
    "chosen": [{"role": "assistant", "content": "The second one."}],
    "rejected": [{"role": "assistant", "content": "None."}],
}
RUN: dict[str, Any] = {
    "id": "run-1",
    "run_type": "chain",
    "name": "agent",
    "trace_id": "trace-1",
    "start_time": "2026-03-02T10:00:00",
    "inputs": {"messages": [{"role": "user", "content": "Look."}]},
    "outputs": {"output": "Dark."},
    "child_runs": [
        {
            "id": "run-2",
            "parent_run_id": "run-1",
            "run_type": "llm",
            "name": "ChatModel",
            "start_time": "2026-03-02T10:00:01",
            "extra": {"metadata": {"ls_model_name": "m-1"}},
            "inputs": {"messages": [[{"role": "user", "content": "Look."}]]},
            "outputs": {
                "generations": [[{"text": "Dark."}]],
                "llm_output": {
                    "token_usage": {"prompt_tokens": 3, "completion_tokens": 2}
                },
            },
        }
    ],
}
EXCERPT = b"""#### Look at the lamp

It is dark.

> Tokens: 1.2k sent, 30 received.
"""
SIDECHAINS = b"""<!-- Generated by SpecStory, Markdown v2.1.0 -->

<!-- Claude Code Session 5e55-72 (2026-03-02 10:00:00Z) -->

_**User (2026-03-02 10:00:00Z)**_

Look at the lamps.

---

_**Agent (m-1 2026-03-02 10:00:01Z)**_

<tool-use data-tool-type="generic" data-tool-name="Task"><details>
<summary>Tool use: **Task**</summary>
Look

```text
The second one is dark.
```
</details></tool-use>

_**Agent - sidechain (2026-03-02 10:00:02Z)**_

Look at both lamps.

_**Agent - sidechain (m-2 2026-03-02 10:00:03Z)**_

The second one is dark.

_**Agent (m-1 2026-03-02 10:00:04Z)**_

It is the second.
"""
OF_EDITORS: dict[str, bytes] = {
    "ai_sdk": document(UI_CHAT),
    "ai_sdk, version 4": document(UI_CHAT_OF_4),
    "ai_sdk, for models": lines(MODEL_CHAT),
    "copilot_chat": document(VSCODE_SESSION),
    "copilot_chat, a log": lines(VSCODE_LOG),
    "copilot_replay": document(REPLAY),
    "amp": document(AMP_THREAD),
    "goose": document(GOOSE_SESSION),
    "goose, a line each": lines(GOOSE_LINES),
    "alpaca": document([ALPACA, ALPACA]),
    "preferences": lines([PREFERENCE, PREFERENCE]),
    "langsmith": document([RUN]),
    "aider, an excerpt": EXCERPT,
    "specstory, with sub-agents": SIDECHAINS,
}
