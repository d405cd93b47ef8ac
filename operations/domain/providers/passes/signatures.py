"""Signed reasoning: what a request may hold of it (R6, R7, R9, R10), and what breaks it.

A signature (or reasoning that only the provider can read) covers the answer it is in and
everything that the model read before it. Where the model would now read anything else before it,
the provider refuses it (`SignedPlaces`).
"""

import base64
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest

from operations.domain.providers.request import Outgoing
from operations.domain.providers.rules import Reasoning
from operations.domain.providers.turns import Turn, TurnPart
from operations.domain.tree.key import Key
from threads.domain.message import Role
from threads.domain.part import File, Image, Text, Thinking, ToolCall, signer_of

from . import findings
from .findings import Finding
from .work import Work


def without_invalid_reasoning(
    turns: list[Turn], work: Work, arranged: Callable[[list[Turn], Work], list[Turn]]
) -> list[Turn]:
    """The turns without reasoning that can't be sent, arranged by another pass.

    Arranging may break signatures, and leaving parts out may change which turns are adjacent.
    A place never holds again, so this terminates.
    """
    while True:
        signed = work.signed
        turns = arranged(_without_broken(turns, work), work)
        turns = _without_last(turns, work)
        if work.signed == signed:
            break
    _note_progress(turns, work)
    return turns


def _without_broken(turns: Sequence[Turn], work: Work) -> list[Turn]:
    """Remove reasoning whose signature doesn't hold, and turns that this leaves empty."""
    kept: list[Turn] = []
    for turn in turns:
        if _has_reasoning(turn):
            turn.pieces = [piece for piece in turn.pieces if _may_stay(piece, work)]
            if work.rules.reasoning is Reasoning.KEPT:
                turn.pieces = list(_without_loose(turn.pieces, work))
        if turn.pieces:
            kept.append(turn)
    return kept


def _without_loose(pieces: list[TurnPart], work: Work) -> Iterator[TurnPart]:
    """Remove bare signatures that are not followed by what they belong to."""
    for piece, following in zip_longest(pieces, pieces[1:]):
        is_bare = isinstance(piece.part, Thinking) and not piece.part.text
        if is_bare and not (
            following is not None
            and following.place == piece.place
            and isinstance(following.part, Text | ToolCall | Image | File)
        ):
            work.report(findings.LAST_REASONING, piece)
        else:
            yield piece


def _may_stay(piece: TurnPart, work: Work) -> bool:
    if not isinstance(piece.part, Thinking):
        return True
    finding = _fault(piece.part, piece.place, work)
    if finding is None:
        return True
    work.report(finding, piece)
    is_bound = work.rules.reasoning is Reasoning.SIGNED and is_signed(piece.part)
    if is_bound and work.signed.hold(piece.place):
        work.break_from(piece.place)
    return False


def _fault(part: Thinking, place: int, work: Work) -> Finding | None:
    """Why reasoning can't be sent; None if it can."""
    rules, message = work.rules, work.draft.messages[place]
    if rules.reasoning is Reasoning.WORDS:
        has_signature = part.signature is not None or part.data is not None
        return findings.FOREIGN_REASONING if has_signature or not part.text else None
    signer = signer_of(part, message.strategy)
    if signer not in rules.strategies or not _is_readable(part, work):
        return findings.FOREIGN_REASONING
    if rules.reasoning is Reasoning.KEPT:
        return findings.BROKEN_SIGNATURE if message.changed else None
    return None if work.signed.hold(place) else findings.BROKEN_SIGNATURE


def _without_last(turns: list[Turn], work: Work) -> list[Turn]:
    """Remove reasoning from the end of assistant turns, where providers refuse it."""
    if not work.rules.reasoning.is_bound:
        return turns
    is_item = work.rules.reasoning is Reasoning.ITEMS
    finding = findings.LONE_REASONING if is_item else findings.LAST_REASONING
    kept: list[Turn] = []
    for turn in turns:
        while turn.pieces and isinstance(turn.pieces[-1].part, Thinking):
            work.report_repair(finding, turn.pieces.pop())
        if turn.pieces:
            kept.append(turn)
    return kept


def _note_progress(turns: list[Turn], work: Work) -> None:
    """Note if the request ends with results of calls whose reasoning is lost.

    A portion may begin within the answer, so only its last step can be told in all of them.
    """
    is_signed = work.rules.reasoning is Reasoning.SIGNED
    if not is_signed or work.draft.is_followed or len(turns) < 2:
        return
    step, last = turns[-2:]
    if last.role is not Role.TOOL or _has_reasoning(step):
        return
    lost = work.places(findings.BROKEN_SIGNATURE)
    for piece in step.pieces:
        if piece.place in lost:
            work.report(findings.ACTIVE_REASONING, piece)


def _has_reasoning(turn: Turn) -> bool:
    return turn.role is Role.ASSISTANT and any(
        isinstance(piece.part, Thinking) for piece in turn.pieces
    )


def _is_readable(part: Thinking, work: Work) -> bool:
    """Whether reasoning has a signature, encoded as the provider requires."""
    encoded = work.rules.encoded_signatures
    signature, data = part.signature, part.data
    return is_signed(part) and not (
        (signature and "signature" in encoded and not _is_base64(signature))
        or (data and "data" in encoded and not _is_base64(data))
    )


def _is_base64(text: str) -> bool:
    standard = text.replace("-", "+").replace("_", "/")
    try:
        return bool(base64.b64decode(standard + "=" * (-len(text) % 4), validate=True))
    except ValueError:
        return False


def is_signed(part: Thinking) -> bool:
    """Whether reasoning has a provider's signature."""
    return bool(part.signature) or bool(part.data)


# For the ledger


def count_intact(
    messages: Sequence[Outgoing],
    first: int = 0,
    *,
    sent: Sequence[Key] | None = None,
) -> int:
    """How many messages, from the first, stand exactly as they were recorded.

    `first` is the index of the original that comes first if nothing is changed: the number of
    originals that form the system prompt. If that prompt is unchanged, the result is
    `Assembly.intact`. `sent` is what the client sends, if that is not simply all originals; `first`
    is then a place in it.
    """
    for place, message in enumerate(messages, start=first):
        stands = (
            message.index == place
            if sent is None
            else place < len(sent) and message.key == sent[place]
        )
        if not stands or message.changed or message.kind is not None:
            return place - first
    return len(messages)


def signed_keys(
    messages: Iterable[Outgoing], at: Callable[[int], bool]
) -> Iterator[Key]:
    """The keys of messages at such places that hold signed reasoning."""
    return (
        message.key
        for place, message in enumerate(messages)
        if at(place)
        and any(
            isinstance(part, Thinking) and is_signed(part) for part in message.parts
        )
    )
