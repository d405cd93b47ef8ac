"""What a thread says and what a plan leaves of it, read once for all who look for names in it."""

from collections.abc import Sequence
from functools import cached_property

from archive.domain.hindsight.references import References
from archive.domain.hindsight.runs import Texts
from archive.domain.hindsight.texts import read_of, texts_of
from operations.domain.log.operation import messages_of

from .classes import Prunable
from .plan import PrunePlan


class ThreadReading:
    """The texts of messages by their places; they are read when somebody asks for them."""

    def __init__(self, messages: Sequence[Prunable]) -> None:
        self.messages = messages
        self.references = References()

    @cached_property
    def _both(self) -> list[tuple[Texts, Texts]]:
        return [self._read(message) for message in self.messages]

    def _read(self, message: Prunable) -> tuple[Texts, Texts]:
        texts, uses = read_of(message.role, message.parts)
        kept = self.references.read(texts)
        return kept, kept if uses is texts else self.references.read(uses)

    @cached_property
    def texts(self) -> list[Texts]:
        """All that each says."""
        return [texts for texts, _ in self._both]

    @cached_property
    def uses(self) -> list[Texts]:
        """What of them relies on others."""
        return [uses for _, uses in self._both]


class PlanReading:
    """The same, and what a plan shows in the place of messages."""

    def __init__(self, thread: ThreadReading, plan: PrunePlan) -> None:
        self.messages, self.references = thread.messages, thread.references
        self.texts, self.uses = thread.texts, thread.uses
        self.shown: dict[int, Texts] = {}
        """Of messages that the plan changes, the texts that stand there then, if any."""
        self.step: dict[int, int] = {}
        """The number of the step that changes them."""
        for number, step in enumerate(plan.steps):
            parts = (part for new in messages_of(step.edit) for part in new.parts)
            shows = self.references.read(texts_of(parts))
            self.shown |= dict.fromkeys(step.places, shows)
            self.step |= dict.fromkeys(step.places, number)
