"""Keeps what was sent: each piece once per session, a request as runs over them.

Pieces are numbered under the session's lock. The process remembers the digests of those that it
kept, and reads those of others when it finds that there are more.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.db.models import IntegerField, UUIDField

from contextstudio.database.prepared import Prepared, given, insert
from operations.domain.forwarding.sent import (
    PieceRun,
    SentBlock,
    SentMessage,
    joined_runs,
    runs_of,
)
from operations.domain.forwarding.splice import Raw
from operations.log.cache import Cache
from operations.models import SentPiece
from threads.models import Session

from .outgoing import OutgoingPiece, message_piece
from .packing import packed


@dataclass(slots=True)
class _Numbers:
    """The numbers of a session's pieces by their digests, up to a number."""

    of: dict[bytes, int]
    end: int = 0


_NEWEST = Prepared(
    lambda: (
        SentPiece.objects.filter(session=given("session", UUIDField()))
        .order_by("-number")
        .values_list("number", flat=True)[:1]
    )
)
_SINCE = Prepared(
    lambda: SentPiece.objects.filter(
        session=given("session", UUIDField()), number__gte=given("end", IntegerField())
    ).values_list("digest", "number")
)
_known: Cache[_Numbers] = Cache(lambda known: 150 * len(known.of))


def keep_sent(
    session: Session,
    beside: Sequence[OutgoingPiece],
    kept: Sequence[PieceRun],
    blocks: Sequence[SentBlock],
    before: Sequence[SentBlock],
    run: Callable[[int, int], Raw],
) -> list[PieceRun]:
    """Keep what goes out, and what goes before it; the session's row is locked.

    What comes first is `kept` already. Blocks that were kept before are not looked at. `before`
    are those of the last request, from which this one goes on. `run` gives the client's messages.
    """
    new = sum(block.runs is None for block in blocks)
    keeping = _Keeping(session, before[-new - 1 :], run)
    runs = [*runs_of(map(keeping.number, beside)), *kept]
    for block in blocks:
        if block.runs is None:
            block.number(keeping.number_of_message)
        runs += block.runs or ()
    keeping.finish()
    return joined_runs(runs)


class _Keeping:
    """The pieces of one request, while they get their numbers."""

    def __init__(
        self,
        session: Session,
        before: Sequence[SentBlock],
        run: Callable[[int, int], Raw],
    ) -> None:
        self._session, self._run = session, run
        self._before = {
            (one.piece, *one.keys): number
            for block in before
            for one, number in block.numbered()
        }
        self._known = _numbers(session)
        self._made: dict[bytes, int] = {}
        self._rows: list[SentPiece] = []

    def finish(self) -> None:
        """Write those that are new."""
        if not self._rows:
            return
        insert(self._rows)
        end = self._known.end + len(self._rows)
        _known.keep(self._session.pk, _Numbers({**self._known.of, **self._made}, end))

    def number_of_message(self, message: SentMessage) -> int:
        """The number of a message."""
        known = self._before.get((message.piece, *message.keys))
        return (
            self.number(message_piece(message, self._run)) if known is None else known
        )

    def number(self, piece: OutgoingPiece) -> int:
        """The number of a piece: the one that it has, or a new one."""
        digest = piece.digest
        number = self._known.of.get(digest, self._made.get(digest))
        if number is None:
            number = self._made[digest] = self._known.end + len(self._rows)
            row = SentPiece(
                session=self._session,
                number=number,
                digest=digest,
                kind=piece.kind,
                keys=list(piece.keys),
                tokens=piece.tokens,
                content=packed(piece.body),
            )
            self._rows.append(row)
        return number


def _numbers(session: Session) -> _Numbers:
    """All pieces that the session has by now; another process may have kept some."""
    newest = _NEWEST.first(session=session.pk)
    end = 0 if newest is None else newest + 1
    known = _known.get(session.pk) or _Numbers({})
    if known.end == end:
        return known
    more = _SINCE.rows(session=session.pk, end=known.end)
    found = {bytes(digest): number for digest, number in more}
    return _Numbers({**known.of, **found}, end)
