"""The sessions on which methods of shortening a thread are compared.

The samples are real transcripts that belong to others: they are beside the project, not in it, and
only the harness and the length of each are published. Without them only the generated transcript is
left.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.transcript import messages as made_messages
from threads.domain import formats
from threads.domain.message import Message, Role, starts_group
from threads.domain.part import JSON, Part, Text, ToolCall, ToolResult
from threads.domain.transcript import Compaction, Transcript

SAMPLES = Path(__file__).resolve().parents[3] / "shared" / "samples"
TUNED = (
    ("Claude Code", "claude_code/omp-long-2.1.2xx.jsonl"),
    ("Claude Code", "claude_code/entire-image-compact-progress.jsonl"),
    ("Codex", "codex/agentv-long-0.14x.jsonl"),
)
"""The long sessions, on which the pruner's defaults were chosen."""
OTHERS = (
    ("Claude Code", "claude_code/entire-small.jsonl"),
    ("Codex", "codex/agentv-small.jsonl"),
    ("Copilot", "copilot_cli/agentv-copilot-events.jsonl"),
    ("OpenCode", "opencode/bestcodes-export-1.18.json"),
    ("Pi", "pi/large-session.jsonl"),
    ("SpecStory", "specstory/droid-provider.md"),
    ("Cline", "cline/cline-sdk-session.messages.json"),
    ("OpenHands", "openhands/resolver-output-2024.jsonl"),
    ("SWE-agent", "swe_agent/marshmallow-1867-function_calling.traj"),
    ("tau-bench", "tau_bench/gpt-4o-airline.json"),
)
"""Sessions that influenced no choice; the longest of each file."""
MADE = 2_000
"""The length of the generated transcript, which belongs to those."""


class ClientCompaction(NamedTuple):
    """A compaction by a client: what it hid before a place, and what it said instead."""

    place: int
    hidden: frozenset[int]
    instead: tuple[tuple[Part, ...], ...]


class ComparedSession(NamedTuple):
    """A session to be shortened."""

    harness: str
    messages: Sequence[Message]
    compactions: Sequence[ClientCompaction] = ()
    file: Path | None = None

    @property
    def name(self) -> str:
        """The name in the tables."""
        return f"{self.harness}, {len(self.messages):,} messages"


def tuned() -> Iterator[ComparedSession]:
    """The long samples that are available."""
    return (_longest(harness, path) for harness, path in TUNED if _is_there(path))


def others() -> Iterator[ComparedSession]:
    """The other samples that are available, and the generated transcript."""
    yield from (_longest(harness, path) for harness, path in OTHERS if _is_there(path))
    yield ComparedSession("Made", [_made(one) for one in made_messages(MADE)])


def beside_lcc() -> Iterator[ComparedSession]:
    """The long samples, and all others of the harness that lcc was made for."""
    yield from tuned()
    named = ((one, path) for one, path in OTHERS if one == "Claude Code")
    yield from (_longest(harness, path) for harness, path in named if _is_there(path))


def groups_of(messages: Sequence[Message]) -> list[int]:
    """For each message, the number of the user message that it follows."""
    found, number = list[int](), 0
    for message in messages:
        number += starts_group(message.role, message.parts)
        found.append(number)
    return found


def _is_there(path: str) -> bool:
    return (SAMPLES / path).is_file()


def _longest(harness: str, path: str) -> ComparedSession:
    with (SAMPLES / path).open("rb") as file:
        read = [_read(harness, one) for one in formats.read(file, name=Path(path).name)]
    longest = max(read, key=lambda one: len(one.messages))
    return longest._replace(file=SAMPLES / path)


def _read(harness: str, transcript: Transcript) -> ComparedSession:
    messages, compactions = list[Message](), list[ClientCompaction]()
    for item in transcript.items:
        if isinstance(item, Message):
            messages.append(item)
        elif isinstance(item, Compaction):
            instead = tuple(message.parts for message in item.messages)
            compactions.append(
                ClientCompaction(len(messages), frozenset(item.replaces), instead)
            )
    return ComparedSession(harness, messages, compactions)


def _made(message: JSON) -> Message:
    """A message of the generated transcript, which has the chat API's form."""
    words = message["content"] or ""
    if message["role"] == "tool":
        result = ToolResult(message["tool_call_id"], (Text(words),))
        return Message(role=Role.TOOL, parts=(result,))
    parts: list[Part] = [Text(words)] if words else []
    for call in message.get("tool_calls") or ():
        function = call["function"]
        parts.append(ToolCall(call["id"], function["name"], function["arguments"]))
    return Message(role=Role(message["role"]), parts=tuple(parts))
