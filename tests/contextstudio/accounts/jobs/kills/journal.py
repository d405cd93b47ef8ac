"""What a provider was paid for, and what a person has allowed to be paid for again."""

import random
import re
import threading
from collections import Counter
from typing import Any

ORDER = re.compile(r"order-\d+")
FREE = "free"


class Journal:
    """The events in their order; also the answers of the provider, which name what was asked.

    What is asked for an order holds its name, in the messages or as the model's.
    """

    def __init__(self, seed: int) -> None:
        self._lock = threading.Lock()
        self._chance = random.Random(seed)
        self._events: list[tuple[str, str]] = []
        """Of a call the order and all that was asked, of a permission the order and nothing."""

    def answer(self, asked: dict[str, Any]) -> str:
        """Note a call, take a while, and answer in words that no other call is answered with."""
        said = "\n".join(message["content"] for message in asked["messages"])
        found = ORDER.search(f"{said} {asked['model']}")
        name = found[0] if found else ""
        with self._lock:
            if asked["model"] != FREE:
                self._events.append((name, f"{asked['model']}\n{said}"))
            number, pause = len(self._events), self._chance.uniform(0.05, 1.2)
        threading.Event().wait(pause)
        return f"### STATE\nGoal: {name}\nContext: SQLite, said answer {number}."

    def permit(self, name: str) -> None:
        """Note that the next call of an order may be one that was made before."""
        with self._lock:
            self._events.append((name, ""))

    @property
    def calls(self) -> int:
        return sum(bool(asked) for _, asked in self._events)

    def repeated(self) -> list[str]:
        """The orders for which a call was made again that nobody had allowed."""
        made: Counter[tuple[str, str]] = Counter()
        permitted: Counter[str] = Counter()
        found = []
        for name, asked in self._events:
            if not asked:
                permitted[name] += 1
                continue
            made[name, asked] += 1
            if made[name, asked] > 1 + permitted[name]:
                found.append(name)
        return found
