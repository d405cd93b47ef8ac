"""The outcome of a model call."""

from dataclasses import dataclass
from enum import StrEnum


class Failure(StrEnum):
    """Why a call gave no answer."""

    KEY = "key"
    MODEL = "model"
    BUSY = "busy"
    FAULT = "fault"
    REFUSED = "refused"
    REDIRECT = "redirect"
    ADDRESS = "address"
    UNREACHABLE = "unreachable"
    SILENT = "silent"
    BROKEN = "broken"


PASSING = frozenset({Failure.BUSY, Failure.FAULT, Failure.UNREACHABLE})
"""Failures after which the same call may succeed later, and that were certainly not charged."""
SENTENCES = {
    Failure.KEY: "The provider refused the key.",
    Failure.MODEL: "The provider has no such model, or not for this key.",
    Failure.BUSY: "The provider asks to wait: too many requests.",
    Failure.FAULT: "The provider had an internal error.",
    Failure.REFUSED: "The provider refused the request.",
    Failure.REDIRECT: "The provider answered with a redirect, which is not followed, "
    "because it would take the key elsewhere.",
    Failure.ADDRESS: "The provider's address is in a network that may not be called.",
    Failure.UNREACHABLE: "The provider can't be reached.",
    Failure.SILENT: "The provider did not answer in time.",
    Failure.BROKEN: "The provider's answer broke off.",
}


@dataclass(frozen=True, slots=True)
class CallUsage:
    """The tokens a call used, as the provider counted them (None if unknown), and how it ended."""

    input: int | None = None
    output: int | None = None
    is_cut: bool = False
    """Whether the answer was cut off by the token limit or a provider's filter."""


class CallFailed(Exception):
    """Raised if a call did not give a complete answer."""

    def __init__(
        self,
        failure: str,
        status: int | None = None,
        retry_after: float | None = None,
        detail: str = "",
    ) -> None:
        self.failure = Failure(failure)
        self.status, self.retry_after, self.detail = status, retry_after, detail
        super().__init__(self.sentence)

    @property
    def sentence(self) -> str:
        """The reason as text, with the HTTP status and what the provider said."""
        said = f' It said: "{self.detail}".' if self.detail else ""
        status = f" (HTTP {self.status})" if (self.status or 0) >= 300 else ""
        words = SENTENCES[self.failure].removesuffix(".")
        return f"{words}{status}.{said}"

    @property
    def is_passing(self) -> bool:
        return self.failure in PASSING
