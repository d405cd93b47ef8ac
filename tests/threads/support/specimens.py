"""A small transcript of every format, as its tool would write it: the input of mutations."""

from threads.domain import formats
from threads.domain.message import Message, Role
from threads.domain.part import Image, Part, Text, Thinking, ToolCall, ToolResult

from .agent_specimens import OF_AGENTS, RESULT, USE, document, lines
from .databases import OF_DATABASES
from .editor_specimens import OF_EDITORS
from .row_specimens import OF_ROWS

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360606060000000050001a5f64540"
    "0000000049454e44ae426082"
)


def said(role: Role, *parts: Part) -> Message:
    """A message of these parts."""
    return Message(role=role, parts=parts)


THREAD = [
    said(Role.SYSTEM, Text("You mend lamps.")),
    said(Role.USER, Text("Which lamp is broken?"), Image("image/png", data=PIXEL)),
    said(
        Role.ASSISTANT,
        Thinking("I shall look.", "c2VhbA=="),
        Text("I look at both."),
        ToolCall("call_1", "look", {"lamp": 1}),
        ToolCall("call_2", "look", {"lamp": 2}),
    ),
    said(Role.TOOL, ToolResult("call_1", (Text("It glows."),), "look")),
    said(Role.TOOL, ToolResult("call_2", (Text("It is dark."),), "look", True)),
    said(Role.ASSISTANT, Text("The second one.")),
    said(Role.USER, Text("Thank you.")),
]


def _written() -> dict[str, bytes]:
    """A thread written by our own writers, for formats that are both read and written."""
    known = {form.name for form in formats.ALL_FORMATS if form.read}
    return {
        f"{name}, exported": b"".join(
            formats.write(name, THREAD, formats.Heading(title="Lamps", model="m-1"))
        )
        for name in formats.WRITERS
        if name in known
    }


_CALL = {
    "id": "c1",
    "type": "function",
    "function": {"name": "look", "arguments": '{"lamp": 1}'},
}
_CHAT = [
    {"role": "user", "content": "Which lamp is broken?"},
    {"role": "assistant", "content": None, "tool_calls": [_CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "It glows."},
    {"role": "assistant", "content": "None is."},
]
SPECIMENS: dict[str, bytes] = {
    **_written(),
    **OF_AGENTS,
    **OF_ROWS,
    **OF_DATABASES,
    **OF_EDITORS,
    "cline": document(
        {
            "version": 1,
            "sessionId": "5e55-70",
            "agent": "lead",
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "Look."}]},
                {"role": "assistant", "content": [USE], "ts": 1},
                {"role": "user", "content": [RESULT], "ts": 2},
            ],
        }
    ),
    "openhands": document(
        [
            {
                "id": 0,
                "timestamp": "2026-03-02T10:00:00",
                "source": "user",
                "action": "message",
                "args": {"content": "Look."},
            },
            {
                "id": 1,
                "timestamp": "2026-03-02T10:00:01",
                "source": "agent",
                "action": "run",
                "args": {"command": "look"},
            },
            {
                "id": 2,
                "timestamp": "2026-03-02T10:00:02",
                "source": "agent",
                "observation": "run",
                "content": "Dark.",
                "cause": 1,
            },
        ]
    ),
    "swe_agent": document(
        {
            "trajectory": [{"action": "ls", "observation": "lamp", "response": "ls"}],
            "history": [{**one, "agent": "main"} for one in _CHAT],
            "info": {"exit_status": "submitted"},
        }
    ),
    "mini_swe_agent": document(
        {
            "info": {"exit_status": "Submitted"},
            "messages": _CHAT,
            "trajectory_format": "mini-swe-agent-1.1",
        }
    ),
    "tau_bench": document(
        [{"task_id": 1, "reward": 1.0, "info": {}, "traj": _CHAT, "trial": 0}] * 3
    ),
    "tau2": document(
        {
            "info": {},
            "tasks": [],
            "simulations": [
                {"id": "s1", "task_id": "1", "messages": _CHAT, "reward_info": {}}
            ],
        }
    ),
    "inspect": document(
        {
            "version": 2,
            "status": "success",
            "eval": {"task": "lamps", "model": "m-1"},
            "samples": [
                {"id": 1, "epoch": 1, "input": "Look.", "messages": _CHAT, "scores": {}}
            ],
        }
    ),
    "sharegpt": document(
        [
            {
                "conversations": [
                    {"from": "human", "value": "Look."},
                    {"from": "gpt", "value": "Dark."},
                ]
            }
        ]
    ),
    "langchain": document(
        [
            {"type": "human", "data": {"content": "Look.", "type": "human"}},
            {"type": "ai", "data": {"content": "Dark.", "type": "ai"}},
        ]
    ),
    "opencode": document(
        {
            "info": {"id": "ses_1", "title": "Lamps", "version": "1.18.3"},
            "messages": [
                {
                    "info": {"id": "msg_1", "sessionID": "ses_1", "role": "user"},
                    "parts": [{"type": "text", "text": "Look."}],
                },
                {
                    "info": {"id": "msg_2", "sessionID": "ses_1", "role": "assistant"},
                    "parts": [
                        {
                            "type": "tool",
                            "callID": "t",
                            "tool": "look",
                            "state": {
                                "status": "completed",
                                "input": {},
                                "output": "Dark.",
                            },
                        }
                    ],
                },
            ],
        }
    ),
    "openai": document(_CHAT),
    "openai, a line each": lines({"messages": _CHAT} for _ in range(3)),
    "anthropic": document(
        {
            "system": "You mend lamps.",
            "messages": [
                {"role": "user", "content": "Look."},
                {"role": "assistant", "content": [USE]},
                {"role": "user", "content": [RESULT]},
            ],
        }
    ),
    "aider": b"""
# aider chat started at 2026-03-02 10:00:00

> Aider v0.80

#### Look at the lamp

It is dark.

> Tokens: 1.2k sent, 30 received.
""",
    "specstory": b"""<!-- Generated by SpecStory, Markdown v2.1.0 -->

# 2026-03-02 10:00:00Z

_**User**_

Look at the lamp.

---

_**Assistant**_

It is dark.
""",
    "role_headings": b"""## User

Look at the lamp.

## Assistant

It is dark.
""",
}
