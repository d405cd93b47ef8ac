"""Counts of samples that no library reads, each by a rule that one sentence describes.

Each reads the raw file with only the standard library, and shares no code with the parsers.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

Counts = dict[str, int]


class Rule(NamedTuple):
    """How a file is counted: a sentence for people, and the count itself."""

    sentence: str
    counts: Callable[[Path], Counts]


def _json(path: Path) -> Any:
    return json.loads(path.read_bytes())


def _lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_bytes().splitlines() if line.strip()]


def _claude_code(path: Path) -> Counts:
    lines = _lines(path)
    types = Counter(line.get("attachment", line)["type"] for line in lines)
    spoken = types["user"] + types["assistant"] + types["queued_command"]
    return {"spoken_lines": spoken, "other_lines": len(lines) - spoken}


def _codex(path: Path) -> Counts:
    lines = _lines(path)
    types = Counter(line["type"] for line in lines)
    items = [line["payload"] for line in lines if line["type"] == "response_item"]
    kinds = Counter(item["type"].removeprefix("custom_") for item in items)
    roles = Counter(item["role"] for item in items if item["type"] == "message")
    results = kinds["function_call_output"] + kinds["tool_call_output"]
    return {
        "system": types["session_meta"],
        "developer": roles["developer"],
        "user": roles["user"],
        "tool": results + kinds["tool_search_output"],
        "assistant": _codex_answers(lines),
        "assistant_texts": roles["assistant"],
        "calls": kinds["function_call"]
        + kinds["tool_call"]
        + kinds["tool_search_call"],
        "results": results + kinds["tool_search_output"],
        "compactions": types["compacted"],
        "events": types["event_msg"] + types["turn_context"],
    }


CODEX_ENDS = {"token_count", "task_started", "task_complete", "turn_aborted"}


def _codex_answers(lines: list[Any]) -> int:
    """Runs of the model's items that hold more than reasoning, up to any other item."""
    kinds = [kind for kind in map(_codex_kind, lines) if kind]
    runs = groupby(kinds, lambda kind: kind != "end")
    return sum(is_answer and "said" in set(run) for is_answer, run in runs)


def _codex_kind(line: Any) -> str:
    item = line["payload"].get("type", "")
    if line["type"] == "response_item":
        if item == "reasoning":
            return "thought"
        is_said = item.endswith("_call") or line["payload"].get("role") == "assistant"
        return "said" if is_said else "end"
    return "" if line["type"] == "event_msg" and item not in CODEX_ENDS else "end"


def _copilot(path: Path) -> Counts:
    lines = _lines(path)
    types = Counter(line["type"] for line in lines)
    said = [line["data"] for line in lines if line["type"] == "assistant.message"]
    return {
        "system": 1,
        "user": types["user.message"],
        "assistant": len({data["apiCallId"] for data in said}),
        "tool": types["tool.execution_complete"],
        "calls": sum(len(data["toolRequests"]) for data in said),
        "results": types["tool.execution_complete"],
        "thinking": sum("reasoningText" in data for data in said),
        "events": len(lines)
        - (1 + types["user.message"] + len(said) + types["tool.execution_complete"]),
        "output_tokens": sum(data["outputTokens"] for data in said),
    }


def _pi(path: Path) -> Counts:
    lines = _lines(path)
    messages = [line["message"] for line in lines if line["type"] == "message"]
    roles = Counter(message["role"] for message in messages)
    said = [message for message in messages if message["role"] == "assistant"]
    kinds = Counter(block["type"] for message in said for block in message["content"])
    return {
        "user": roles["user"],
        "assistant": roles["assistant"],
        "tool": roles["toolResult"],
        "calls": kinds["toolCall"],
        "results": roles["toolResult"],
        "thinking": kinds["thinking"],
        "events": len(lines) - len(messages),
        "output_tokens": sum(message["usage"]["output"] for message in said),
    }


def _opencode(path: Path) -> Counts:
    messages = _json(path)["messages"]
    roles = Counter(message["info"]["role"] for message in messages)
    kinds = [Counter(part["type"] for part in one["parts"]) for one in messages]
    every = sum(kinds, Counter())
    tokens = [message["info"].get("tokens") or {} for message in messages]
    return {
        "user": roles["user"],
        "assistant": roles["assistant"],
        "tool": sum(one["tool"] > 0 for one in kinds),
        "calls": every["tool"],
        "results": every["tool"],
        "thinking": every["reasoning"],
        "events": every["step-start"] + every["step-finish"] + every["patch"],
        "output_tokens": sum(
            one.get("output", 0) + one.get("reasoning", 0) for one in tokens
        ),
    }


