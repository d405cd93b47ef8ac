"""Answering a model's calls of our tools, and asking its provider again.

A reply that calls nothing but our tools is a message of the session that the client doesn't see:
the calls are answered, and the client's own request is prepared once more, with what was said.
Where the reply calls the client's tools too, ours are answered and kept as if they had come first,
and the client gets the reply without them.

Of two requests with one question, as when a client doesn't wait, the calls of the reply that comes
first are answered: the other is asked again with what these brought.
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
from threads.domain.formats import READERS
from threads.domain.message import Message
from threads.domain.part import ToolCall

from . import rounds
from .form import Call, JSONObject
from .forms import FORMS
from .offering import Offer

MOST_CALLS = 32
"""Of one reply, how many calls are answered."""
_TOO_MANY = CallAnswer(
    f'{{"detail":"Only {MOST_CALLS} calls of one reply are answered."}}', is_error=True
)


@dataclass(frozen=True, slots=True)
class Settled:
    """What a reply that was held back comes to."""

    asks_again: bool = False
    """Whether calls were answered that the client doesn't see: its request is to be sent anew."""
    unsaid: frozenset[str] = frozenset()
    """The tools whose calls are taken out of the reply."""


def settle(offer: Offer, exchange: Exchange, outcome: Outcome) -> Settled:
    """Record a reply that came to its end; calls of our tools are answered."""
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
        return Settled(unsaid=offer.names)
    are_all, is_late = len(ours) == len(calls), has_gone_on(exchange)
    results = [] if is_late else _results(offer, exchange, ours)
    if are_all:
        index = record_outcome(exchange, replace(outcome, read=lambda: reply))
        if not is_late and index is not None:
            _keep(offer, exchange, [*reply.said, *results])
        return Settled(asks_again=True)
    alone = FORMS[offer.route.form].alone(reply.said, offer.names)
    before = [] if is_late else [*alone, *results]
    said = READERS[offer.route.form].read_messages(before)
    index = _record_rest(offer, exchange, outcome, reply, said)
    if not is_late and index is not None:
        _keep(offer, exchange, before)
    return Settled(unsaid=offer.names)


def _results(
    offer: Offer, exchange: Exchange, calls: Sequence[Call]
) -> list[JSONObject]:
    """The results of calls, made in the session with the rights of the client's key."""
    answers = [
        (
            call,
            toolbox.answer(offer.caller, exchange.session_id, call.name, call.arguments)
            if place < MOST_CALLS
            else _TOO_MANY,
        )
        for place, call in enumerate(calls)
    ]
    return FORMS[offer.route.form].results(answers)


def _record_rest(
    offer: Offer,
    exchange: Exchange,
    outcome: Outcome,
    reply: Reply,
    before: Sequence[Message] = (),
) -> int | None:
    """Record a reply without its calls of our tools, behind other messages; its index.

    A provider that keeps the reply has those calls too, and no results of them: what goes on from
    it is to say all.
    """
    left = [_without(offer, message) for message in reply.messages]
    messages = [message for message in left if message.parts]
    said = [one for one in reply.said if one.get("name") not in offer.names]
    rest = reply._replace(messages=messages, said=said)
    exchange = replace(exchange, is_rewritten=True)
    return record_outcome(exchange, replace(outcome, read=lambda: rest, before=before))


def _without(offer: Offer, message: Message) -> Message:
    """A message without its calls of our tools."""
    left = tuple(
        part
        for part in message.parts
        if not (isinstance(part, ToolCall) and part.name in offer.names)
    )
    return replace(message, parts=left)


def _keep(offer: Offer, exchange: Exchange, messages: Sequence[JSONObject]) -> None:
    body = read_body(offer.route.form, offer.incoming.body)
    place = offer.before + len(body.messages)
    rounds.keep(exchange.session_id, body, place, exchange.count, messages)
