"""Remembers originals as they arrive, so that their content need not be read for a request.

It is local to one process, like everything that is cached of requests.
"""

from collections.abc import Mapping, Sequence

from operations.domain.providers.plain import PlainMessage, UnreadMessage, plain_message
from operations.domain.tree.leaf import Leaf
from operations.log.cache import Cache
from threads.domain.message import Message
from threads.models import Session

_known: Cache[Sequence[UnreadMessage | None]] = Cache(lambda known: 400 * len(known))
"""Keyed by session id and encoding."""


def plain_originals(session: Session) -> Sequence[UnreadMessage | None]:
    """Plain originals by index; those that arrived at other processes may be missing."""
    return _known.get((session.pk, session.encoding)) or ()


def learn(session: Session, plain: Sequence[UnreadMessage | None]) -> None:
    """Remember what is known of a session's originals: see `plain_after_request`."""
    if len(plain) > len(plain_originals(session)):
        _known.keep((session.pk, session.encoding), plain)


def plain_after_request(
    session: Session,
    leaves: Sequence[Leaf],
    said: Mapping[int, Message],
    new: Sequence[Message],
) -> Sequence[UnreadMessage | None]:
    """What is known after a client's request.

    The request adds the originals that it repeats (`said`), and the last ones, which are new. A
    repeated message may have its calls' arguments written differently than the original, which may
    also have been recorded with another strategy.
    """
    known = plain_originals(session)
    first = len(leaves) - len(new)
    found = {
        index: _said_again(one) for index, one in said.items() if index >= len(known)
    }
    strategy = session.parsing_strategy
    found.update(
        (first + at, plain_message(one, strategy)) for at, one in enumerate(new)
    )
    if not found or (end := max(found) + 1) <= len(known):
        return known
    more = (_unread(found.get(at), at, leaves) for at in range(len(known), end))
    return [*known, *more]


def _said_again(message: Message) -> PlainMessage | None:
    plain = plain_message(message)
    return plain._replace(is_written=bool(plain.calls)) if plain else None


def _unread(
    plain: PlainMessage | None, index: int, leaves: Sequence[Leaf]
) -> UnreadMessage | None:
    return plain and UnreadMessage.of(plain, index, leaves[index])