def _gemini_cli(path: Path) -> Counts:
    records = _json(path)["messages"]
    types = Counter(record["type"] for record in records)
    calls = [len(record.get("toolCalls") or ()) for record in records]
    tokens = [record.get("tokens") or {} for record in records]
    return {
        "user": types["user"],
        "assistant": types["gemini"],
        "tool": sum(map(bool, calls)),
        "calls": sum(calls),
        "results": sum(calls),
        "thinking": sum(len(record.get("thoughts") or ()) for record in records),
        "events": types.total() - types["user"] - types["gemini"],
        "output_tokens": sum(
            one.get("output", 0) + one.get("thoughts", 0) for one in tokens
        ),
    }


def _openhands_evaluation(path: Path) -> Counts:
    pairs = [pair for row in _lines(path) for pair in row["history"]]
    records = [
        one for pair in pairs for one in (pair if isinstance(pair, list) else [pair])
    ]
    actions = Counter(one["action"] for one in records if one.get("action"))
    results = sum("observation" in one for one in records)
    return {
        "sessions": len(_lines(path)),
        "user": actions["message"],
        "assistant": actions.total() - actions["message"],
        "tool": results,
        "calls": actions.total() - actions["message"],
        "results": results,
        "events": sum(len(row.keys() - {"history"}) for row in _lines(path)),
    }


def _openhands_trajectory(path: Path) -> Counts:
    events = _json(path)
    said = [one for one in events if one.get("action") and one["source"] == "agent"]
    asked = [one for one in events if one.get("action") and one["source"] == "user"]
    calls = {one["id"] for one in said if one.get("tool_call_metadata")}
    results = [one for one in events if one.get("cause") in calls]
    return {
        "user": len(asked),
        "assistant": len(said),
        "tool": len(results),
        "calls": len(calls),
        "results": len(results),
        "events": len(events) - len(asked) - len(said) - len(results),
    }


def _openhands_sdk(path: Path) -> Counts:
    lines = _lines(path)
    kinds = Counter(line["kind"] for line in lines)
    return {
        "assistant": len({line.get("llm_response_id") for line in lines} - {None}),
        "tool": kinds["ObservationEvent"],
        "calls": kinds["ActionEvent"],
        "results": kinds["ObservationEvent"],
        "thinking": sum(bool(line.get("reasoning_content")) for line in lines),
        "events": kinds["ConversationStateUpdateEvent"],
    }


def _aider(path: Path) -> Counts:
    lines = path.read_text("utf-8", "replace").split("\n")
    runs = groupby(lines, _aider_kind)
    said = Counter(
        kind for kind, run in runs if any(line.strip("# \t\r") for line in run)
    )
    return {
        "sessions": 1 + sum(line.startswith(AIDER_START) for line in lines),
        "user": said["user"],
        "assistant": said["assistant"],
    }


AIDER_START = "# aider chat started at"


def _aider_kind(line: str) -> str:
    for mark, kind in (("#### ", "user"), ("> ", "tool"), (AIDER_START, "start")):
        if line.startswith(mark):
            return kind
    return "assistant"


def _specstory(path: Path) -> Counts:
    lines = path.read_text("utf-8").splitlines()
    tools, results = 0, 0
    is_inside = False
    for line in lines:
        is_inside = (is_inside or line.startswith("<tool-use ")) and not (
            line.endswith("</tool-use>")
        )
        tools += line.startswith("<tool-use ")
        results += is_inside and line == "```text"
    return {
        "user": _beginning(lines, "_**User "),
        "assistant": _beginning(lines, "_**Agent "),
        "calls": tools,
        "results": results,
        "thinking": _beginning(lines, "<think>"),
    }


def _beginning(lines: Iterable[str], mark: str) -> int:
    return sum(line.startswith(mark) for line in lines)


def _chatgpt(path: Path) -> Counts:
    rows = _json(path)
    nodes = [node for row in rows for node in row["mapping"].values()]
    roles = Counter(
        node["message"]["author"]["role"] for node in nodes if node["message"]
    )
    return {
        "sessions": len(rows),
        "user": roles["user"],
        "assistant": roles["assistant"],
        "events": len(nodes) - roles.total(),
    }


def _langfuse_agent(path: Path) -> Counts:
    types = Counter(one["type"] for one in _json(path)["observations"])
    return {
        "system": types["SPAN"],
        "user": types["SPAN"],
        "assistant": types["GENERATION"],
        "tool": types["TOOL"],
        "calls": types["TOOL"],
        "results": types["TOOL"],
        "output_tokens": _langfuse_tokens(path),
    }


def _langfuse_messages(path: Path) -> Counts:
    [agent] = [one for one in _json(path)["observations"] if one["type"] == "AGENT"]
    messages = [
        message
        for side in ("input", "output")
        for message in (
            json.loads(agent[side]) if isinstance(agent[side], str) else agent[side]
        )
    ]
    roles = Counter(message["role"] for message in messages)
    kinds = Counter(part["type"] for one in messages for part in one["parts"])
    return {
        **{role: roles[role] for role in ("system", "user", "assistant", "tool")},
        "calls": kinds["tool_call"],
        "results": kinds["tool_call_response"],
        "output_tokens": _langfuse_tokens(path),
    }


