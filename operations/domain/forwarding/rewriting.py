"""What goes out in place of the messages that a client is about to send (DESIGN 4, Hook).

The thread is written as an export writes it: message by message in the provider's form, and
joined by its rule. What is untouched goes out as it was given: the messages of a unit whose
originals stand together as they stood, and unjoined what already was side by side.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, NamedTuple

from operations.domain.thread.node import EffectiveMessage
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, made_place
from threads.domain.formats.format import Heading
from threads.domain.formats.requests.call_ids import CallIds
from threads.domain.formats.requests.form import (
    Form,
    RequestForm,
    RequestPiece,
    system_words,
)
from threads.domain.message import Message

from .alignment import SYSTEM, Unit

Words = Callable[[Sequence[Key]], Mapping[Key, Message]]
"""Gives what messages read in the thread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request as a client gives it."""

    form: RequestForm
    heading: Heading
    messages: Sequence[Form | None]
    """Its messages; None first where `system` is one of them."""
    system: Any = None


class Rewritten(NamedTuple):
    """What to send; `system` is None where there is none."""

    messages: list[Form]
    system: Any


class _Run(NamedTuple):
    """Messages of the thread that are written alike: as a unit was given, or one in its words."""

    unit: Unit | None
    shown: Sequence[EffectiveMessage]


def rewrite(
    thread: Thread, units: Sequence[Unit], request: Request, words: Words
) -> Rewritten:
    """The messages to send for a thread over the originals of these units."""
    return _Rewriting(thread, units, request, words).result()


def system_length(thread: Thread) -> int:
    """How many messages at the top of the thread are the system prompt.

    A digest is none, though it speaks as the system: what it tells of was no rule, and a
    conversation of which only an answer is left would begin with an answer.
    """
    return sum(
        1 for _ in takewhile(lambda one: _is_rule(thread, one), thread.effective())
    )


def _is_rule(thread: Thread, shown: EffectiveMessage) -> bool:
    if shown.role not in SYSTEM:
        return False
    number, _ = made_place(shown.key) or (0, None)
    return number == 0 or thread.log.edits[number].edit.kind != "digest"


class _Rewriting:
    def __init__(
        self, thread: Thread, units: Sequence[Unit], request: Request, words: Words
    ) -> None:
        self._thread, self._request, self._words = thread, request, words
        self._units = [unit for unit in units for _ in range(unit.first, unit.last)]
        sent = (unit for unit in units if unit.end)
        has_prompt = request.messages[:1] == [None]
        self._prompt = next(sent, None) if has_prompt else None

    def result(self) -> Rewritten:
        prompt, rest = self._split(list(self._thread.effective()))
        pieces = self._pieces(list(self._runs(rest)))
        return Rewritten(list(self._request.form.join(pieces)), self._system(prompt))

    def _split(
        self, shown: list[EffectiveMessage]
    ) -> tuple[list[EffectiveMessage], list[EffectiveMessage]]:
        """The system prompt that stands in a member of its own, and the other messages."""
        if self._request.form.has_system:
            rules = shown[: system_length(self._thread)]
            end = len(list(takewhile(lambda one: not self._is_inside(one), rules)))
            return shown[:end], shown[end:]
        if self._prompt is None:
            return [], shown
        prompt = [one for one in shown if self._unit(one) is self._prompt]
        return prompt, [one for one in shown if self._unit(one) is not self._prompt]

    def _is_inside(self, shown: EffectiveMessage) -> bool:
        """Whether a client gave a message of the system's among the others."""
        unit = self._unit(shown)
        if unit is None or unit is self._prompt or unit.start == unit.end:
            return False
        form = self._request.messages[unit.start]
        return form is not None and form.get("role") == "system"

    def _system(self, prompt: list[EffectiveMessage]) -> Any:
        runs = self._runs(prompt, as_prompt=True)
        sent = [unit for unit, _ in runs if unit is None or unit.start < unit.end]
        if self._prompt is not None and sent == [self._prompt]:
            return self._request.system
        words = self._words([one.key for one in prompt]) if prompt else {}
        said = system_words(words[one.key] for one in prompt)
        return said or (None if self._prompt else self._request.system)

    def _pieces(self, runs: Sequence[_Run]) -> Iterator[RequestPiece]:
        """The messages as they go out by themselves, those given as they were given."""
        changed = [one.key for unit, shown in runs if unit is None for one in shown]
        words = self._words(changed) if changed else {}
        form, ids = self._request.form, CallIds()
        last = -1
        for unit, shown in runs:
            if unit is not None:
                yield from self._given(unit, joins=unit.joins and unit.start != last)
                last = unit.end if unit.start < unit.end else last
                continue
            for message in (words[one.key] for one in shown):
                named = ids.given(message) if form.has_ids else message
                for piece in form.write(named, self._request.heading):
                    yield piece
                    last = -1

    def _given(self, unit: Unit, *, joins: bool) -> Iterator[RequestPiece]:
        for place in range(unit.start, unit.end):
            form = self._request.messages[place]
            if form is not None:
                yield RequestPiece(form, joins and place == unit.start)

    def _runs(
        self, shown: Sequence[EffectiveMessage], *, as_prompt: bool = False
    ) -> Iterator[_Run]:
        place = 0
        while place < len(shown):
            unit = self._whole(shown, place)
            if unit is not None and unit.start < unit.end:
                unit = unit if (unit is self._prompt) == as_prompt else None
            size = unit.last - unit.first if unit else 1
            yield _Run(unit, shown[place : place + size])
            place += size

    def _whole(self, shown: Sequence[EffectiveMessage], place: int) -> Unit | None:
        """The unit that begins here, if all of it stands here as it was recorded."""
        unit = self._unit(shown[place])
        if unit is None or not unit.as_given:
            return None
        for index in range(unit.first, unit.last):
            if place == len(shown) or shown[place].index != index:
                return None
            if self._thread.spans(shown[place].key):
                return None
            place += 1
        return unit

    def _unit(self, shown: EffectiveMessage) -> Unit | None:
        return None if shown.index is None else self._units[shown.index]
