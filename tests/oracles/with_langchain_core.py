"""Counts lists of messages with langchain-core, wherever a file keeps them.

Run with the oracles' own Python: `with_langchain_core.py FILE…` prints counts as JSON, by file.
"""

import json
import sys
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, convert_to_messages

MEMBERS = ("role", "content", "tool_calls")
ROLES = {"human": "user", "ai": "assistant"}


def conversations(path: Path) -> list[list[Any]]:
    """The lists of messages of a file, in langchain-core's form."""
    data = json.loads(path.read_bytes())
    match path.parent.name:
        case "tau_bench":
            return [row["traj"] for row in data]
        case "mini_swe_agent":
            return [data]
        case "openai_chat":
            answers = [choice["message"] for choice in data["response"]["choices"]]
            return [[*data["messages"], *answers]]
        case "swe_agent":
            return [[_without_notes(message) for message in data["history"]]]
        case "cline":
            system = {"role": "system", "content": data["system_prompt"]}
            return [[system, *data["messages"]]]
        case "langfuse":
            return [_longest(data["observations"])]
    raise ValueError(f"langchain-core reads no {path.parent.name}")


def counts(path: Path) -> dict[str, int]:
    lists = [convert_to_messages(one) for one in conversations(path)]
    messages = [message for one in lists for message in one]
    roles = Counter(ROLES.get(one.type, one.type) for one in messages)
    kinds = Counter(kind for message in messages for kind in _kinds(message))
    calls = sum(len(one.tool_calls) for one in messages if isinstance(one, AIMessage))
    return {
        "sessions": len(lists),
        **{role: roles[role] for role in ("system", "user", "assistant", "tool")},
        "calls": calls + kinds["tool_use"],
        "results": roles["tool"] + kinds["tool_result"],
        "characters": sum(len(one.text) for one in messages if one.type != "tool"),
        "result_characters": sum(
            len(one.text) for one in messages if one.type == "tool"
        )
        + sum(_inside(message) for message in messages),
        "images": kinds["image"] + kinds["image_url"],
    }


def _kinds(message: BaseMessage) -> list[str]:
    """The types of a message's blocks; a call is in `tool_calls` too."""
    blocks = [] if isinstance(message.content, str) else message.content
    return [str(block.get("type")) for block in blocks if isinstance(block, dict)]


def _inside(message: BaseMessage) -> int:
    """The characters of results that are blocks in a user's message."""
    blocks = [] if isinstance(message.content, str) else message.content
    contents = [
        block.get("content", "")
        for block in blocks
        if isinstance(block, dict) and block.get("type") == "tool_result"
    ]
    return sum(
        len(piece) if isinstance(piece, str) else len(piece.get("text", ""))
        for content in contents
        for piece in ([content] if isinstance(content, str) else content)
    )


def _without_notes(message: dict[str, Any]) -> dict[str, Any]:
    """SWE-agent's message without its notes; tool messages have a list with one id."""
    kept = {name: message[name] for name in MEMBERS if message.get(name) is not None}
    for call_id in message.get("tool_call_ids") or ():
        kept["tool_call_id"] = call_id
    return kept


def _longest(observations: list[Any]) -> list[Any]:
    """The longest state of a graph in a trace."""
    states = [
        _parsed(one[side]) for one in observations for side in ("input", "output")
    ]
    lists = [
        state["messages"]
        for state in states
        if isinstance(state, dict) and isinstance(state.get("messages"), list)
    ]
    return max(lists, key=len)


def _parsed(value: Any) -> Any:
    """The value of a JSON string, or the value itself if it isn't a string."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return None


if __name__ == "__main__":
    sys.stdout.write(
        json.dumps(
            {
                "library": f"langchain-core {version('langchain-core')}",
                "counts": {name: counts(Path(name)) for name in sys.argv[1:]},
            }
        )
    )
