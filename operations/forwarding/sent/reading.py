"""Reads what was sent: a request's pieces, and its differences from another request."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from contextstudio.accounts.domain.errors import NotFound
from operations.domain.forwarding.sent import SentChange, change_between, numbers_of
from operations.domain.log.mask import mask_json
from operations.domain.tree.key import Key
from operations.messages.reader import masked_texts
from operations.models import SentPiece, SessionRequest
from threads.models import Session

from .packing import unpacked

_AT_ONCE = 500


class PieceFacts(NamedTuple):
    """A piece without its contents."""

    kind: str
    keys: Sequence[Key]
    tokens: int


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request as it was sent."""

    row: SessionRequest
    numbers: Sequence[int]
    """The numbers of its pieces, in order."""
    facts: Mapping[int, PieceFacts]

    @property
    def messages(self) -> list[int]:
        """The numbers of its pieces without the list of tools, which is no message."""
        return [one for one in self.numbers if self.facts[one].kind != "tools"]

    @property
    def tools_tokens(self) -> int:
        """The tokens of the tools that it offers."""
        kinds = (self.facts[one] for one in self.numbers)
        return sum(one.tokens for one in kinds if one.kind == "tools")


def load_sent(session: Session, number: int) -> SentRequest:
    """One request of a session that the caller may read. Raises NotFound."""
    row = SessionRequest.objects.filter(session=session, number=number).first()
    if row is None:
        raise NotFound(f"This session has no request {number}.", at=["request"])
    numbers = numbers_of(row.sent)
    return SentRequest(row, numbers, _facts(session, numbers))


def change_of(before: SentRequest, after: SentRequest) -> SentChange:
    """How a request differs from another one of its session."""
    facts = {**before.facts, **after.facts}
    tokens = {number: one.tokens for number, one in facts.items()}
    return change_between(before.numbers, after.numbers, tokens)


def read_pieces(session: Session, numbers: Collection[int]) -> dict[int, Any]:
    """The JSON of pieces by number, with active redactions masked."""
    rows = SentPiece.objects.filter(session=session, number__in=list(numbers))
    texts = masked_texts(session)
    return {
        number: mask_json(unpacked(bytes(content)), texts)
        for number, content in rows.values_list("number", "content")
    }


def _facts(session: Session, numbers: Sequence[int]) -> dict[int, PieceFacts]:
    if not numbers:
        return {}
    rows = SentPiece.objects.filter(
        session=session, number__gte=min(numbers), number__lte=max(numbers)
    ).values_list("number", "kind", "keys", "tokens")
    wanted = set(numbers)
    return {
        number: PieceFacts(kind, keys, tokens)
        for number, kind, keys, tokens in rows.iterator(_AT_ONCE)
        if number in wanted
    }
