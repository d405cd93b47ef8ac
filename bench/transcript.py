"""A deterministic transcript of an agent at work, for all measurements.

Its shape is that of real sessions: a system prompt, then a user's question followed by two to nine
calls with their results and an answer; results (files, searches, JSON, logs) are two thirds of the
text, with a long tail. A message has about 700 characters and 200 tokens. Its words come from a
fixed vocabulary, so that the same arguments give the same bytes everywhere.
"""

import json
import random
from collections.abc import Iterator
from typing import Any

VERBS = (
    "read write open close parse check build start stop merge sort find keep send load"
)
NOUNS = "file test table index token message session cache worker branch module request error"
NAMES = (
    "path value count offset limit result buffer config handler reader user state total"
)
QUALITIES = (
    "first last next empty broken stale local remote large small current missing"
)
_CODE = (
    "def {verb}_{noun}({name}: str, {other}: int = {number}) -> {quality}:",
    "    if {name} is None or not {other}:",
    "        raise ValueError(f'{{{name}}} is {quality}')",
    "    for {name}, {other} in enumerate({noun}s[{number}:]):",
    "        {noun}.{verb}({name}={other}, {quality}=True)  # {number:#x}",
    "    return {noun}_{name} + {number}",
    "",
)
TOOLS = ("bash", "read_file", "grep", "edit_file", "http_get")


class _Author:
    """Generates words, code and results from one seed."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def word(self, of: str) -> str:
        return self.chance.choice(of.split())

    def sentence(self) -> str:
        return (
            f"{self.word(VERBS).capitalize()} the {self.word(QUALITIES)} {self.word(NOUNS)}"
            f" before the {self.word(NAMES)} of {self.word(NOUNS)} {self.chance.randrange(999)}"
            f" is {self.word(QUALITIES)}, or {self.word(VERBS)} it again."
        )

    def prose(self, least: int, most: int) -> str:
        size, said = self.chance.randint(least, most), ""
        while len(said) < size:
            said += (
                "\n\n" if said and self.chance.random() < 0.1 else " "
            ) + self.sentence()
        return said.strip()[:size]

    def code(self) -> str:
        return self.chance.choice(_CODE).format(
            verb=self.word(VERBS),
            noun=self.word(NOUNS),
            name=self.word(NAMES),
            other=self.word(NAMES),
            quality=self.word(QUALITIES),
            number=self.chance.randrange(2000),
        )

    def path(self) -> str:
        return (
            f"src/{self.word(NOUNS)}/{self.word(VERBS)}_{self.chance.randrange(400)}.py"
        )

    def result(self) -> str:
        kind = self.chance.random()
        if kind < 0.45:
            start = self.chance.randrange(900)
            size = min(160, max(4, int(self.chance.lognormvariate(3.1, 0.8))))
            return "\n".join(
                f"{line:6d}\t{self.code()}" for line in range(start, start + size)
            )
        if kind < 0.65:
            return "\n".join(
                f"{self.path()}:{self.chance.randrange(2000)}:{self.code().strip()}"
                for _ in range(self.chance.randint(2, 30))
            )
        if kind < 0.85:
            found = [self.item() for _ in range(self.chance.randint(1, 9))]
            return json.dumps({"ok": True, "items": found})
        return "\n".join(self.log() for _ in range(self.chance.randint(3, 25)))

    def item(self) -> dict[str, Any]:
        return {
            "id": f"{self.chance.getrandbits(64):016x}",
            "score": round(self.chance.random(), 5),
            "path": self.path(),
            "note": self.prose(20, 90),
        }

    def log(self) -> str:
        minute, second = self.chance.randrange(60), self.chance.randrange(60)
        level = self.chance.choice(("INFO", "WARN", "ERROR", "DEBUG"))
        return f"2026-03-01T09:{minute:02}:{second:02}Z {level} {self.sentence()}"

    def arguments(self, tool: str) -> dict[str, Any]:
        return {
            "bash": lambda: {"command": f"grep -rn {self.word(NOUNS)} src | head -20"},
            "read_file": lambda: {
                "path": self.path(),
                "offset": self.chance.randrange(2000),
            },
            "grep": lambda: {"pattern": self.word(NAMES), "path": "src"},
            "edit_file": lambda: {
                "path": self.path(),
                "old": "\n".join(self.code() for _ in range(4)),
                "new": "\n".join(self.code() for _ in range(6)),
            },
            "http_get": lambda: {"url": f"http://localhost:8080/v1/{self.word(NOUNS)}"},
        }[tool]()


def messages(count: int, *, seed: int = 7) -> Iterator[dict[str, Any]]:
    """`count` messages in OpenAI's chat form, as one conversation; a shorter one is a prefix."""
    author = _Author(seed)
    for number, message in enumerate(_endless(author)):
        if number == count:
            return
        yield message


def _endless(author: _Author) -> Iterator[dict[str, Any]]:
    yield {"role": "system", "content": author.prose(1500, 2500)}
    number = 0
    while True:
        yield {"role": "user", "content": author.prose(60, 600)}
        for _ in range(author.chance.randint(2, 9)):
            number += 1
            yield from _step(author, f"call_{number:06d}")
        yield {"role": "assistant", "content": author.prose(100, 1500)}


def _step(author: _Author, call_id: str) -> Iterator[dict[str, Any]]:
    """A call, usually preceded by text, and its result."""
    tool = author.chance.choice(TOOLS)
    function = {"name": tool, "arguments": json.dumps(author.arguments(tool))}
    yield {
        "role": "assistant",
        "content": author.prose(40, 400) if author.chance.random() < 0.7 else None,
        "tool_calls": [{"id": call_id, "type": "function", "function": function}],
    }
    yield {"role": "tool", "tool_call_id": call_id, "content": author.result()}
