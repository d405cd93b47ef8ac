"""What a thread says and what a plan leaves of it, read once for all who look for names in it."""

from collections.abc import Sequence

from archive.domain.hindsight.runs import Texts
from archive.domain.hindsight.texts import read_of, texts_of
from operations.domain.log.operation import messages_of

from .classes import Prunable
from .plan import PrunePlan


class PlanReading:
    """The texts of messages by their places, and what a plan shows in the place of them."""

    def __init__(self, messages: Sequence[Prunable], plan: PrunePlan) -> None:
        self.messages = messages
        self.texts: list[Texts] = []
        self.uses: list[Texts] = []
        """What of them relies on others."""
        for message in messages:
            texts, uses = read_of(message.role, message.parts)
            kept = Texts(texts)
            self.texts.append(kept)
            self.uses.append(kept if uses is texts else Texts(uses))
        self.shown: dict[int, Texts] = {}
        """Of messages that the plan changes, the texts that stand there then, if any."""
        self.step: dict[int, int] = {}
        """The number of the step that changes them."""
        for number, step in enumerate(plan.steps):
            parts = (part for new in messages_of(step.edit) for part in new.parts)
            shows = Texts(texts_of(parts))
            self.shown |= dict.fromkeys(step.places, shows)
            self.step |= dict.fromkeys(step.places, number)
