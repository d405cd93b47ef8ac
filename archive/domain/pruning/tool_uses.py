"""Calls and their results, paired over the messages of a thread; which views are out of date."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from archive.domain.tool_use import kind_of, paths_of
from threads.domain.part import Part, ToolCall, ToolResult

from .file_use import FileUse, file_uses


@dataclass(eq=False)
class ToolUse:
    """One use of a tool. Places are those of the messages; None where the half is not there."""

    call: ToolCall | None = None
    called_at: int | None = None
    result: ToolResult | None = None
    answered_at: int | None = None
    number: int = 1
    """The place of its result among those of its message, from 1."""

    @cached_property
    def kind(self) -> str:
        """What kind of work it was: `kind_of`."""
        return kind_of(self.name, self.call.arguments if self.call else None)

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """The files that the call names."""
        return tuple(paths_of(self.call)) if self.call else ()

    @cached_property
    def files(self) -> tuple[FileUse, ...]:
        """The files that the call viewed or edited."""
        return file_uses(self.call, self.kind, self.paths) if self.call else ()

    @property
    def name(self) -> str:
        """The tool's name; empty where nothing says it."""
        if self.call is not None:
            return self.call.name
        return (self.result and self.result.name) or ""

    @property
    def has_failed(self) -> bool:
        """Whether the tool answered with an error."""
        return self.result is not None and self.result.is_error


def tool_uses(messages: Sequence[tuple[Part, ...]]) -> list[ToolUse]:
    """The uses of tools in the order of their calls; of one id the last call counts."""
    found: list[ToolUse] = []
    waiting: dict[str, ToolUse] = {}
    for place, parts in enumerate(messages):
        number = 0
        for part in parts:
            if isinstance(part, ToolCall):
                use = ToolUse(call=part, called_at=place)
                waiting[part.id] = use
                found.append(use)
            elif isinstance(part, ToolResult):
                number += 1
                answered = waiting.pop(part.call_id, None)
                if answered is None:
                    answered = ToolUse()
                    found.append(answered)
                answered.result, answered.answered_at = part, place
                answered.number = number
    return found


def superseded(uses: Iterable[ToolUse]) -> dict[ToolUse, ToolUse]:
    """The views whose files were all edited or viewed again since, with what came last for them."""
    later: dict[str, list[tuple[FileUse, ToolUse]]] = defaultdict(list)
    found: dict[ToolUse, ToolUse] = {}
    for use in reversed(list(uses)):
        if use.has_failed or use.answered_at is None:
            continue
        is_view = bool(use.files) and not any(file.is_edit for file in use.files)
        by = [_newest(later[_tail(file.path)], file) for file in use.files]
        if is_view and all(by):
            found[use] = next(one for one in by if one is not None)
        for file in use.files:
            later[_tail(file.path)].append((file, use))
    return found


def _newest(
    candidates: Iterable[tuple[FileUse, ToolUse]], file: FileUse
) -> ToolUse | None:
    return next((use for other, use in candidates if other.covers(file)), None)


def _tail(path: str) -> str:
    return path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
