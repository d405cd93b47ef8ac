"""The token meter: what fills the context, in parts that sum to the whole.

The template `operations/editor/frame/meter.html` documents the contract.
"""

from dataclasses import dataclass

from operations.context.model_catalog import context_window
from operations.domain.thread.node import Tokens
from operations.editor.rows.look import Look
from operations.editor.rows.minimap import results_of_users
from threads.tokens import is_exact

_KIND_OF = {"system": "system", "developer": "system", "user": "user"} | {
    "assistant": "assistant",
    "tool": "results",
}
_NAMES = {
    "system": "system",
    "user": "user",
    "assistant": "assistant",
    "results": "tool results",
    "folds": "folds",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of the bar: its start and width, in per cent of the bar."""

    name: str
    kind: str
    tokens: int
    x: str
    width: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Meter:
    """See `meter.html`."""

    effective: int
    original: int
    limit: int | None
    tokenizer: str
    exact: bool
    parts: list[Part]

    @property
    def saved(self) -> int:
        """How many tokens the operations save; negative if they add some."""
        return self.original - self.effective

    @property
    def percent(self) -> int | None:
        return round(100 * self.effective / self.limit) if self.limit else None


def meter_of(look: Look) -> Meter:
    session, thread = look.session, look.thread
    limit = context_window(session.model)
    counted = thread.tokens
    return Meter(
        effective=counted.effective,
        original=counted.original,
        limit=limit,
        tokenizer=session.encoding,
        exact=is_exact(session.model),
        parts=_parts(
            counted,
            whole=max(limit or counted.original, counted.effective),
            results=results_of_users(look),
        ),
    )


def _parts(counted: Tokens, *, whole: int, results: int) -> list[Part]:
    """The parts; `results` is how many of the user tokens are really tool results."""
    sums = dict.fromkeys(_NAMES, 0)
    for role, count in counted.by_role.items():
        sums[_KIND_OF.get(role, "user")] += count
    moved = min(results, sums["user"])
    sums["user"] -= moved
    sums["results"] += moved
    sums["folds"] = counted.folds
    parts, before = [], 0
    for kind, count in sums.items():
        if count <= 0:
            continue
        parts.append(
            Part(
                name=_NAMES[kind],
                kind=kind,
                tokens=count,
                x=_per_cent(before, whole),
                width=_per_cent(count, whole),
            )
        )
        before += count
    return parts


def _per_cent(count: int, whole: int) -> str:
    return f"{100 * count / whole:.2f}%" if whole else "0%"
