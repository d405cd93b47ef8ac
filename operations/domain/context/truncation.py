"""Shortens tool results: the older, the shorter.

Lengths count code points. A cut never splits a surrogate pair, nor a character from what combines
with it (accents, joiners, variants); the text is rather a little shorter than its limit.
"""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import repeat
from typing import NamedTuple

from contextstudio.accounts.domain.errors import Invalid
from operations.domain.providers.request import Outgoing
from operations.domain.tree.key import Key
from threads.domain.part import Part, Text, ToolResult

from .step import Count, Omission, Step, leaving_out

NAME = "truncation"
GAP = "\n...\n"
"""Stands for what is missing between head and tail; doesn't count towards the limit."""
_JOINER = "\u200d"
_MAX_CHARACTER_LENGTH = 32
"""The most code points taken as one character: a text may be nothing but accents."""


class Keep(StrEnum):
    """Which ends of a text are kept."""

    HEAD_TAIL = "head_tail"
    """A fifth from the head, the rest from the tail: failures stand at the end."""
    HEAD = "head"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiers:
    """How many characters of a result are kept, depending on how recent it is."""

    recent_results: int = 5
    """How many results of the active group count as recent."""
    recent: int = 5_000
    older: int = 1_000
    """The limit for the other results of the active group."""
    inactive: int = 300
    """The limit for the results of all other groups."""
    keep: Keep = Keep.HEAD_TAIL

    def __post_init__(self) -> None:
        """Raise Invalid for a negative limit."""
        for name in ("recent_results", "recent", "older", "inactive"):
            if getattr(self, name) < 0:
                raise Invalid(f"{name} can't be less than 0.", at=["truncation", name])


class Cut(NamedTuple):
    """A message whose results were cut, and its short form."""

    message: Outgoing
    limits: Sequence[int]
    """The limits of its results, in order."""
    keep: Keep
    can_recall: bool
    """Whether the cut text says how to recall the whole."""
    short: Outgoing
    omission: Omission


class TruncationResult(NamedTuple):
    """The result of truncation."""

    kept: list[Outgoing]
    step: Step
    cuts: Mapping[Key, Cut]
    """The cuts, by the key of the message."""


def truncate(
    messages: Sequence[Outgoing],
    tiers: Tiers,
    active: int | None,
    count: Count,
    known: Mapping[Key, Cut] | None = None,
    *,
    can_recall: bool = True,
) -> TruncationResult:
    """Cut the results in messages to their tiers; `active` is the group that is still open.

    `known` are the cuts of another request that was counted in the same way. `can_recall` says
    whether the model can read what was cut.
    """
    cuts, known = dict[Key, Cut](), known or {}
    kept: list[Outgoing] = []
    left_out: list[Omission] = []
    recent = tiers.recent_results
    for message in reversed(messages):
        results = sum(isinstance(part, ToolResult) for part in message.parts)
        if not results:
            kept.append(message)
            continue
        if message.group == active:
            of_recent = min(recent, results)
            recent -= of_recent
            limits = [*repeat(tiers.older, results - of_recent)]
            limits += repeat(tiers.recent, of_recent)
        else:
            limits = [tiers.inactive] * results
        done = known.get(message.key)
        if done is None or done[:4] != (message, limits, tiers.keep, can_recall):
            done = _cut(message, limits, tiers.keep, can_recall, count)
        if done is None:
            kept.append(message)
            continue
        cuts[message.key] = done
        left_out.append(done.omission)
        kept.append(done.short)
    return TruncationResult(
        kept[::-1], leaving_out(NAME, messages, left_out[::-1]), cuts
    )


def _cut(
    message: Outgoing,
    limits: Sequence[int],
    keep: Keep,
    can_recall: bool,
    count: Count,
) -> Cut | None:
    """Cut the results of a message; None if none is longer than its limit."""
    short, lengths = _shortened(message, limits, keep, can_recall)
    if not lengths:
        return None
    tokens = count(short)
    why = "; ".join(f"Cut to {limit:,} of {of:,} characters" for limit, of in lengths)
    return Cut(
        message,
        limits,
        keep,
        can_recall,
        message._replace(parts=short, tokens=tokens, changed=True),
        Omission(message.key, message.tokens - tokens, f"{why}."),
    )


def hint(key: str) -> str:
    """The text after a cut that says how to read the whole. It doesn't count towards the limit."""
    return f'\n... [TRUNCATED. Use recall(ref_id="{key}") to see the full output]'


def bare_hint(length: int, limit: int) -> str:
    """The hint for a model that can't recall: how much of the result is missing."""
    return f"\n... [TRUNCATED. {length - limit:,} of {length:,} characters of this result left out]"


def cut(text: str, limit: int, keep: Keep) -> str:
    """At most `limit` characters of a longer text, with a gap between head and tail."""
    if keep is Keep.HEAD:
        return text[: _character_boundary(text, limit, -1)]
    head = _character_boundary(text, limit // 5, -1)
    tail = _character_boundary(text, len(text) - (limit - limit // 5), 1)
    return text[:head] + GAP + text[tail:]


def _shortened(
    message: Outgoing, limits: Sequence[int], keep: Keep, can_recall: bool
) -> tuple[tuple[Part, ...], list[tuple[int, int]]]:
    """The parts with results cut, and for each cut result its limit and original length."""
    waiting, lengths = iter(limits), list[tuple[int, int]]()
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, ToolResult):
            limit = next(waiting)
            texts = [item.text for item in part.content if isinstance(item, Text)]
            length = sum(map(len, texts))
            if length > limit:
                lengths.append((limit, length))
                told = hint(message.key) if can_recall else bare_hint(length, limit)
                short = cut("\n".join(texts), limit, keep) + told
                images = [one for one in part.content if not isinstance(one, Text)]
                part = replace(part, content=(Text(short), *images))
        parts.append(part)
    return tuple(parts), lengths


def _character_boundary(text: str, place: int, step: int) -> int:
    """The nearest place, searching in the direction of `step`, that splits no character."""
    end = place + step * _MAX_CHARACTER_LENGTH
    for nearest in range(place, end, step):
        if nearest in (0, len(text)) or not _is_inside(text, nearest):
            return nearest
    return end + step if _splits_a_pair(text, end) else end


def _is_inside(text: str, place: int) -> bool:
    """Whether a character continues across a place inside the text."""
    here, before = text[place], text[place - 1]
    return (
        _splits_a_pair(text, place)
        or before == _JOINER
        or here == _JOINER
        or bool(unicodedata.combining(here))
        or "\ufe00" <= here <= "\ufe0f"
        or "\U0001f3fb" <= here <= "\U0001f3ff"
        or (before == "\r" and here == "\n")
    )


def _splits_a_pair(text: str, place: int) -> bool:
    return (
        0 < place < len(text)
        and "\ud800" <= text[place - 1] <= "\udbff"
        and "\udc00" <= text[place] <= "\udfff"
    )
