"""Puts calls of our tools back into a reply of which the client has only its own calls.

The provider gets the reply as its model made it: what is signed in it stays valid.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from .form import Call, JSONObject, ToolForm


class PartedReply(NamedTuple):
    """A reply that calls our tools and the client's, and the results of ours."""

    said: Sequence[JSONObject]
    """The reply as messages of the next request."""
    results: Sequence[JSONObject]
    names: frozenset[str]
    """The tools whose calls the client doesn't see."""

    @classmethod
    def read(cls, value: dict[str, Any]) -> "PartedReply":
        """The reply as it was stored."""
        return cls(value["said"], value["results"], frozenset(value["names"]))

    def written(self) -> dict[str, Any]:
        """The reply as it is stored."""
        return {**self._asdict(), "names": sorted(self.names)}


class _Made(NamedTuple):
    """A call of the client's, and the calls of ours before it."""

    piece: JSONObject
    call: Call
    before: list[JSONObject]


def joined(
    form: ToolForm, reply: PartedReply, given: Sequence[JSONObject]
) -> list[list[JSONObject]] | None:
    """For each of the client's messages from the first on, the messages to send in its place.

    They cover the reply and, where results of ours are added to it, the message after it. None if
    the client's messages don't begin with the reply.
    """
    made, rest = _made(form, reply)
    found: list[list[JSONObject]] = []
    left = list(made)
    for message in given:
        if not left:
            break
        if not form.is_said(message):
            return None
        pieces: list[JSONObject] = []
        for piece in form.pieces(message):
            call = form.call(piece)
            if call is None:
                pieces.append(piece)
                continue
            if not left or not _is_same(left[0].call, call):
                return None
            own = left.pop(0)
            ours = [*own.before, form.returned(piece, own.piece)]
            pieces += [form.own(one, piece) for one in ours[:-1]] + ours[-1:]
            pieces += [] if left else [form.own(one, piece) for one in rest]
        found.append(form.with_pieces(message, pieces))
    return None if left else _with_results(form, reply, found, given)


def _with_results(
    form: ToolForm,
    reply: PartedReply,
    found: list[list[JSONObject]],
    given: Sequence[JSONObject],
) -> list[list[JSONObject]]:
    """Add the results of our calls: to the client's own, or else after the reply."""
    count = len(found)
    hidden = [call.name in reply.names for call in form.calls(reply.said)]
    for following in given[count : count + 1]:
        whole = form.with_results(reply.results, following, hidden)
        if whole is not None:
            return [*found, [whole]]
    return [*found[:-1], [*found[-1], *reply.results]]


def _made(form: ToolForm, reply: PartedReply) -> tuple[list[_Made], list[JSONObject]]:
    """The client's calls, each with those of ours before it, and those of ours after the last."""
    made: list[_Made] = []
    ours: list[JSONObject] = []
    for message in reply.said:
        for piece in form.pieces(message):
            call = form.call(piece)
            if call is None:
                continue
            if call.name in reply.names:
                ours.append(piece)
            else:
                made.append(_Made(piece, call, ours))
                ours = []
    return made, ours


def _is_same(made: Call, given: Call) -> bool:
    if made.id and given.id:
        return made.id == given.id
    return made.name == given.name
