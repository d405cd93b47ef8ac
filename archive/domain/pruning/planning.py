"""Plans a prune run: what each message becomes, and the edits that apply it.

Each message is judged by the rules. Then messages that can go whole are removed, and the rest is
condensed.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from archive.domain.hindsight.runs import encoded
from archive.domain.reference import Location
from operations.domain.context.policy import Pruning
from operations.domain.context.step import Count
from operations.domain.log.operation import Condense, Edit, Snip
from operations.domain.tree.key import Key
from operations.domain.tree.leaf import MadeMessage
from threads.domain.part import Part, Text, ToolResult

from .classes import Judge, Judgement, Protected, Prunable, PruneClass, Rule
from .condensing import (
    Condensed,
    condensed_use,
    condensed_words,
    removed,
    short,
    with_lines,
)
from .plan import Change, PruneItem, PrunePlan, PruneStep, Stashed
from .tool_uses import ToolUse, superseded, tool_uses

_WORTH_IT = 0.8
"""The largest share of its tokens that a condensed message may keep.

Saving less than a fifth would lose the text and invalidate a cached prompt for next to nothing.
"""
Told = Mapping[Key, str]
"""Map of message key to what its line says in addition."""


class Planning:
    """Judges each message, then removes what can go whole and condenses the rest."""

    def __init__(
        self,
        messages: Sequence[Prunable],
        rules: Pruning,
        count: Count,
        protected: Protected,
    ) -> None:
        self._messages, self._rules, self._count = messages, rules, count
        self._told: Told = {}
        self._lines: dict[ToolUse, Condensed] = {}
        uses = tool_uses([message.parts for message in messages])
        self._judge = Judge(messages, rules, protected, superseded(uses))
        self._answers: dict[int, list[ToolUse]] = defaultdict(list)
        self._calls: dict[int, list[ToolUse]] = defaultdict(list)
        for use in uses:
            if use.answered_at is not None:
                self._answers[use.answered_at].append(use)
            if use.called_at is not None:
                self._calls[use.called_at].append(use)
        for answers in self._answers.values():
            answers.sort(key=lambda use: use.number)
        self._kept: dict[int, PruneItem] = {}
        """Map of position to item, for messages that are kept whatever their content."""
        self._judged: dict[int, list[Judgement]] = {}
        """Map of position to the judgement of each result, for messages that aren't kept."""
        self._bare: dict[int, _Short] = {}
        """Map of position to the condensed message, before anything is added from `_told`."""
        self._tokens: dict[int, int] = {}
        """Map of position to the tokens of the message in `_bare`."""
        for place in range(len(messages)):
            self._judge_at(place)

    def changes(self) -> Iterator[Change]:
        """What the plan changes as long as nothing is added to its lines."""
        gone = set[int]()
        for places in self._removable():
            gone.update(places)
            yield Change(places, ())
        for place in range(len(self._messages)):
            if (
                place not in self._kept
                and place not in gone
                and self._is_shorter(place)
            ):
                yield Change((place,), self._short_at(place).parts)

    def plan(self, told: Told = MappingProxyType({})) -> PrunePlan:
        """The plan with `told` added to the lines; a message with an addition isn't removed."""
        self._told = told
        items = dict(self._kept)
        steps: list[PruneStep] = []
        for places in self._removable():
            steps.append(PruneStep(self._snip(places), places))
            items.update((place, self._removed(place)) for place in places)
        for place in range(len(self._messages)):
            if place not in items:
                items[place], edit = self._condensed(place)
                if edit is not None:
                    steps.append(PruneStep(edit, (place,)))
        steps.sort(key=lambda step: step.places)
        return PrunePlan(tuple(items[place] for place in sorted(items)), tuple(steps))

    def _judge_at(self, place: int) -> None:
        message, answers = self._messages[place], self._answers.get(place)
        if kept := self._judge.kept(place):
            self._kept[place] = self._item(message, kept, message.tokens)
        elif answers:
            self._judged[place] = [self._judge.of_result(use, place) for use in answers]

    def _removable(self) -> Iterator[tuple[int, ...]]:
        """Yield positions to remove together: messages of calls only, and all their results."""
        seen: set[int] = set()
        for start in sorted(self._judged):
            if start in seen or not self._may_go(start):
                continue
            together, waiting, may_go = set[int](), [start], True
            while waiting:
                place = waiting.pop()
                if place in together:
                    continue
                together.add(place)
                may_go = may_go and self._may_go(place)
                waiting += self._partners(place)
            seen |= together
            if may_go:
                yield tuple(sorted(together))

    def _partners(self, place: int) -> list[int]:
        called = [use.called_at for use in self._answers[place]]
        answered = [use.answered_at for use in self._calls[place]]
        return [other for other in (*called, *answered) if other is not None]

    def _may_go(self, place: int) -> bool:
        """Whether a message holds only results to remove, or only calls that have results."""
        if self._messages[place].key in self._told:
            return False
        if place in self._judged:
            message = self._messages[place]
            return all(
                judged.prune_class is PruneClass.REMOVE
                for judged in self._judged[place]
            ) and all(isinstance(part, ToolResult) for part in message.parts)
        uses = self._calls[place]
        is_answered = all(use.answered_at is not None for use in uses)
        return bool(uses) and is_answered and self._judge.may_go(place)

    def _snip(self, places: Sequence[int]) -> Snip:
        return Snip(targets=tuple(self._messages[place].key for place in places))

    def _removed(self, place: int) -> PruneItem:
        message = self._messages[place]
        judged = self._judged.get(place)
        if judged is None:
            answered = self._calls[place][0].answered_at or 0
            first = self._judged[answered][0]
            reason = "Its results are removed"
            stashed = [self._words(place, first.rule or Rule.RESULT)]
            return self._item(message, first._replace(reason=reason), 0, stashed)
        stashed = [
            self._stash(place, use, one.rule or Rule.RESULT)
            for use, one in zip(self._answers[place], judged, strict=True)
        ]
        return self._item(message, judged[0], 0, stashed)

    def _is_shorter(self, place: int) -> bool:
        """Whether a message that isn't kept gets short enough to be worth condensing."""
        short, most = self._short_at(place), self._messages[place].tokens * _WORTH_IT
        if short.judged.prune_class is PruneClass.KEEP:
            return False
        return short.is_surely_within(most) or self._weight_at(place) <= most

    def _condensed(self, place: int) -> tuple[PruneItem, Edit | None]:
        """The item of a message that isn't removed, and the edit that condenses it, if any."""
        message, short = self._messages[place], self._short_at(place)
        if short.judged.prune_class is PruneClass.KEEP:
            return self._item(message, short.judged, message.tokens), None
        parts, tokens = self._with_addition(place, short)
        if tokens > message.tokens * _WORTH_IT:
            kept = Judgement(PruneClass.KEEP, "Its reference is hardly shorter")
            return self._item(message, kept, message.tokens), None
        edit = Condense(
            targets=(message.key,),
            messages=(MadeMessage(message.role.value, parts, tokens),),
        )
        return self._item(message, short.judged, tokens, short.stashed), edit

    def _with_addition(
        self, place: int, short: "_Short"
    ) -> tuple[tuple[Part, ...], int]:
        """The condensed parts and their tokens, with the addition from `_told`.

        It is appended to the first line, or put in a text part in front of condensed words.
        """
        told = self._told.get(self._messages[place].key)
        if not told:
            return short.parts, self._weight_at(place)
        if not short.lines:
            more = Text(told)
            return (more, *short.parts), self._count((more,)) + self._weight_at(place)
        lines = [*short.lines]
        first = next(at for at, line in enumerate(lines) if line is not None)
        lines[first] = f"{lines[first]}\n{told}"
        parts = with_lines(short.parts, lines)
        return parts, self._count(parts)

    def _short_at(self, place: int) -> "_Short":
        if place not in self._bare:
            is_of_results = place in self._judged
            short = self._short_results if is_of_results else self._short_words
            self._bare[place] = short(place)
        return self._bare[place]

    def _weight_at(self, place: int) -> int:
        if place not in self._tokens:
            self._tokens[place] = self._count(self._bare[place].parts)
        return self._tokens[place]

    def _short_results(self, place: int) -> "_Short":
        message, uses = self._messages[place], self._answers[place]
        lines: list[str | None] = []
        stashed: list[Stashed] = []
        judged = list(self._judged[place])
        for number, use in enumerate(uses):
            one, ref = judged[number], self._ref(place, use)
            line = None
            if one.prune_class is PruneClass.REMOVE:
                line = removed(one.reason, ref)
            elif one.prune_class is PruneClass.CONDENSE:
                line = self._short(place, use).line
            if line is not None:
                stashed.append(self._stash(place, use, one.rule or Rule.RESULT))
            lines.append(line)
        main = max(judged, key=lambda one: _WEIGHT[one.prune_class])
        return _Short(main, lines, with_lines(message.parts, lines), stashed)

    def _short_words(self, place: int) -> "_Short":
        message = self._messages[place]
        judged = self._judge.of_words(place, self._calls[place])
        if judged.prune_class is PruneClass.KEEP:
            return _Short(judged, (), message.parts, [])
        above = self._rules.condense_above
        texts = [part for part in message.parts if isinstance(part, Text)]
        is_long = message.tokens > above and (
            len(texts) == len(message.parts) or self._count(texts) > above
        )
        parts = condensed_words(message.parts, message.name, is_long=is_long)
        return _Short(judged, (), parts, [self._words(place, Rule.WORDS)])

    def _ref(self, place: int, use: ToolUse) -> str:
        name, location = self._messages[place].name, self._location(place, use)
        return f"{name}:{location}" if location else name

    def _location(self, place: int, use: ToolUse) -> Location | None:
        if len(self._answers[place]) < 2:
            return None
        return Location("tool", use.number, use.number)

    def _stash(self, place: int, use: ToolUse, rule: Rule) -> Stashed:
        message, told = self._messages[place], self._short(place, use)
        is_all = len(message.parts) == 1
        return Stashed(
            key=message.key,
            name=message.name,
            location=self._location(place, use),
            content_type=told.content_type,
            summary=told.summary,
            file_paths=told.file_paths,
            tool_name=use.name,
            tokens=message.tokens if is_all else self._weight(use),
            rule=rule,
        )

    def _weight(self, use: ToolUse) -> int:
        return self._count((use.result,)) if use.result else 0

    def _short(self, place: int, use: ToolUse) -> Condensed:
        if use not in self._lines:
            self._lines[use] = condensed_use(use, self._ref(place, use))
        return self._lines[use]

    def _words(self, place: int, rule: Rule) -> Stashed:
        message = self._messages[place]
        uses = self._calls[place]
        said = " ".join(getattr(part, "text", None) or "" for part in message.parts)
        called = ", ".join(dict.fromkeys(use.name for use in uses))
        paths = (file.path for use in uses for file in use.files)
        return Stashed(
            key=message.key,
            name=message.name,
            location=None,
            content_type="other",
            summary=short(said, 80) or f"Called {called}",
            file_paths=tuple(dict.fromkeys(paths)),
            tool_name=uses[0].name if uses else "",
            tokens=message.tokens,
            rule=rule,
        )

    def _item(
        self,
        message: Prunable,
        judged: Judgement,
        tokens: int,
        stashed: Sequence[Stashed] = (),
    ) -> PruneItem:
        return PruneItem(
            key=message.key,
            prune_class=judged.prune_class,
            reason=judged.reason,
            rule=judged.rule,
            by=judged.by,
            tokens=message.tokens,
            tokens_after=tokens,
            stashed=tuple(stashed),
        )


class _Short(NamedTuple):
    """A condensed message: one line per result, or its condensed words."""

    judged: Judgement
    lines: Sequence[str | None]
    """One per result, None for a result that stays; empty for a message without results."""
    parts: tuple[Part, ...]
    stashed: Sequence[Stashed]

    def is_surely_within(self, tokens: float) -> bool:
        """Whether it has at most so many tokens without counting them.

        That is certain if it consists of lines only, as a text has no more tokens than bytes.
        """
        written = [encoded(line) for line in self.lines if line is not None]
        is_all = 0 < len(written) == len(self.parts)
        return is_all and sum(map(len, written)) <= tokens


_WEIGHT = {PruneClass.KEEP: 0, PruneClass.REMOVE: 1, PruneClass.CONDENSE: 2}
