"""Answers a model's calls of our tools, and queries its provider again.

A reply that calls only our tools becomes a message of the session that the client doesn't see:
the calls are answered, and the client's own request is prepared again, including what was said.
If the reply also calls the client's tools, ours are answered and kept, and the client gets the
reply without them. Once it brings the results of its own calls, the reply is sent whole, with all
results (`joining`).

If two requests ask the same, for example because a client doesn't wait, the calls of the first
reply are answered; the other request is sent again with their results.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from operations.forwarding import toolbox
from operations.forwarding.proxy.bodies import read_body
from operations.forwarding.proxy.recording import (
    Exchange,
    Outcome,
    has_gone_on,
    record_outcome,
)
from operations.forwarding.proxy.replies import Reply
from operations.forwarding.toolbox import CallAnswer
from threads.domain.message import Message
from threads.domain.part import ToolCall

from . import rounds
from .form import Call, JSONObject
from .forms import FORMS
from .joining import PartedReply
from .offering import Offer

MAX_CALLS = 32
"""How many calls of one reply are answered."""
_TOO_MANY = CallAnswer(
    f'{{"detail":"Only {MAX_CALLS} calls of one reply are answered."}}', is_error=True
)


@dataclass(frozen=True, slots=True)
class Settled:
    """The result of a reply that was held back."""

    asks_again: bool = False
    """Whether calls were answered that the client doesn't see, so that its request must be sent
    again."""
    hidden_calls: frozenset[str] = frozenset()
    """The tools whose calls are removed from the reply."""


def settle(offer: Offer, exchange: Exchange, outcome: Outcome) -> Settled:
    """Record a finished reply, and answer its calls of our tools."""
    reply = outcome.read() if outcome.read else None
    if reply is None or not reply.messages or not reply.is_whole:
        record_outcome(exchange, outcome)
        return Settled()
    calls = FORMS[offer.route.form].calls(reply.said)
    ours = [call for call in calls if call.name in offer.names]
    if not ours:
        record_outcome(exchange, replace(outcome, read=lambda: reply))
        return Settled()
    if offer.is_last:
        _record_rest(offer, exchange, outcome, reply)
        return Settled(hidden_calls=offer.names)
    are_all, is_late = len(ours) == len(calls), has_gone_on(exchange)
    results = [] if is_late else _results(offer, exchange, ours)
    if is_late and not are_all:
        _record_rest(offer, exchange, outcome, reply)
        return Settled(hidden_calls=offer.names)
    index = record_outcome(exchange, replace(outcome, read=lambda: reply))
    if not is_late and index is not None:
        parted = PartedReply(reply.said, results, offer.names)
        whole = [*reply.said, *results]
        _keep(offer, exchange, whole if are_all else parted.written())
    return Settled(asks_again=are_all, hidden_calls=offer.names)


def _results(
    offer: Offer, exchange: Exchange, calls: Sequence[Call]
) -> list[JSONObject]:
    """Answer calls in the session, with the rights of the client's key."""
    answers = [
        (
            call,
            toolbox.answer(offer.caller, exchange.session_id, call.name, call.arguments)
            if place < MAX_CALLS
            else _TOO_MANY,
        )
        for place, call in enumerate(calls)
    ]
    return FORMS[offer.route.form].results(answers)


def _record_rest(
    offer: Offer, exchange: Exchange, outcome: Outcome, reply: Reply
) -> None:
    """Record a reply without its calls of our tools, which are not answered.

    A provider that keeps the reply also has those calls, without results. So the reply counts as
    rewritten, and requests that continue it are sent in full.
    """
    left = [_without(offer, message) for message in reply.messages]
    messages = [message for message in left if message.parts]
    said = [one for one in reply.said if one.get("name") not in offer.names]
    rest = reply._replace(messages=messages, said=said)
    exchange = replace(exchange, is_rewritten=True)
    record_outcome(exchange, replace(outcome, read=lambda: rest))


def _without(offer: Offer, message: Message) -> Message:
    """A message without its calls of our tools."""
    left = tuple(
        part
        for part in message.parts
        if not (isinstance(part, ToolCall) and part.name in offer.names)
    )
    return replace(message, parts=left)


def _keep(
    offer: Offer, exchange: Exchange, answered: Sequence[JSONObject] | JSONObject
) -> None:
    body = read_body(offer.route.form, offer.incoming.body)
    place = offer.before + len(body.messages)
    rounds.keep(exchange.session_id, body, place, exchange.count, answered)
