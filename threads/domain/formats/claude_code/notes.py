"""Finds the titles of Claude Code's conversations, and the calls that started sub-agents."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from threads.domain.formats.io import fields
from threads.domain.formats.kit import transcripts
from threads.domain.formats.kit.graph import record_graph

from . import record as claude_record
from .record import Spawn

CONTINUED = "This session is being continued from a previous conversation"
"""How the summary of a compaction begins."""
SYNTHETIC = "<synthetic>"
"""The model that Claude Code names for its own messages."""
TITLES = ("custom-title", "ai-title", "summary", "user", "command", "machine")
"""Kinds of titles, the best first."""


@dataclass(slots=True)
class ConversationNotes:
    """Notes about a conversation: titles by kind, the model that answered last."""

    titles: dict[str, str] = field(default_factory=dict)
    model: str = ""
    message_count: int = 0
    agent_id: str = ""
    call_id: str = ""
    """The call that started it, if it is a sub-agent."""
    first_id: str = ""
    prompt: str = ""

    @property
    def title(self) -> str:
        """The best title, or an empty string."""
        return fields.first(self.titles.get(kind, "") for kind in TITLES)

    def count_message(self, record: dict[str, Any]) -> None:
        """Count a message, or the summary of a compaction; the first one's id may name it."""
        if not self.message_count:
            self.first_id = fields.word(record, "uuid")
        self.message_count += 1

    def note_message(self, type_: str, flags: int, record: dict[str, Any]) -> None:
        """Note a message: its model, and the user's first words."""
        message = record["message"]
        self.count_message(record)
        if type_ == "assistant":
            model = message.get("model")
            if model != self.model and model != SYNTHETIC:
                self.model = fields.word(message, "model") or self.model
        elif not flags & record_graph.CARRIED and "user" not in self.titles:
            words = claude_record.words(message)
            self.prompt = self.prompt or words
            if flags & record_graph.WORDS:
                self.titles["user"] = fields.one_line(transcripts.typed_in(words))
            elif command := transcripts.command_in(words):
                self.titles.setdefault("command", command)
            else:
                self.titles.setdefault("machine", fields.one_line(words))


def link_agents(
    agents: list[ConversationNotes],
    results: dict[str, str],
    spawned: Mapping[str, tuple[object, Spawn]],
) -> None:
    """Find the call of each sub-agent: by its id, else by its prompt.

    `results` maps an agent's id to the call that it answered. `spawned` maps a call to its
    caller and its prompt.
    """
    taken = {one.call_id for one in agents} | set(results.values())
    asked: dict[str, list[str]] = {}
    for call_id, (_, spawn) in reversed(list(spawned.items())):
        if call_id not in taken:
            asked.setdefault(spawn.prompt, []).append(call_id)
    for one in agents:
        one.call_id = one.call_id or results.get(one.agent_id, "")
        if not one.call_id and asked.get(one.prompt):
            one.call_id = asked[one.prompt].pop()
        if found := spawned.get(one.call_id):
            one.titles.setdefault("ai-title", found[1].description)
