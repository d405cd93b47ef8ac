"""When a session is too long for its model: document 1's trigger."""

from dataclasses import dataclass

from operations.domain.context.policy import Pruning


@dataclass(frozen=True, slots=True)
class Trigger:
    """How full the model's window would be with the next request. All figures are in tokens."""

    projected: int
    """The expected size of the next request, as far as it is known."""
    window: int | None
    """The model's window; None if unknown, and then the trigger never fires."""
    threshold: int
    """The trigger fires when no more than this is left."""

    @property
    def remaining(self) -> int | None:
        """What the window has left; None if the window is unknown."""
        return None if self.window is None else self.window - self.projected

    @property
    def is_due(self) -> bool:
        """Whether the trigger fires."""
        return self.remaining is not None and self.remaining <= self.threshold

    def sentence(self, model: str) -> str:
        """The state of the trigger as text for people."""
        if self.window is None or self.remaining is None:
            named = f"the window of {model}" if model else "the session's model"
            return f"Automatic pruning is off: {named} is not known."
        state = "Due" if self.is_due else "Not due"
        return (
            f"{state}: {max(0, self.remaining):,} of {self.window:,} tokens would be left; "
            f"the trigger is {self.threshold:,}."
        )


def trigger(projected: int, window: int | None, rules: Pruning) -> Trigger:
    """The trigger for a request of `projected` tokens."""
    if window is None:
        return Trigger(projected, None, 0)
    is_large = window > rules.large_window
    share = int(window * rules.remaining_share)
    return Trigger(projected, window, rules.remaining_tokens if is_large else share)
