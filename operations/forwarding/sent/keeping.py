"""Stores what was sent: each piece once per session, a request as runs of pieces.

Pieces are numbered under the session's lock. The process caches the digests of the pieces that it
stored, and reads those of other processes when it finds that there are more.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from django.db.models import IntegerField, UUIDField

from contextstudio.database.prepared import Param, Prepared
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
from threads.store.rows import insert_rows

from .outgoing import OutgoingPiece, PackedPiece, message_piece

PackedMessages = Mapping[Hashable, PackedPiece]
NONE_PACKED: PackedMessages = MappingProxyType({})
_COLUMNS = ("number", *PackedPiece._fields)


@dataclass(slots=True)
class _Numbers:
    """The numbers of a session's pieces below `end`, by digest."""

    by_digest: dict[bytes, int]
    end: int = 0


_NEWEST = Prepared(
    lambda: (
        SentPiece.objects.filter(session=Param("session", UUIDField()))
        .order_by("-number")
        .values_list("number", flat=True)[:1]
    )
)
_SINCE = Prepared(
    lambda: SentPiece.objects.filter(
        session=Param("session", UUIDField()), number__gte=Param("end", IntegerField())
    ).values_list("digest", "number")
)
_known: Cache[_Numbers] = Cache(lambda known: 150 * len(known.by_digest))


def keep_sent(
    session: Session,
    beside: Sequence[OutgoingPiece],
    kept: Sequence[PieceRun],
    blocks: Sequence[SentBlock],
    before: Sequence[SentBlock],
    run: Callable[[int, int], Raw],
    packed: PackedMessages = NONE_PACKED,
) -> list[PieceRun]:
    """Store the pieces of a request; the session's row is locked.

    The first pieces are already stored as `kept`. Blocks that are stored are skipped. `before`
    are the blocks of the last request, which this one continues. `run` returns the client's
    messages, some of which may already be `packed`.
    """
    new = sum(block.runs is None for block in blocks)
    keeping = _PieceNumbering(session, before[-new - 1 :], run, packed)
    runs = [*runs_of(map(keeping.number, beside)), *kept]
    for block in blocks:
        if block.runs is None:
            block.number(keeping.number_of_message)
        runs += block.runs or ()
    keeping.finish()
    return joined_runs(runs)


class _PieceNumbering:
    """Assigns numbers to the pieces of one request."""

    def __init__(
        self,
        session: Session,
        before: Sequence[SentBlock],
        run: Callable[[int, int], Raw],
        packed: PackedMessages,
    ) -> None:
        self._session, self._run, self._packed = session, run, packed
        self._before = {
            _place(one): number for block in before for one, number in block.numbered()
        }
        self._known = _numbers(session)
        self._made: dict[bytes, int] = {}
        self._rows: list[PackedPiece] = []

    def finish(self) -> None:
        """Insert the new pieces."""
        if not self._rows:
            return
        start, end = self._known.end, self._known.end + len(self._rows)
        same = {"session_id": self._session.pk.hex}
        columns = [range(start, end), *zip(*self._rows, strict=True)]
        insert_rows(SentPiece._meta.db_table, same, _COLUMNS, columns)
        _known.keep(
            self._session.pk, _Numbers({**self._known.by_digest, **self._made}, end)
        )

    def number_of_message(self, message: SentMessage) -> int:
        """The number of a message."""
        place = _place(message)
        known = self._before.get(place)
        if known is not None:
            return known
        piece = self._packed.get(place) or message_piece(message, self._run)
        return self.number(piece)

    def number(self, piece: OutgoingPiece | PackedPiece) -> int:
        """The number of a piece: its existing one, or a new one."""
        digest = piece.digest
        number = self._known.by_digest.get(digest, self._made.get(digest))
        if number is None:
            number = self._made[digest] = self._known.end + len(self._rows)
            row = piece if isinstance(piece, PackedPiece) else piece.packed()
            self._rows.append(row)
        return number


def packed_messages(
    blocks: Sequence[SentBlock], run: Callable[[int, int], Raw]
) -> PackedMessages:
    """Pack the messages of these blocks that are not stored yet, for `keep_sent`."""
    new = (
        message
        for block in blocks
        if block.runs is None
        for message in block.messages[len(block.known) :]
    )
    return {_place(one): message_piece(one, run).packed() for one in new}


def _place(message: SentMessage) -> Hashable:
    """Identifies a message among those of its request."""
    return (message.piece, *message.keys)


def _numbers(session: Session) -> _Numbers:
    """The numbers of all pieces of the session; another process may have stored some."""
    newest = _NEWEST.first(session=session.pk)
    end = 0 if newest is None else newest + 1
    known = _known.get(session.pk) or _Numbers({})
    if known.end == end:
        return known
    more = _SINCE.rows(session=session.pk, end=known.end)
    found = {bytes(digest): number for digest, number in more}
    return _Numbers({**known.by_digest, **found}, end)