def _langfuse_tokens(path: Path) -> int:
    return sum(
        one["usageDetails"]["output"]
        for one in _json(path)["observations"]
        if one["type"] == "GENERATION"
    )


def _members(*taken: str) -> Callable[[Path], Counts]:
    """How many members a document, or each row of it, has besides those that make messages."""

    def counts(path: Path) -> Counts:
        data = _json(path)
        rows = data if isinstance(data, list) else [data]
        return {"events": sum(len(row.keys() - set(taken)) for row in rows)}

    return counts


def _cline(path: Path) -> Counts:
    counted = _members("messages", "system_prompt")(path)
    kinds = Counter(
        block["type"] for one in _json(path)["messages"] for block in one["content"]
    )
    return {**counted, "system": 1, "files": kinds["file"]}


_CLAUDE_CODE = Rule(
    "lines of the types `user` and `assistant`, and attachments `queued_command`, are records of"
    " messages, all others events or compactions",
    _claude_code,
)
_CODEX = Rule(
    "`session_meta`; `response_item`s by type and role; runs of the model's items that hold more"
    " than reasoning; `compacted`; `event_msg` and `turn_context` as events",
    _codex,
)
_GEMINI_CLI = Rule(
    "`messages[]` by `type`; `toolCalls[]`, `thoughts[]`, `tokens`", _gemini_cli
)

RULES = {
    "aider/chat-history.md": Rule(
        "lines that start a chat; runs of lines that begin with `#### `, and runs of lines with"
        " no mark, that hold more than blanks",
        _aider,
    ),
    "chatgpt_export/convonaut-conversations-2023.json": Rule(
        "nodes of every `mapping` by `message.author.role`, those without one as events",
        _chatgpt,
    ),
    "claude_code/entire-image-compact-progress.jsonl": _CLAUDE_CODE,
    "claude_code/entire-small.jsonl": _CLAUDE_CODE,
    "claude_code/omp-long-2.1.2xx.jsonl": _CLAUDE_CODE,
    "cline/cline-sdk-session.messages.json": Rule(
        "`system_prompt` is the system's; blocks `file`; other members as events",
        _cline,
    ),
    "codex/agentv-long-0.14x.jsonl": _CODEX,
    "codex/agentv-small.jsonl": _CODEX,
    "copilot_cli/agentv-copilot-events.jsonl": Rule(
        "`user.message`, distinct `apiCallId`s of `assistant.message`, their `toolRequests`"
        " and `reasoningText`, `tool.execution_complete`, one system prompt, other lines as events",
        _copilot,
    ),
    "gemini_cli/entire-gemini-session-small.json": _GEMINI_CLI,
    "gemini_cli/entire-gemini-session.json": _GEMINI_CLI,
    "langfuse/claude-agent-2025-12-22.trace.json": Rule(
        "a generation is an answer, a tool a call and its result, the span the system's"
        " prompt and the question",
        _langfuse_agent,
    ),
    "langfuse/microsoft-agent-2025-12-17.trace.json": Rule(
        "what the agent's observation was given and gave, by `role` and the parts' `type`",
        _langfuse_messages,
    ),
    "openai_chat/openhands-sdk-litellm-claude.json": Rule(
        "members beside `messages` and `response` as events",
        _members("messages", "response"),
    ),
    "opencode/bestcodes-export-1.18.json": Rule(
        "`info.role`, parts by `type`, one message of tools for each with a part `tool`",
        _opencode,
    ),
    "openhands/basic_gui_mode.json": Rule(
        "actions by `source`, calls by `tool_call_metadata`, results by `cause`, all others"
        " as events",
        _openhands_trajectory,
    ),
    "openhands/resolver-output-2024.jsonl": Rule(
        "lines; records of `history` with `action` (`message` is the user's) and with"
        " `observation`; other members as events",
        _openhands_evaluation,
    ),
    "openhands/sdk-v1-events.jsonl": Rule(
        "lines by `kind`, distinct `llm_response_id`s, `reasoning_content`",
        _openhands_sdk,
    ),
    "pi/large-session.jsonl": Rule(
        "lines `message` by `role`, blocks by `type`, other lines as events", _pi
    ),
    "specstory/droid-provider.md": Rule(
        "headings, `<think>`, `<tool-use>`, and fences `text` inside it", _specstory
    ),
    "swe_agent/marshmallow-1867-function_calling.traj": Rule(
        "members beside `history` as events", _members("history")
    ),
    "swe_agent/pydicom-1458-v0.traj": Rule(
        "members beside `history` as events", _members("history")
    ),
    "tau_bench/gpt-4o-airline.json": Rule(
        "members beside `traj` as events", _members("traj")
    ),
}
"""The rule for a sample, by its path in the samples folder."""
