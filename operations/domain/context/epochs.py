"""Where signatures of reasoning hold: after exactly what the model had read when it made them (R7).

The requests of a session form *epochs*. In an epoch, each request begins with all that the last
one sent, and each response answers one of its requests. So if a request begins like those of an
epoch, the signatures of that epoch's responses hold, as far as the request continues like it.
The first epoch is the conversation as its client sends it. Every change to what was already sent
begins another.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import takewhile
from typing import NamedTuple

from operations.domain.providers.request import Layer, LeftOutResult, Outgoing
from operations.domain.providers.signed_places import NONE_SIGNED, SignedPlaces
from operations.domain.tree.leaf import Leaf
from threads.domain.body import digest
from threads.domain.message import Role

MAX_EPOCHS = 16
"""Of more epochs that changes began, the latest are remembered."""


class Epoch(NamedTuple):
    """Requests after a change."""

    digest: str
    """Identifies what all its requests begin with: the layers and the first messages."""
    length: int
    """How many messages that is."""
    signed: SignedPlaces
    """Where signatures hold in these."""
    first: int
    """The index of the original that its requests continue with."""
    end: int | None = None
    """The index of the first original that came after the epoch; None if none has come yet."""


class Epochs(NamedTuple):
    """The epochs of a session."""

    end: int = 0
    """`Epoch.end` of the conversation as its client sends it; 0 while that is all there is."""
    changed: tuple[Epoch, ...] = ()
    """The epochs that changes began, the oldest first."""
    seen: int = 0
    """How many originals there were at the last request; its response is the next one."""


NO_EPOCHS = Epochs()
"""Of a session of which only what its client sends was ever sent."""


class RequestStart(NamedTuple):
    """What a request sends of a session, before it is compiled."""

    layers: Sequence[Layer]
    messages: Sequence[Outgoing]
    intact: int
    """See `Assembly.intact`."""
    is_plain: bool
    """Whether it is exactly what the client sends."""
    originals: int
    """How many originals the session has."""
    can_recall: bool
    lineage: object
    """See `Thread.lineage`: under the same one, the same originals are folded alike."""
    left_out: Callable[[], Mapping[str, LeftOutResult]]
    """Returns `Draft.left_out`."""


class Followed(NamedTuple):
    """The epoch that a request was found to continue, with what the request sent."""

    epoch: Epoch
    layers: Sequence[Layer]
    messages: Sequence[Outgoing]
    can_recall: bool
    lineage: object


class Continuation(NamedTuple):
    """How a request continues what was sent before."""

    signed: SignedPlaces
    is_same: bool
    """Whether it continues the last epoch; otherwise it begins another."""
    length: int
    """How many messages it sends."""
    digest: Callable[[], str]
    """Returns `Epoch.digest` of an epoch that it begins."""
    followed: Followed | None = None
    """For the next request."""


def continue_epoch(
    epochs: Epochs, start: RequestStart, last: Followed | None = None
) -> Continuation:
    """Where signatures hold in a request; `last` is what the last request was found to be."""
    count = len(start.messages)
    lengths = {count, *(epoch.length for epoch in epochs.changed)}
    digests = cache(partial(_digests, start, lengths))  # reads all messages
    found = Continuation(NONE_SIGNED, False, count, lambda: digests()[count])
    if not epochs.changed:
        signed = SignedPlaces.first(start.intact)
        return found._replace(signed=signed, is_same=start.is_plain)
    latest = epochs.changed[-1]
    known = _known_length(latest, start, last, digests)
    if known is not None:
        reach = _reach(epochs, latest, start, known)
        if reach.place == count:
            followed = _followed(reach, start)
            signed, is_same = _signed(reach), reach.is_whole
            return found._replace(signed=signed, is_same=is_same, followed=followed)
    reaches = _reaches(epochs, start, digests())
    best = max(reaches, key=lambda reach: reach.place)
    return found._replace(signed=_signed(best))


def begin_epoch(
    epochs: Epochs,
    request: Continuation,
    leaves: Sequence[Leaf],
    *,
    is_closed: bool = False,
) -> Epochs:
    """The epochs once a request is sent that begins another.

    `leaves` are the session's originals, including those recorded from the request. If it
    `is_closed`, it ends with words that no later request repeats. So its response doesn't belong
    to its epoch.
    """
    replies = takewhile(lambda leaf: leaf.role == Role.ASSISTANT, leaves[epochs.seen :])
    end = epochs.seen + sum(1 for _ in replies)
    begun = Epoch(
        digest=request.digest(),
        length=request.length,
        signed=request.signed,
        first=len(leaves),
        end=len(leaves) if is_closed else None,
    )
    if not epochs.changed:
        return Epochs(len(leaves), (begun,), len(leaves))
    *earlier, last = epochs.changed
    if last.end is None:
        last = last._replace(end=end)
    changed = (*earlier, last, begun)
    return Epochs(epochs.end, changed[-MAX_EPOCHS:], len(leaves))


def _followed(reach: "_Reach", start: RequestStart) -> Followed | None:
    if not reach.is_whole:
        return None
    return Followed(
        reach.epoch, start.layers, start.messages, start.can_recall, start.lineage
    )


class _Reach(NamedTuple):
    """How far a request continues like those of an epoch."""

    epoch: Epoch
    place: int
    is_whole: bool
    """Whether it continues the epoch up to the session's last original."""


