"""A client with the habits of real agents, for tests of how its requests are handled.

Each of its messages contains a unique word (`w17`), by which it is recognised wherever it goes.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

Turn = dict[str, Any]
SECRET = "sk-live-{}-4e1f9a77"
_FILLER = "It goes on like this for a while, so that it is worth folding. " * 3


@dataclass
class HabitualClient:
    """Keeps a history as agents do, and sends it in a provider's form."""

    format: str
    random: Random
    history: list[Turn] = field(default_factory=list)
    ever: list[Turn] = field(default_factory=list)
    """The history as it was before anything was left out."""
    prompt: str = "You are an agent. Work on the repository and say what you do."
    notes: int = 0
    words: int = 0
    told: str = ""
    """The model's last summary."""

    def word(self) -> str:
        self.words += 1
        return f"w{self.words:03}"

    def ask(self) -> None:
        self.history.append({"who": "user", "text": f"{self.word()} please. {_FILLER}"})

    def work(self) -> None:
        """A call, its result with a secret in it, and an answer."""
        word = self.word()
        call = {
            "who": "call",
            "id": f"call-{word}",
            "text": f"{word} looking. {_FILLER}",
        }
        secret = SECRET.format(self.words)
        text = f"{self.word()} key={secret} {_FILLER}"
        self.history += [call, {"who": "result", "id": call["id"], "text": text}]
        self.history.append(
            {"who": "assistant", "text": f"{self.word()} done. {_FILLER}"}
        )

    def grow(self) -> None:
        self.ask()
        self.work()

    def regenerate(self) -> None:
        """Regenerate the last answer with other words."""
        self.history[-1] = {
            "who": "assistant",
            "text": f"{self.word()} else. {_FILLER}",
        }

    def undo_and_retry(self) -> None:
        """Go back before the last question, and ask it differently."""
        last = max(n for n, turn in enumerate(self.history) if turn["who"] == "user")
        del self.history[last:]
        self.ask()

    def cut_head(self) -> None:
        """Drop the oldest questions with their answers."""
        asked = [n for n, turn in enumerate(self.history) if turn["who"] == "user"]
        if len(asked) > 3:
            del self.history[: asked[self.random.randint(1, len(asked) - 2)]]

    def summary(self) -> str:
        """The model's summary; it quotes a secret from what it replaces."""
        secrets = (
            turn["text"].split()[1] for turn in self.history if "key=" in turn["text"]
        )
        self.told = (
            f"In short: {_FILLER}\nThe {next(secrets, 'end')} was used. {_FILLER}"
        )
        return self.told

    def compact(self) -> None:
        """Replace everything, or all but the end, by the summary."""
        kept = self.history[-5:-1] if self.random.random() < 0.5 else []
        text = f"{self.word()} This is what we did so far:\n{self.told}"
        self.history = [{"who": "user", "text": text}, *kept]

    def edit_inside(self) -> None:
        """Replace an old result, as agents do to save tokens; its secret stays in it."""
        results = [n for n, turn in enumerate(self.history) if turn["who"] == "result"]
        if results:
            place = results[len(results) // 2]
            key = self.history[place]["text"].split()[1]
            turn = {**self.history[place], "text": f"{self.word()} [cleared, {key}]"}
            self.history[place] = turn

    def change_prompt(self) -> None:
        self.prompt = f"You are an agent. Today is {self.word()}."

    def restore(self) -> None:
        """Restore everything it said before it left anything out, as from a checkpoint."""
        self.history = [*self.ever]

    def body(self) -> dict[str, Any]:
        """The request, with its last message marked for the provider's cache."""
        if self.format == "openai":
            system = [{"role": "system", "content": self.prompt}]
            return {"messages": [*system, *map(_openai, self.history)]}
        self.notes += 1
        note = f"x-anthropic-billing-header: cc_version=2.1.{self.notes}; cch={self.notes};"
        messages = list(_anthropic(self.history))
        messages[-1]["content"][-1]["cache_control"] = {"type": "ephemeral"}
        blocks = [{"type": "text", "text": text} for text in (note, self.prompt)]
        tools = [{"name": "look", "input_schema": {"type": "object"}}]
        body = {"format": "anthropic", "system": blocks, "messages": messages}
        return {**body, "tools": tools}

    @property
    def sent_words(self) -> set[str]:
        """The words of its current messages."""
        return {turn["text"].split()[0] for turn in self.history}


def _openai(turn: Turn) -> dict[str, Any]:
    match turn["who"]:
        case "call":
            function = {"name": "look", "arguments": json.dumps({"at": turn["id"]})}
            call = {"id": turn["id"], "type": "function", "function": function}
            return {"role": "assistant", "content": turn["text"], "tool_calls": [call]}
        case "result":
            return {"role": "tool", "tool_call_id": turn["id"], "content": turn["text"]}
    return {"content": turn["text"], "role": turn["who"]}


def _anthropic(history: list[Turn]) -> Iterator[dict[str, Any]]:
    for turn in history:
        text = {"type": "text", "text": turn["text"]}
        match turn["who"]:
            case "call":
                use = {"type": "tool_use", "id": turn["id"], "name": "look"}
                use["input"] = {"at": turn["id"]}  # type: ignore[assignment]
                yield {"role": "assistant", "content": [text, use]}
            case "result":
                block = {"type": "tool_result", "tool_use_id": turn["id"]}
                yield {"role": "user", "content": [{**block, "content": turn["text"]}]}
            case who:
                yield {"role": who, "content": [text]}
