"""Counting what was found in a file, and what it became."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from contextstudio.accounts.domain.storable import storable

from .message import Message
from .part import Text, ToolResult
from .transcript import Warning

MOST_WARNINGS = 200
"""Warnings of one file that are kept with their words; of all, how many there were of each."""
LONGEST_WARNING = 2000
"""Characters of a warning that are kept."""
MOST_TYPES = 500
"""Types of events that are told apart; a file may make up as many as it has lines."""
OTHER = "other types"
_SHOWN = ("image", "file")
_COUNTERS = ("records", "messages", "parts", "events", "compactions", "codes")


@dataclass(slots=True)
class Tally:
    """Numbers of one file, or of all files of an import."""

    records: Counter[str] = field(default_factory=Counter)
    """Records of the source by what they were: the role of a message, the type of an event."""
    messages: Counter[str] = field(default_factory=Counter)
    """Messages by role."""
    parts: Counter[str] = field(default_factory=Counter)
    """Parts by kind, those inside tool results too."""
    events: Counter[str] = field(default_factory=Counter)
    """Records that became no message, by type."""
    compactions: Counter[str] = field(default_factory=Counter)
    """The tool's own compactions by what they became: digest, revise, proposed, left."""
    codes: Counter[str] = field(default_factory=Counter)
    """Warnings by code, all of them."""
    warnings: list[dict[str, Any]] = field(default_factory=list)
    """The first of them: `{code, detail, line, file?}`."""

    def count(self, messages: Sequence[Message]) -> None:
        """Messages were read: counted together, for one by one costs as much as parsing them."""
        roles = Counter([one.role for one in messages])
        self.messages.update(roles)
        self.records.update(roles)
        for one in messages:
            if len(one.records) > 1:
                self.records[one.role] += len(one.records) - 1
        parts = [part for one in messages for part in one.parts]
        self.parts.update(Counter([part.kind for part in parts]))
        for part in parts:
            if type(part) is ToolResult:
                for item in part.content:
                    if type(item) is not Text and item.kind in _SHOWN:
                        self.parts[item.kind] += 1

    def count_events(self, types: Iterable[str]) -> None:
        """Records of these types were read that are no messages."""
        for type_, count in Counter(types).items():
            known = self._known(storable(type_)[:64])
            self.records[known] += count
            self.events[known] += count

    def _known(self, type_: str) -> str:
        """The type under which one of events is counted."""
        is_new = type_ not in self.events and len(self.events) >= MOST_TYPES
        return OTHER if is_new else type_

    def join(self, other: "Tally") -> None:
        """What was counted elsewhere of the same file; types of events past the most are one."""
        for name in ("messages", "parts", "compactions", "codes"):
            getattr(self, name).update(getattr(other, name))
        called: dict[str, str] = {}
        for type_, count in other.events.items():
            called[type_] = self._known(type_)
            self.events[called[type_]] += count
        for type_, count in other.records.items():
            self.records[called.get(type_, type_)] += count

    def warn(self, warnings: Iterable[Warning]) -> None:
        """A part of the file was not read as it stands."""
        for warning in warnings:
            self.codes[storable(warning.code)] += 1
            if len(self.warnings) < MOST_WARNINGS:
                self.warnings.append(
                    {
                        "code": storable(warning.code),
                        "detail": storable(warning.message[:LONGEST_WARNING]),
                        "line": warning.line,
                    }
                )

    def add(self, report: Mapping[str, Any], *, name: str = "") -> None:
        """Add what `report` gave for a file, called `name` where there are several."""
        for counter in _COUNTERS:
            getattr(self, counter).update(report.get(counter, {}))
        room = MOST_WARNINGS - len(self.warnings)
        for warning in report.get("warnings", [])[: max(room, 0)]:
            self.warnings.append({**warning, "file": name} if name else warning)

    def report(self) -> dict[str, Any]:
        """All of it as JSON, the most frequent first."""
        counted = {name: dict(getattr(self, name).most_common()) for name in _COUNTERS}
        return {**counted, "warnings": self.warnings}
