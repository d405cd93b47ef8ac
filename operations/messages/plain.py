"""What is known of originals as they come in, so that their words need not be read for a request.

It belongs to one process, as all that is kept of requests does.
"""

from collections.abc import Mapping, Sequence

from operations.domain.providers.plain import Plain, plain_of
from operations.log.cache import Cache
from threads.domain.message import Message
from threads.models import Session

_known: Cache[Sequence[Plain | None]] = Cache(lambda known: 1 + len(known) // 4)


def plain_originals(session: Session) -> Sequence[Plain | None]:
    """By index, what is known of originals that are plain; of the last ones perhaps nothing."""
    return _known.get(session.pk) or ()


def learn(
    session: Session, said: Mapping[int, Message], new: Sequence[Message]
) -> None:
    """Know what a client sends: originals that it says again, and the last ones, which are new.

    What it says again may have come with its calls' arguments written in another way.
    """
    known = plain_originals(session)
    first = session.message_count - len(new)
    found = {index: _said_again(one) for index, one in said.items()}
    found.update((first + at, plain_of(one)) for at, one in enumerate(new))
    found = {index: one for index, one in found.items() if index >= len(known)}
    if found:
        more = range(len(known), max(found) + 1)
        _known.keep(session.pk, [*known, *map(found.get, more)])


def _said_again(message: Message) -> Plain | None:
    plain = plain_of(message)
    return plain._replace(is_written=bool(plain.calls)) if plain else None
