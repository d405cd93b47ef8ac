"""Agents' files with any value in any place: conversations or a refusal, the same each time."""

from typing import Any

from hypothesis import given, settings

from tests.threads.support.junk import assert_is_read_or_refused, spoiled

TEXT = [{"type": "text", "text": "Look."}]
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
ASKED = {"role": "user", "content": "Look."}
TAU_CALL = {"id": "c", "name": "f", "arguments": {}, "requestor": "user"}
SDK_CALL = {"id": "c", "name": "f", "arguments": "{}"}
SEEDS: dict[str, list[Any]] = {
    "copilot_cli": [
        {
            "type": "session.start",
            "data": {"sessionId": "s", "producer": "copilot-agent"},
        },
        {
            "type": "session.binary_asset",
            "data": {"assetId": "1", "data": "AA==", "mimeType": "x"},
        },
        {
            "type": "user.message",
            "data": {"content": "a", "attachments": [{"assetId": "1"}]},
        },
        {
            "type": "assistant.message",
            "data": {
                "content": "b",
                "apiCallId": "r",
                "chunkIndex": 0,
                "chunkCount": 2,
                "toolRequests": [{"toolCallId": "c", "name": "f", "arguments": {}}],
            },
        },
        {"type": "tool.execution_start", "data": {"toolCallId": "c", "toolName": "f"}},
        {
            "type": "tool.execution_complete",
            "data": {"toolCallId": "c", "result": {"content": "d"}},
        },
        {
            "type": "session.compaction_complete",
            "data": {"success": True, "summaryContent": "s", "messagesRemoved": 1},
        },
        {"type": "user.message", "agentId": "a", "data": {"content": "e"}},
    ],
    "pi": [
        {"type": "session", "version": 3, "id": "s", "cwd": "/", "parentSession": "x"},
        {"type": "message", "id": "a", "parentId": None, "message": ASKED},
        {
            "type": "message",
            "id": "b",
            "parentId": "a",
            "message": {
                "role": "assistant",
                "content": TEXT,
                "usage": {"input": 1},
                "stopReason": "x",
            },
        },
        {
            "type": "compaction",
            "id": "x",
            "parentId": "b",
            "summary": "s",
            "firstKeptEntryId": "b",
        },
        {
            "type": "message",
            "id": "c",
            "parentId": "a",
            "message": {"role": "bashExecution", "exitCode": 1},
        },
    ],
    "cline": [
        [
            {**ASKED, "ts": 1, "condenseParent": "a"},
            {"type": "reasoning", "summary": [{"text": "x"}], "encrypted_content": "e"},
            {
                "role": "assistant",
                "content": TEXT,
                "metrics": {"tokens": {"prompt": 1}},
            },
            {**ASKED, "isSummary": True, "condenseId": "a", "condenseParent": "b"},
        ]
    ],
    "openhands": [
        {"source": "user", "kind": "MessageEvent", "id": "m", "llm_message": ASKED},
        {
            "source": "agent",
            "kind": "ActionEvent",
            "id": "a",
            "tool_call": SDK_CALL,
            "thought": TEXT,
            "llm_response_id": "r",
            "responses_reasoning_item": {"summary": ["x"], "encrypted_content": "e"},
        },
        {
            "source": "x",
            "kind": "ObservationEvent",
            "tool_call_id": "c",
            "observation": {"content": TEXT},
        },
        {
            "source": "x",
            "kind": "Condensation",
            "forgotten_event_ids": ["a"],
            "summary": "s",
        },
    ],
    "openhands ": [
        [
            {
                "id": 1,
                "source": "user",
                "action": "message",
                "args": {"content": "a", "image_urls": ["x"]},
            },
            {
                "id": 2,
                "source": "agent",
                "action": "run",
                "args": {"thought": "b"},
                "tool_call_metadata": {
                    "tool_call_id": "c",
                    "model_response": {
                        "id": "r",
                        "choices": [{"message": {**ASKED, "tool_calls": [CALL]}}],
                    },
                },
            },
            {
                "id": 3,
                "cause": 2,
                "observation": "run",
                "content": "d",
                "extras": {"image_urls": ["x"]},
            },
            {
                "id": 4,
                "action": "condensation",
                "args": {"forgotten_event_ids": [2], "summary": "s"},
            },
        ]
    ],
    "swe_agent": [
        {
            "trajectory": [{"action": "a", "observation": "b"}],
            "history": [
                ASKED,
                {"role": "tool", "content": "x", "tool_call_ids": ["c"]},
            ],
            "replay_config": '{"agent": {"model": {"name": "m"}}}',
        }
    ],
    "mini_swe_agent": [
        {
            "info": {"config": {"model": {}}},
            "messages": [{**ASKED, "extra": {"response": {"usage": {}}}}],
        }
    ],
    "tau_bench": [[{"task_id": 1, "reward": 1, "trial": 0, "traj": [ASKED]}]],
    "tau2": [
        {
            "info": {"agent_info": {"llm": "m"}},
            "tasks": [],
            "simulations": [
                {
                    "id": "s",
                    "messages": [
                        {**ASKED, "tool_calls": [TAU_CALL]},
                        {"role": "tool", "tool_messages": [{"id": "c"}]},
                    ],
                }
            ],
        }
    ],
    "codex_exec": [
        {"type": "thread.started", "thread_id": "s"},
        {
            "type": "item.started",
            "item": {"id": "1", "type": "command_execution", "command": "a"},
        },
        {
            "type": "item.completed",
            "item": {
                "id": "2",
                "type": "mcp_tool_call",
                "server": "s",
                "tool": "t",
                "arguments": {},
                "result": {"content": TEXT, "structured_content": {}},
                "error": {"message": "m"},
                "status": "failed",
            },
        },
        {
            "type": "item.completed",
            "item": {"id": "3", "type": "collab_tool_call", "tool": "wait"},
        },
        {
            "type": "item.completed",
            "item": {"id": "4", "type": "file_change", "changes": []},
        },
        {"type": "turn.completed", "usage": {"input_tokens": 1}},
    ],
    "gemini_cli_stream": [
        {"type": "init", "timestamp": "t", "session_id": "s", "model": "m"},
        {"type": "message", "role": "assistant", "content": "a", "delta": True},
        {"type": "tool_use", "tool_name": "f", "tool_id": "c", "parameters": {}},
        {
            "type": "tool_result",
            "tool_id": "c",
            "status": "error",
            "output": "o",
            "error": {"message": "m"},
        },
        {"type": "message", "role": "user", "content": "b"},
        {"type": "error", "severity": "warning", "message": "m"},
        {
            "type": "result",
            "status": "x",
            "stats": {"input_tokens": 1, "models": {"m": {}}},
        },
    ],
    "claude_managed": [
        {"type": "user.message", "processed_at": "t", "content": TEXT},
        {
            "type": "user.define_outcome",
            "description": "a",
            "rubric": {"content": "b"},
        },
        {"type": "agent.tool_use", "id": "c", "name": "f", "input": {}},
        {"type": "span.model_request_end", "model_usage": {"input_tokens": 1}},
        {"raw": {"type": "agent.tool_result", "tool_use_id": "c", "content": TEXT}},
    ],
    "kiro": [
        {
            "conversation_id": "s",
            "latest_summary": ["a", {}],
            "next_message": {"content": {"Prompt": {"prompt": "a"}}},
            "history": [
                {
                    "user": {"content": {"Prompt": {"prompt": "a"}}, "images": [{}]},
                    "assistant": {"ToolUse": {"tool_uses": [{"id": "c", "name": "f"}]}},
                    "request_metadata": {"model_id": "m"},
                },
                [
                    {
                        "content": {
                            "ToolUseResults": {
                                "tool_use_results": [{"content": [{"Json": {}}]}]
                            }
                        }
                    },
                    {"Response": {"content": "b"}},
                ],
            ],
        }
    ],
    "opencode_run": [
        {"type": "step_start", "sessionID": "s", "timestamp": 1, "part": {}},
        {
            "type": "tool_use",
            "sessionID": "s",
            "part": {"messageID": "m", "type": "tool", "callID": "c", "state": {}},
        },
        {
            "type": "step_finish",
            "sessionID": "s",
            "part": {"messageID": "m", "type": "step-finish", "tokens": {"input": 1}},
        },
    ],
    "cursor_run": [
        {"type": "system", "subtype": "init", "session_id": "s", "model": "m"},
        {"type": "thinking", "subtype": "delta", "text": "a", "session_id": "s"},
        {
            "type": "assistant",
            "message": {"content": TEXT},
            "session_id": "s",
            "timestamp_ms": 1,
        },
        {
            "type": "tool_call",
            "subtype": "completed",
            "call_id": "c",
            "tool_call": {"fToolCall": {"args": {}, "result": {"success": {}}}},
        },
        {"type": "result", "subtype": "success", "usage": {"inputTokens": 1}},
    ],
    "completions": [{"prompt": [ASKED], "completion": "x"}],
}


@settings(max_examples=300, deadline=None)
@given(spoiled(SEEDS))
def test_any_value_in_any_place_is_read_or_refused(case: tuple[str, bytes]) -> None:
    assert_is_read_or_refused(*case)
