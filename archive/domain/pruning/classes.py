"""Which messages are kept, condensed or removed: document 1's rules, and what is protected."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import NamedTuple

from operations.domain.context.policy import Pruning
from operations.domain.tree.key import Key
from threads.domain.message import Role
from threads.domain.part import Part, Text, ToolResult

from .tool_uses import ToolUse

_LITERAL = str.maketrans({"[": "[[]", "?": "[?]"})
"""File names may contain characters that `fnmatch` treats as patterns: `pages/[slug].tsx`."""


class PruneClass(StrEnum):
    """What becomes of a message."""

    KEEP = "keep"
    CONDENSE = "condense"
    REMOVE = "remove"


class Rule(StrEnum):
    """Why something is left out, least harmful first."""

    SUPERSEDED = "superseded"
    ERROR = "error"
    RESULT = "result"
    WORDS = "words"


class Prunable(NamedTuple):
    """A message as the model sees it now.

    `name` is what recall references call it. `is_fixed` says that an operation shows it.
    `relevance` is its similarity to the objective, from 0 to 1; None if not requested or unknown.
    """

    key: Key
    name: str
    role: Role
    parts: tuple[Part, ...]
    tokens: int
    tags: tuple[str, ...] = ()
    is_fixed: bool = False
    relevance: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Protected:
    """What one run leaves alone in addition to what the rules protect."""

    keys: frozenset[Key] = frozenset()
    tools: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


class Judgement(NamedTuple):
    """What becomes of a message, or of one result in it, and why."""

    prune_class: PruneClass
    reason: str
    rule: Rule | None = None
    by: Key | None = None
    """The message that superseded it."""


def _keep(reason: str) -> Judgement:
    return Judgement(PruneClass.KEEP, reason)


class Judge:
    """Judges the messages of a thread. Tools and paths are protected by patterns with `*`."""

    def __init__(
        self,
        messages: Sequence[Prunable],
        rules: Pruning,
        protected: Protected,
        superseded: Mapping[ToolUse, ToolUse],
    ) -> None:
        self._messages = messages
        self._rules = rules
        self._keys: AbstractSet[Key] = protected.keys
        self._tools = (*rules.protect_tools, *protected.tools)
        self._paths = (*rules.protect_paths, *protected.paths)
        self._tags = frozenset((*rules.protect_tags, *protected.tags))
        self._superseded = superseded
        self._kept = list(map(self._why_kept, range(len(messages))))

    def age(self, place: int) -> int:
        """The number of messages after this one: 0 for the newest."""
        return len(self._messages) - 1 - place

    def kept(self, place: int) -> Judgement | None:
        """Why a message is kept whatever its content; None if its content decides."""
        return self._kept[place]

    def _why_kept(self, place: int) -> Judgement | None:
        message = self._messages[place]
        if self.age(place) < self._rules.keep_last_n:
            return _keep(f"One of the last {self._rules.keep_last_n}")
        if message.is_fixed:
            return _keep("An operation shows it")
        if message.key in self._keys:
            return _keep("Protected")
        if tag := next((tag for tag in message.tags if tag in self._tags), None):
            return _keep(f"Tagged {tag}")
        if message.role is not Role.ASSISTANT and not _has_results(message):
            return _keep(f"From the {message.role.value}")
        least, relevance = self._rules.keep_relevant_above, message.relevance
        if least is not None and relevance is not None and relevance > least:
            return _keep(f"Relevant to the objective ({relevance:.2f})")
        return None

    def of_result(self, use: ToolUse, place: int) -> Judgement:
        """What becomes of one result in a message that isn't kept."""
        if protected := self._why_protected(use):
            return protected
        if use.has_failed and self.age(place) > self._rules.remove_errors_after:
            return Judgement(PruneClass.REMOVE, "An old error", Rule.ERROR)
        if (by := self._superseded.get(use)) is not None:
            key = self._messages[by.answered_at or 0].key
            is_edited = any(file.is_edit for file in by.files)
            done = "edited" if is_edited else "viewed again"
            reason = f"{use.files[0].path} was {done}"
            return Judgement(PruneClass.REMOVE, reason, Rule.SUPERSEDED, key)
        named = f" of {use.name}" if use.name else ""
        return Judgement(PruneClass.CONDENSE, f"An old result{named}", Rule.RESULT)

    def _why_protected(self, use: ToolUse) -> Judgement | None:
        """Why a call and its result are kept: its tool or one of its files is protected."""
        if not self._tools and not self._paths:
            return None
        tool = use.name
        if any(_matches(tool, pattern) for pattern in self._tools):
            return _keep(f"The tool {tool} is protected")
        for file in use.files:
            if any(_fits(file.path, pattern) for pattern in self._paths):
                return _keep(f"{file.path} is protected")
        return None

    def of_words(self, place: int, uses: Sequence[ToolUse]) -> Judgement:
        """What becomes of an assistant's message that isn't kept; `uses` are its calls."""
        message, rules = self._messages[place], self._rules
        for use in uses:
            if protected := self._why_protected(use):
                return protected
        is_old = self.age(place) > rules.condense_after_n
        limits = [(rules.condense_above, "")]
        if uses and all(self._is_condensed(use) for use in uses):
            limits.append((rules.condense_calls_above, " of calls"))
        for limit, what in limits:
            if is_old and message.tokens > limit:
                reason = f"Over {limit:,} tokens{what}"
                return Judgement(PruneClass.CONDENSE, reason, Rule.WORDS)
        return _keep("From the assistant")

    def _is_condensed(self, use: ToolUse) -> bool:
        """Whether the message with the call's result isn't kept either."""
        place = use.answered_at
        return place is not None and self.kept(place) is None

    def may_go(self, place: int) -> bool:
        """Whether a message of calls may be removed with their results: it has no other text."""
        return self.kept(place) is None and not any(
            isinstance(part, Text) and part.text.strip()
            for part in self._messages[place].parts
        )


def _has_results(message: Prunable) -> bool:
    return any(isinstance(part, ToolResult) for part in message.parts)


def _fits(path: str, pattern: str) -> bool:
    return _matches(path, pattern) or _matches(path, f"*/{pattern}")


def _matches(name: str, pattern: str) -> bool:
    """Whether a name matches a pattern in which only `*` is special."""
    return fnmatchcase(name, pattern.translate(_LITERAL))
