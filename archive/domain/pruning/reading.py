"""The texts of a thread and of what a plan leaves of it, read once for all searches for names."""

from collections.abc import Iterable, Sequence
from functools import cached_property

from archive.domain.hindsight.losses import Used
from archive.domain.hindsight.references import References
from archive.domain.hindsight.runs import Texts
from archive.domain.hindsight.texts import read_of, texts_of

from .classes import Prunable
from .plan import Change


class ThreadReading:
    """The texts of a thread's messages, by position; read on first use."""

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
        """All texts of each message."""
        return [texts for texts, _ in self._both]

    @cached_property
    def uses(self) -> list[Texts]:
        """The texts of each message that rely on earlier messages."""
        return [uses for _, uses in self._both]

    @cached_property
    def used(self) -> Used:
        """Map of position to the references in the message's uses."""
        return {
            place: self.references.of(uses)
            for place, uses in enumerate(self.uses)
            if uses
        }


class PlanReading:
    """A thread's texts, and what a plan shows in place of its messages."""

    def __init__(self, thread: ThreadReading, changes: Iterable[Change]) -> None:
        self.messages, self.references = thread.messages, thread.references
        self.texts, self.uses, self.used = thread.texts, thread.uses, thread.used
        self.shown: dict[int, Texts] = {}
        """Map of the position of each changed message to the texts that replace it, if any."""
        self.step: dict[int, int] = {}
        """Map of the position of each changed message to the number of the step."""
        for number, (places, parts) in enumerate(changes):
            shows = self.references.read(texts_of(parts))
            self.shown |= dict.fromkeys(places, shows)
            self.step |= dict.fromkeys(places, number)
