"""Kimi in the terminal: the session files of Kimi CLI and Kimi Code.

- Kimi CLI, `context.jsonl`: OpenAI's messages, with reasoning as blocks, and lines of the program's
  own (`_system_prompt`, `_checkpoint`, `_usage`).
- Kimi CLI, `wire.jsonl`: what was shown, in pieces: the input of turns, the parts of steps, calls
  and results.
- Kimi Code, `wire.jsonl`: a journal of the context: messages, the parts of steps, compactions,
  clearings and undone turns.

Sources: github.com/MoonshotAI/kimi-cli, `src/kimi_cli/soul/context.py`, `src/kimi_cli/wire`,
`packages/kosong/src/kosong/message.py`; github.com/MoonshotAI/kimi-code,
`packages/agent-core-v2/docs/wire-manifest.d.ts`, `src/agent/contextMemory`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from threads.domain.formats.io import fields
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.kit.items import Item
from threads.domain.formats.kit.row_format import RowFormat
from threads.domain.formats.openai import messages as openai
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role
from threads.domain.part import Text
from threads.domain.transcript import Event

from .kimi_steps import KimiSteps, read_blocks

_NOTES = frozenset({"_system_prompt", "_checkpoint", "_usage"})


@dataclass(slots=True)
class KimiRows:
    """Reads the lines of any of Kimi's files."""

    steps: KimiSteps = field(default_factory=KimiSteps)

    def take(self, row: Element) -> Iterable[Item]:
        """The items of a line. Raises Invalid if it is malformed."""
        is_of_context = "role" in fields.mapping(row.value)
        return _of_context(row) if is_of_context else self.steps.take(row)

    def rest(self) -> Iterable[Item]:
        """The answer that a journal ends with."""
        return self.steps.rest()


def _of_context(row: Element) -> Iterator[Item]:
    """The item of a line of `context.jsonl`."""
    given = row.value
    role = fields.text(given, "role")
    if role == "_system_prompt" and (words := fields.text(given, "content")):
        parts = (Text(words),)
        yield Message(role=Role.SYSTEM, parts=parts, records=(row.record,))
    elif role.startswith("_"):
        yield Event(role[:64], row.record)
    else:
        content = read_blocks(given.get("content"))
        yield openai.read_message({**given, "content": content}, records=(row.record,))


def _score(sample: Sample) -> float:
    roles = {fields.text(row, "role") for row in sample.records}
    first = sample.records[0] if sample.records else {}
    return 0.95 if roles & _NOTES or "protocol_version" in first else 0


def _told(first: list[dict[str, Any]]) -> dict[str, Any]:
    models = (fields.word(row, "model", "modelAlias") for row in first)
    return {"model": next(filter(None, models), "")}


FORMAT = RowFormat(
    name="kimi",
    label="a Kimi session",
    score=_score,
    reader=KimiRows,
    known=_told,
).format
