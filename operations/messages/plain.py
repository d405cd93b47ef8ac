"""Originals that are known as they come in, so that their words need not be read for a request.

It belongs to one process, as all that is kept of requests does.
"""

from collections.abc import Mapping, Sequence

from operations.domain.providers.plain import PlainMessage, Unread, plain_of
from operations.domain.tree.leaf import Leaf
from operations.log.cache import Cache
from threads.domain.message import Message
from threads.models import Session

_known: Cache[Sequence[Unread | None]] = Cache(lambda known: 400 * len(known))
"""By session and encoding."""


def plain_originals(session: Session) -> Sequence[Unread | None]:
    """Originals that are plain, by index; those that came by others are perhaps not known."""
    return _known.get((session.pk, session.encoding)) or ()


def learn(session: Session, learnt: Sequence[Unread | None]) -> None:
    """Know what was `learnt` of a session."""
    if len(learnt) > len(plain_originals(session)):
        _known.keep((session.pk, session.encoding), learnt)


def learnt(
    session: Session,
    leaves: Sequence[Leaf],
    said: Mapping[int, Message],
    new: Sequence[Message],
) -> Sequence[Unread | None]:
    """What is known by what a client sends: originals that it says again, and the last ones,
    which are new.

    What it says again may have come with its calls' arguments written in another way, and was
    perhaps recorded with another strategy.
    """
    known = plain_originals(session)
    first = len(leaves) - len(new)
    found = {
        index: _said_again(one) for index, one in said.items() if index >= len(known)
    }
    strategy = session.parsing_strategy
    found.update((first + at, plain_of(one, strategy)) for at, one in enumerate(new))
    if not found or (end := max(found) + 1) <= len(known):
        return known
    more = (_unread(found.get(at), at, leaves) for at in range(len(known), end))
    return [*known, *more]


def _said_again(message: Message) -> PlainMessage | None:
    plain = plain_of(message)
    return plain._replace(is_written=bool(plain.calls)) if plain else None


def _unread(
    plain: PlainMessage | None, index: int, leaves: Sequence[Leaf]
) -> Unread | None:
    return plain and Unread.of(plain, index, leaves[index])
