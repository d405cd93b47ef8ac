"""Deterministic files to import: agents' own transcripts and lists of messages.

`claude_code` and `codex` write what these agents write, one record per line: about 2.7 KB and 1.8
KB each, unique ids in every file, one chain from the first record to the last. `chat` resembles a
data set: short messages, one per line, or the elements of one list.
"""

import hashlib
import json
import random
import uuid
from collections.abc import Iterator
from typing import Any

from bench.transcript import TOOLS, _Author

MODEL = "claude-sonnet-4-5"


def chat(count: int, *, seed: int = 3) -> list[dict[str, Any]]:
    """Messages of 20 to 300 characters, alternating between user and assistant."""
    author = _Author(seed)
    return [
        {"role": ("user", "assistant")[number % 2], "content": author.prose(20, 300)}
        for number in range(count)
    ]


def lines(values: Iterator[dict[str, Any]] | list[dict[str, Any]]) -> Iterator[bytes]:
    """Encode as JSON Lines."""
    for value in values:
        yield json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
        yield b"\n"


def claude_code(
    count: int, *, seed: int = 5, drawn: int = 4_000
) -> Iterator[dict[str, Any]]:
    """Records with one message each: a user's text, then steps of a call and its result.

    Texts are random for the first `drawn` records; a longer file repeats them with a number that
    makes every text unique.
    """
    steps = list(_steps(_Author(seed), drawn))
    chance = random.Random(seed)
    session, parent = _uuid(chance), None
    for number in range(count):
        role, content, result = steps[number % len(steps)](number)
        own = _uuid(chance)
        record: dict[str, Any] = {
            "parentUuid": parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": "/srv/project",
            "sessionId": session,
            "version": "2.1.200",
            "gitBranch": "main",
        }
        if role == "assistant":
            record["message"] = {
                "model": MODEL,
                "id": f"msg_01{_word(number)}",
                "type": "message",
                "role": role,
                "content": content,
                "stop_reason": None,
                "stop_sequence": None,
                "usage": _usage(chance),
            }
            record["requestId"] = f"req_011{_word(number)}"
        else:
            record["message"] = {"role": role, "content": content}
        record |= {"type": role, "uuid": own, "timestamp": _stamp(number)}
        if result is not None:
            record["toolUseResult"] = result
        parent = own
        yield record


def _steps(author: Any, count: int) -> Iterator[Any]:
    made = 0
    while made < count:
        words = author.prose(60, 900)
        yield lambda n, w=words: ("user", f"{n}: {w}", None)
        for _ in range(author.chance.randint(4, 14)):
            said, tool = author.prose(40, 700), author.chance.choice(TOOLS)
            arguments = author.arguments(tool)
            output = "\n".join(author.result() for _ in range(2))
            yield lambda n, s=said, t=tool, a=arguments: (
                "assistant",
                [
                    {"type": "text", "text": f"{n}: {s}"},
                    {
                        "type": "tool_use",
                        "id": f"toolu_01{_word(n)}",
                        "name": t,
                        "input": a,
                    },
                ],
                None,
            )
            yield lambda n, o=output: (
                "user",
                [
                    {
                        "tool_use_id": f"toolu_01{_word(n - 1)}",
                        "type": "tool_result",
                        "content": f"{n}\n{o}",
                        "is_error": False,
                    }
                ],
                {"stdout": f"{n}\n{o}", "stderr": "", "interrupted": False},
            )
            made += 2
        words = author.prose(200, 2000)
        yield lambda n, w=words: (
            "assistant",
            [{"type": "text", "text": f"{n}: {w}"}],
            None,
        )
        made += 2


def codex(count: int, *, seed: int = 9) -> Iterator[dict[str, Any]]:
    """A rollout of `count` records: messages, calls and outputs, with events between."""
    author, chance = _Author(seed), random.Random(seed)
    yield _codex(
        0,
        "session_meta",
        id=_uuid(chance),
        timestamp=_stamp(0),
        cwd="/srv/project",
        originator="codex_cli_rs",
        cli_version="0.140.0",
        source="cli",
        model_provider="openai",
        base_instructions={"text": author.prose(9_000, 12_000)},
    )
    number = 1
    while number < count:
        for kind, payload in _codex_turn(author, number):
            if number < count:
                yield _codex(number, kind, **payload)
            number += 1


def _codex_turn(author: Any, number: int) -> Iterator[tuple[str, dict[str, Any]]]:
    words = author.prose(60, 900)
    yield (
        "turn_context",
        {"cwd": "/srv/project", "approval_policy": "never", "model": "gpt-5-codex"},
    )
    yield "response_item", _said("user", "input_text", words)
    yield "event_msg", {"type": "user_message", "message": words, "images": []}
    for step in range(author.chance.randint(4, 14)):
        call_id = f"call_{_word(100 * number + step)}"
        tool = author.chance.choice(TOOLS)
        yield (
            "response_item",
            {
                "type": "reasoning",
                "summary": [],
                "encrypted_content": author.prose(900, 1_800),
            },
        )
        yield (
            "response_item",
            {
                "type": "function_call",
                "name": tool,
                "arguments": json.dumps(author.arguments(tool), separators=(",", ":")),
                "call_id": call_id,
            },
        )
        output = "\n".join(author.result() for _ in range(4))
        yield (
            "response_item",
            {"type": "function_call_output", "call_id": call_id, "output": output},
        )
        yield (
            "event_msg",
            {
                "type": "token_count",
                "info": {"total_token_usage": {"input_tokens": 9_000 + step}},
            },
        )
    words = author.prose(200, 2_000)
    yield "event_msg", {"type": "agent_message", "message": words}
    yield "response_item", _said("assistant", "output_text", words)


def _said(role: str, kind: str, words: str) -> dict[str, Any]:
    content = [{"type": kind, "text": words}]
    return {"type": "message", "role": role, "content": content}


def _codex(number: int, kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": _stamp(number), "type": kind, "payload": payload}


def _usage(chance: random.Random) -> dict[str, Any]:
    return {
        "input_tokens": chance.randrange(1, 12),
        "cache_creation_input_tokens": chance.randrange(9_000),
        "cache_read_input_tokens": chance.randrange(90_000),
        "cache_creation": {
            "ephemeral_5m_input_tokens": 0,
            "ephemeral_1h_input_tokens": 0,
        },
        "output_tokens": chance.randrange(1, 2_000),
        "service_tier": "standard",
    }


def _word(number: int) -> str:
    """An id that is always the same for the same number."""
    return hashlib.sha256(b"%d" % number).hexdigest()[:22]


def _uuid(chance: random.Random) -> str:
    return str(uuid.UUID(int=chance.getrandbits(128), version=4))


def _stamp(number: int) -> str:
    days, seconds = divmod(number, 80_000)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return (
        f"2026-03-{1 + days:02}T{hour:02}:{minute:02}:{second:02}.{number % 1000:03}Z"
    )