def _signed(reach: _Reach) -> SignedPlaces:
    epoch = reach.epoch
    own = ((epoch.length, reach.place),) if reach.place > epoch.length else ()
    return SignedPlaces((*epoch.signed.ranges, *own))


def _reaches(
    epochs: Epochs, start: RequestStart, digests: Mapping[int, str]
) -> Iterator[_Reach]:
    """How far a request is like those of each epoch that it begins like; the latest first."""
    for epoch in reversed(epochs.changed):
        if digests.get(epoch.length) == epoch.digest:
            yield _reach(epochs, epoch, start, epoch.length)
    first = Epoch("", 0, NONE_SIGNED, 0, epochs.end)
    ends = (
        place
        for place, message in enumerate(start.messages[: start.intact])
        if message.index is not None and message.index >= epochs.end
    )
    yield _Reach(first, next(ends, start.intact), is_whole=False)


def _known_length(
    epoch: Epoch,
    start: RequestStart,
    last: Followed | None,
    digests: Callable[[], Mapping[int, str]],
) -> int | None:
    """How many messages are known to be those of an epoch; None if not even its first ones are."""
    if last and last.epoch == epoch and _begins_like(start, last):
        return len(last.messages)
    is_known = digests().get(epoch.length) == epoch.digest
    return epoch.length if is_known else None


def _begins_like(start: RequestStart, last: Followed) -> bool:
    return (
        start.lineage is last.lineage
        and list(start.layers) == list(last.layers)
        and start.can_recall == last.can_recall
        and start.messages[: len(last.messages)] == last.messages
    )


def _reach(epochs: Epochs, epoch: Epoch, start: RequestStart, known: int) -> _Reach:
    """How far a request is like those of an epoch; its first `known` messages are."""
    shift = epoch.first - epoch.length
    for place in range(known, len(start.messages)):
        one = start.messages[place]
        is_next = one.index == place + shift and not one.changed and one.kind is None
        is_later = epoch.end is not None and place + shift >= epoch.end
        if not is_next or is_later or _is_unseen(epochs, start.messages, place):
            return _Reach(epoch, place, is_whole=False)
    count = len(start.messages)
    return _Reach(epoch, count, is_whole=count + shift == start.originals)


def _is_unseen(epochs: Epochs, messages: Sequence[Outgoing], place: int) -> bool:
    """Whether a message is a response to a request that did not come this way."""
    if place == 0 or messages[place].role is not Role.ASSISTANT:
        return False
    before = messages[place - 1]
    is_new = before.index is not None and before.index >= epochs.seen
    return is_new and before.role is not Role.ASSISTANT


def _digests(start: RequestStart, lengths: Iterable[int]) -> dict[int, str]:
    """The digests of the layers with the first messages, by how many messages these are."""
    found: dict[int, str] = {}
    hashed = hashlib.blake2b(digest_size=16)
    layers = [(layer.name, layer.text) for layer in start.layers]
    hashed.update(repr((start.can_recall, layers)).encode("utf-8", "surrogatepass"))
    left_out, done = start.left_out(), 0
    for length in sorted(set(lengths)):
        if length > len(start.messages):
            break
        marks = (_mark(one, left_out) for one in start.messages[done:length])
        hashed.update(b"".join(marks))
        done, found[length] = length, hashed.copy().hexdigest()
    return found


def _mark(message: Outgoing, left_out: Mapping[str, LeftOutResult]) -> bytes:
    """Identifies a message, what it says, and what is said in place of results of its calls.

    Originals that nothing changes say the same always.
    """
    calls = message.call_ids if left_out else ()
    stubs = [left_out[id_] for id_ in calls if id_ in left_out]
    beside = repr(stubs).encode() if stubs else b""
    if message.index is not None and not message.changed and message.kind is None:
        return b"%d%b;" % (message.index, beside)
    said = digest(message.role, message.parts)
    name = f"{message.key}:{message.kind}:{message.name}:"
    return name.encode("utf-8", "surrogatepass") + said + beside + b";"
