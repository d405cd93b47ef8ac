"""One score for all methods: the tokens that a run saves, and the references lost after it.

A method is given the first messages of a session, as in a run in its middle, and returns what is
shown of each. The losses are what the product's own hindsight finds: references that are used in a
later message and occur only in what the run left out. The method has not seen the later messages.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from archive.domain.hindsight.losses import LeftOut, Passage, hindsight
from archive.domain.hindsight.texts import texts_of, uses_of
from operations.context.inputs import counter_of
from threads.domain.message import Message
from threads.domain.part import Part

Shown = Sequence[tuple[Part, ...]]
"""What is shown of each message; empty if it is left out."""
Method = Callable[[Sequence[Message]], Shown]
ENCODING = "o200k_base"
count = counter_of(ENCODING)


class Score(NamedTuple):
    """What a run at one place of a session saves and loses; scores can be added."""

    before: int = 0
    after: int = 0
    references: int = 0
    """References used after the run that had occurred before."""
    lost: int = 0

    @property
    def saved_share(self) -> float:
        """The share of the tokens that the run saves."""
        return 1 - self.after / self.before if self.before else 0.0

    @property
    def lost_share(self) -> float:
        """The share of the later references that it loses."""
        return self.lost / self.references if self.references else 0.0

    def __add__(self, other: tuple[int, ...]) -> "Score":  # type: ignore[override]
        """Both together."""
        return Score(*map(sum, zip(self, other, strict=True)))


def in_flight(messages: Sequence[Message], shown: Shown) -> Score:
    """The score of a run over as many of the messages as it shows; the rest came later."""
    return _score(messages, shown, since=len(shown))


def at_the_end(messages: Sequence[Message], shown: Shown) -> Score:
    """The score of a run over all messages: what each would have missed in the shortened thread."""
    return _score(messages, shown, since=0)


def _score(messages: Sequence[Message], shown: Shown, since: int) -> Score:
    said = list[Passage]()
    before = after = 0
    for place, message in enumerate(messages):
        left_out: tuple[LeftOut, ...] = ()
        if place < len(shown):
            before += count(message.parts)
            after += count(shown[place])
            if shown[place] != message.parts:
                left_out = (LeftOut(("run",), since, texts_of(shown[place])),)
        said.append(
            Passage(
                key=f"m{place}",
                place=place,
                texts=texts_of(message.parts),
                uses=uses_of(message.role, message.parts),
                left_out=left_out,
            )
        )
    if before == after:
        said = []
    found = hindsight(said)
    return Score(before, after, found.references, found.lost)
