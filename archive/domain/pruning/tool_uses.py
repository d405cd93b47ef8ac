"""Pairs calls with their results across a thread, and finds views that are out of date."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from archive.domain.tool_use import kind_of, paths_of
from threads.domain.part import Part, ToolCall, ToolResult

from .file_use import FileUse, file_uses


@dataclass(eq=False)
class ToolUse:
    """One use of a tool: a call, its result, and the positions of their messages.

    Either half may be missing; its fields are None then.
    """

    call: ToolCall | None = None
    called_at: int | None = None
    result: ToolResult | None = None
    answered_at: int | None = None
    number: int = 1
    """The number of its result among the results of its message, from 1."""

    @cached_property
    def kind(self) -> str:
        """The kind of work, as `kind_of` names it."""
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
        """The tool's name; empty if unknown."""
        if self.call is not None:
            return self.call.name
        return (self.result and self.result.name) or ""

    @property
    def has_failed(self) -> bool:
        """Whether the tool answered with an error."""
        return self.result is not None and self.result.is_error


def tool_uses(messages: Sequence[tuple[Part, ...]]) -> list[ToolUse]:
    """The tool uses of a thread, in call order.

    A result is paired with the last call that has its id.
    """
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
    """Map of each view whose files were all edited or viewed again to the use that did so last.

    That use is the last one for the view's first file.
    """
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
