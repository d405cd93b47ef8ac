"""What a provider was paid for, and which repeated payments a person has allowed."""

import random
import re
import threading
from collections import Counter
from typing import Any

ORDER = re.compile(r"order-\d+")
FREE = "free"


class Journal:
    """The events in order; also the provider's answers, which name the order.

    A request for an order contains the order's name, in its messages or as the model's name.
    """

    def __init__(self, seed: int) -> None:
        self._lock = threading.Lock()
        self._chance = random.Random(seed)
        self._events: list[tuple[str, str]] = []
        """For a call, the order and the whole request; for a permission, the order and ""."""

    def answer(self, asked: dict[str, Any]) -> str:
        """Record a call, pause for a while, and answer with a text that no other call gets."""
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
        """Record that the next call for an order may repeat an earlier one."""
        with self._lock:
            self._events.append((name, ""))

    @property
    def calls(self) -> int:
        return sum(bool(asked) for _, asked in self._events)

    def repeated(self) -> list[str]:
        """The orders with a repeated call that nobody had allowed."""
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
