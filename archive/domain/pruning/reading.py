"""What a thread says and what a plan leaves of it, read once for all who look for names in it."""

from collections.abc import Iterable, Sequence
from functools import cached_property

from archive.domain.hindsight.losses import Used
from archive.domain.hindsight.references import References
from archive.domain.hindsight.runs import Texts
from archive.domain.hindsight.texts import read_of, texts_of

from .classes import Prunable
from .plan import Change


class ThreadReading:
    """The texts of messages by their places; they are read when somebody asks for them."""

    def __init__(self, messages: Sequence[Prunable]) -> None:
        self.messages = messages
        self.references = References()
        self._nothing = self.references.read(())

    @cached_property
    def _both(self) -> list[tuple[Texts, Texts]]:
        return [self._read(message) for message in self.messages]

    def _read(self, message: Prunable) -> tuple[Texts, Texts]:
        texts, uses = read_of(message.role, message.parts)
        kept = self.references.read(texts)
        if uses is texts:
            return kept, kept
        return kept, self.references.read(uses) if uses else self._nothing

    @cached_property
    def texts(self) -> list[Texts]:
        """All that each says."""
        return [texts for texts, _ in self._both]

    @cached_property
    def uses(self) -> list[Texts]:
        """What of them relies on others."""
        return [uses for _, uses in self._both]

    @cached_property
    def used(self) -> Used:
        """What each names in that, by its place."""
        return {
            place: self.references.of(uses)
            for place, uses in enumerate(self.uses)
            if uses
        }


class PlanReading:
    """The same, and what a plan shows in the place of messages."""

    def __init__(self, thread: ThreadReading, changes: Iterable[Change]) -> None:
        self.messages, self.references = thread.messages, thread.references
        self.texts, self.uses, self.used = thread.texts, thread.uses, thread.used
        self.shown: dict[int, Texts] = {}
        """Of messages that the plan changes, the texts that stand there then, if any."""
        self.step: dict[int, int] = {}
        """The number of the step that changes them."""
        for number, (places, parts) in enumerate(changes):
            shows = self.references.read(texts_of(parts))
            self.shown |= dict.fromkeys(places, shows)
            self.step |= dict.fromkeys(places, number)
