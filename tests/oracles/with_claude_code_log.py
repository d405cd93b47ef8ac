"""Counts sessions of Claude Code and rollouts of Codex with claude-code-log.

Run with the oracles' own Python: `with_claude_code_log.py FILE…` prints counts as JSON, by file.
"""

import json
import sys
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import Any

from claude_code_log.converter import load_transcript
from claude_code_log.models import AssistantTranscriptEntry, UserTranscriptEntry
from claude_code_log.providers.codex import CodexProvider


def counts(path: Path) -> dict[str, int]:
    if path.parent.name == "codex":
        return _rollout(path)
    entries = load_transcript(path, silent=True)
    said = [one for one in entries if isinstance(one, AssistantTranscriptEntry)]
    asked = [one for one in entries if isinstance(one, UserTranscriptEntry)]
    spent = {
        one.message.id: one.message.usage.output_tokens or 0
        for one in said
        if one.message.usage
    }
    return {
        "sessions": len({one.sessionId for one in [*said, *asked]}),
        "user": len(asked),
        "assistant": len({one.message.id for one in said}),
        **_blocks([*said, *asked]),
        "output_tokens": sum(spent.values()),
    }


def _rollout(path: Path) -> dict[str, int]:
    """Its entries are made for display, so only texts of answers can be compared."""
    provider = CodexProvider()
    found = provider.discover_sessions_under(path.parent)
    [session] = [one for one in found if one.source_path == path.resolve()]
    totals = provider.session_token_totals(path.parent, session.session_id)
    kinds = Counter(
        f"{one.type}/{block.type}"
        for one in provider.load_session_from_path(path)
        if isinstance(one, AssistantTranscriptEntry | UserTranscriptEntry)
        for block in one.message.content
    )
    return {
        "sessions": 1,
        "user": kinds["user/text"],
        "assistant_texts": kinds["assistant/text"],
        "calls": kinds["assistant/tool_use"],
        "results": kinds["user/tool_result"],
        "thinking": kinds["assistant/thinking"],
        "output_tokens": totals.output_tokens if totals else 0,
    }


def _blocks(entries: list[Any]) -> dict[str, int]:
    kinds: Counter[str] = Counter()
    said: Counter[str] = Counter()
    for entry in entries:
        for block in entry.message.content:
            kinds[block.type] += 1
            if block.type == "text":
                said["characters"] += len(block.text)
            if block.type == "tool_result":
                pieces = block.content
                if isinstance(pieces, str):
                    pieces = [{"type": "text", "text": pieces}]
                kinds.update(piece["type"] for piece in pieces or ())
                said["result_characters"] += sum(
                    len(piece.get("text", "")) for piece in pieces or ()
                )
    return {
        "calls": kinds["tool_use"],
        "results": kinds["tool_result"],
        "thinking": kinds["thinking"],
        "images": kinds["image"],
        **said,
    }


if __name__ == "__main__":
    sys.stdout.write(
        json.dumps(
            {
                "library": f"claude-code-log {version('claude-code-log')}",
                "counts": {name: counts(Path(name)) for name in sys.argv[1:]},
            }
        )
    )
