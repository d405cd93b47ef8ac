"""The caller of a request."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from .rights import Right


def is_agent(actor: str) -> bool:
    """Whether an actor in the log is the holder of a key, not a person or the product."""
    return actor.startswith("key:")


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The caller of a request: a signed-in person, the holder of a key, or the product itself.

    `rights` maps the ids of the projects that the caller may see to the rights there; a key has one
    project, and never more rights than its maker. `recalls` are further projects whose memos a key
    may find and whose sessions it may recall; otherwise they are hidden from it.
    """

    actor: str
    """The name in the log: `user:<id>`, `key:<id>`, or one of `import`, `client`, `system`."""
    name: str
    user_id: int | None = None
    key_id: int | None = None
    rights: Mapping[int, frozenset[Right]] = field(default_factory=dict)
    recalls: frozenset[int] = frozenset()

    @property
    def is_agent(self) -> bool:
        """Whether the caller came with a key."""
        return self.key_id is not None

    def may(self, right: Right, project_id: int) -> bool:
        """Whether the caller has this right in this project."""
        return right in self.rights.get(project_id, frozenset())

    def projects(self, right: Right) -> list[int]:
        """The ids of the projects in which the caller has this right."""
        return [key for key, rights in self.rights.items() if right in rights]

    @property
    def recallable(self) -> list[int]:
        """The ids of the projects whose memos and messages the caller may recall."""
        return [*self.projects(Right.READ), *sorted(self.recalls)]
