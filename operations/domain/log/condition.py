"""Under which tags an operation applies."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Literal

Match = Literal["all", "any", "none"]


def objective_tag(objective: str) -> str:
    """The active tag that an objective counts as."""
    return f"objective:{objective}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """Tags and objectives of which all, any or none must be active.

    A condition that names none holds always, whatever `match` says.
    """

    tags: tuple[str, ...] = ()
    objectives: tuple[str, ...] = ()
    match: Match = "all"

    def holds(self, active_tags: AbstractSet[str]) -> bool:
        """Whether an operation under this condition applies while these tags are active."""
        if not self.tags and not self.objectives:
            return True
        named = {*self.tags, *map(objective_tag, self.objectives)}
        match self.match:
            case "all":
                return named <= active_tags
            case "any":
                return not named.isdisjoint(active_tags)
            case "none":
                return named.isdisjoint(active_tags)


ALWAYS = Condition()
