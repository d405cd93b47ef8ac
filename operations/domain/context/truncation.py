"""Shorter results of tools, the older the shorter.

Lengths count code points. Where a text is cut, neither a pair of surrogates nor a character
with what is written onto it (accents, joiners, variants) is cut in two; the text is rather a
little shorter than its limit.
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
"""Stands where something is missing between head and tail; no part of the limit."""
_JOINER = "\u200d"
_LONGEST_CHARACTER = 32
"""Code points that are taken for one character at most: a text may be nothing but accents."""


class Keep(StrEnum):
    """Which ends of a text are kept."""

    HEAD_TAIL = "head_tail"
    """A fifth from the head, the rest from the tail: what failed stands last."""
    HEAD = "head"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiers:
    """How many characters of a result are kept, by how recent it is."""

    recent_results: int = 5
    """How many results of the active group are the recent ones."""
    recent: int = 5_000
    older: int = 1_000
    """For the other results of the active group."""
    inactive: int = 300
    """For the results of all other groups."""
    keep: Keep = Keep.HEAD_TAIL

    def __post_init__(self) -> None:
        """Raise Invalid for a limit below zero."""
        for name in ("recent_results", "recent", "older", "inactive"):
            if getattr(self, name) < 0:
                raise Invalid(f"{name} can't be less than 0.", at=["truncation", name])


class Cut(NamedTuple):
    """What became of a message whose results were cut."""

    message: Outgoing
    limits: Sequence[int]
    """Of its results."""
    keep: Keep
    can_recall: bool
    """Whether what was cut says how the whole is recalled."""
    short: Outgoing
    omission: Omission


class Truncated(NamedTuple):
    """What came of truncation."""

    kept: list[Outgoing]
    step: Step
    cuts: Mapping[Key, Cut]
    """By the keys of the messages that were cut."""


def truncate(
    messages: Sequence[Outgoing],
    tiers: Tiers,
    active: int | None,
    count: Count,
    known: Mapping[Key, Cut] | None = None,
    *,
    can_recall: bool = True,
) -> Truncated:
    """The messages, their results cut to their tiers; `active` is the group that goes on.

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
    return Truncated(kept[::-1], leaving_out(NAME, messages, left_out[::-1]), cuts)


def _cut(
    message: Outgoing,
    limits: Sequence[int],
    keep: Keep,
    can_recall: bool,
    count: Count,
) -> Cut | None:
    """A message with its results cut; None where none is longer than its limit."""
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
    """What follows a text that was cut: how the whole is read. No part of the limit."""
    return f'\n... [TRUNCATED. Use recall(ref_id="{key}") to see the full output]'


def bare_hint(length: int, limit: int) -> str:
    """The same where the model can't recall: how much of the result isn't there."""
    return f"\n... [TRUNCATED. {length - limit:,} of {length:,} characters of this result left out]"


def cut(text: str, limit: int, keep: Keep) -> str:
    """At most `limit` characters of a text that has more, and the gap between them."""
    if keep is Keep.HEAD:
        return text[: _whole(text, limit, -1)]
    head = _whole(text, limit // 5, -1)
    tail = _whole(text, len(text) - (limit - limit // 5), 1)
    return text[:head] + GAP + text[tail:]


def _shortened(
    message: Outgoing, limits: Sequence[int], keep: Keep, can_recall: bool
) -> tuple[tuple[Part, ...], list[tuple[int, int]]]:
    """The parts, and for each result that was cut its limit and the length that it had."""
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


def _whole(text: str, place: int, step: int) -> int:
    """The nearest place, backward or forward, at which no character is cut in two."""
    end = place + step * _LONGEST_CHARACTER
    for nearest in range(place, end, step):
        if nearest in (0, len(text)) or not _is_inside(text, nearest):
            return nearest
    return end + step if _splits_a_pair(text, end) else end


def _is_inside(text: str, place: int) -> bool:
    """Whether a character goes on at a place, which is inside of the text."""
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
