"""Counts what was found in a file, and what became of it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from contextstudio.accounts.domain.storable import storable

from .message import Message
from .part import Text, ToolResult
from .transcript import Warning

MAX_WARNINGS = 200
"""The most warnings kept with their text; all warnings are counted by code."""
MAX_WARNING_LENGTH = 2000
"""The most characters kept of a warning's text."""
MAX_TYPES = 500
"""The most event types counted separately; a file may have as many types as lines."""
OTHER = "other types"
_SHOWN = ("image", "file")
_COUNTERS = ("records", "messages", "parts", "events", "compactions", "codes")


@dataclass(slots=True)
class Tally:
    """The counts of one file, or of all files of an import."""

    records: Counter[str] = field(default_factory=Counter)
    """Records of the source by what they were: the role of a message, the type of an event."""
    messages: Counter[str] = field(default_factory=Counter)
    """Messages by role."""
    parts: Counter[str] = field(default_factory=Counter)
    """Parts by kind, including images and files inside tool results."""
    events: Counter[str] = field(default_factory=Counter)
    """Records that became no message, by type."""
    compactions: Counter[str] = field(default_factory=Counter)
    """The tool's own compactions by what they became: digest, revise, proposed, left."""
    codes: Counter[str] = field(default_factory=Counter)
    """Warnings by code, all of them."""
    warnings: list[dict[str, Any]] = field(default_factory=list)
    """The first warnings: `{code, detail, line, file?}`."""

    def count(self, messages: Sequence[Message]) -> None:
        """Count messages, all at once: one by one would cost as much as parsing them."""
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
        """Count records of these types that are not messages."""
        for type_, count in Counter(types).items():
            known = self._known(storable(type_)[:64])
            self.records[known] += count
            self.events[known] += count

    def _known(self, type_: str) -> str:
        """The type under which an event is counted: its own, or `OTHER` if there are too many."""
        is_new = type_ not in self.events and len(self.events) >= MAX_TYPES
        return OTHER if is_new else type_

    def join(self, other: "Tally") -> None:
        """Add counts of the same file made elsewhere; types beyond `MAX_TYPES` become `OTHER`."""
        for name in ("messages", "parts", "compactions", "codes"):
            getattr(self, name).update(getattr(other, name))
        called: dict[str, str] = {}
        for type_, count in other.events.items():
            called[type_] = self._known(type_)
            self.events[called[type_]] += count
        for type_, count in other.records.items():
            self.records[called.get(type_, type_)] += count

    def warn(self, warnings: Iterable[Warning]) -> None:
        """Count warnings that parts of the file were not read as they are, and keep the first."""
        for warning in warnings:
            self.codes[storable(warning.code)] += 1
            if len(self.warnings) < MAX_WARNINGS:
                self.warnings.append(
                    {
                        "code": storable(warning.code),
                        "detail": storable(warning.message[:MAX_WARNING_LENGTH]),
                        "line": warning.line,
                    }
                )

    def add(self, report: Mapping[str, Any], *, name: str = "") -> None:
        """Add what `report` returned for a file; `name` is its name if there are several."""
        for counter in _COUNTERS:
            getattr(self, counter).update(report.get(counter, {}))
        room = MAX_WARNINGS - len(self.warnings)
        for warning in report.get("warnings", [])[: max(room, 0)]:
            self.warnings.append({**warning, "file": name} if name else warning)

    def report(self) -> dict[str, Any]:
        """All counts as JSON, the most frequent first."""
        counted = {name: dict(getattr(self, name).most_common()) for name in _COUNTERS}
        return {**counted, "warnings": self.warnings}
