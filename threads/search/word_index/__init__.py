"""The index of words: which bodies may hold a text, asked from the newest on.

It is never written while messages are recorded. `catch_up` puts in what came since; up to
`SearchMark.through` every body is in, and what came later (the tail) is read by whoever
searches. So answers are complete at any time, and appending costs the same with and without
an index. Texts are folded by `str.casefold` in Python on both databases, with U+FFFD for what
neither can hold (NUL, lone surrogates); what the index finds is made sure of by who asks, so
that it may find a little too much.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from heapq import merge
from itertools import groupby
from types import ModuleType

from django.db import connection, transaction

from contextstudio.database.steps import in_short_transactions
from threads.domain.message import decode_parts
from threads.domain.text import fold, whole_text
from threads.models import Body, Message, SearchMark, Session

from . import postgresql, reading, sqlite
from .reading import Piece

AT_ONCE = 500
"""Bodies that are read at once."""
_BYTES_AT_ONCE = 2 << 20
"""Bytes of bodies that are read at once."""
WORTH_A_JOB = 1000
"""Bodies in the tail from which catching up is worth a job."""
MOST_OF_ALL = 5000
"""Bodies with a query beyond which a session is searched by reading it."""
_END = "\n\n"
"""Behind every text, so that its last characters begin a trigram too."""
_ABOVE = 1 << 62


def stored(folded: str) -> str:
    """A folded text as the index holds it; the same for texts and for what is searched."""
    if folded.isascii() and "\0" not in folded:
        return folded
    clean = folded.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return clean.replace("\0", "\ufffd")


def candidates(folded_query: str, before: int | None = None) -> Iterator[int]:
    """Ids of bodies that may hold a folded query, below `before`, the highest first.

    Those of the tail are all named, for nobody has looked into them.
    """
    top = _ABOVE if before is None else before
    found: Iterator[int] = iter(())
    if _database().is_there():
        found = _database().newest(stored(folded_query), top)
    # The tail is asked first: what leaves it meanwhile is in the index by then.
    for id_, _ in groupby(merge(reading.tail(top), found, reverse=True)):
        yield id_


def in_session(session: Session, folded_query: str) -> list[int] | None:
    """Indexes of the messages that may hold a folded query; None where all may."""
    if not _database().is_there():
        return None
    through = reading.through()
    messages = Message.objects.filter(session=session, body__gt=through)
    tail = set(messages.values_list("index", flat=True))
    found = _database().in_session(session.pk, stored(folded_query), MOST_OF_ALL)
    return None if found is None else sorted(tail.union(found))


def is_worth_a_job() -> bool:
    """Whether so much has come since the index was caught up that it should be again."""
    return _database().is_there() and _last() - reading.through() >= WORTH_A_JOB


def is_behind() -> bool:
    """Whether there is anything to put in, or to clear."""
    if not _database().is_there():
        return False
    mark = SearchMark.objects.first() or SearchMark()
    return mark.through < _last() or mark.forgotten > 0


def catch_up() -> Iterator[int]:
    """Put in what came since, in small transactions; gives how many bodies after each.

    Ids are drawn before they are committed: the mark moves once every transaction that may
    have drawn one below it has ended, and what these wrote is in.
    """
    database = _database()
    if not database.is_there():
        return
    with transaction.atomic():
        _mark()
    last, writer = _last(), database.next_writer()
    yield from _put_in(last)
    if database.all_ended_before(writer):
        yield from _put_in(last)
        with transaction.atomic():
            mark = _mark()
            mark.through = max(mark.through, last)
            mark.save(update_fields=["through"])
    database.flush_pending()
    yield from _clear()


def forget(ids: Iterable[int]) -> None:
    """Take bodies out that are erased, in the caller's transaction."""
    if gone := list(ids):
        if not _database().is_there():
            return
        mark = _mark()
        _database().forget(gone)
        mark.forgotten += len(gone)
        mark.save(update_fields=["forgotten"])


def _put_in(last: int) -> Iterator[int]:
    """Put in all up to an id that are not: read and folded without a lock, written in steps."""
    at = reading.through()
    while at < last:
        rows = Body.objects.filter(pk__gt=at, pk__lte=last).order_by("pk")
        ids = list(rows.values_list("pk", flat=True)[:AT_ONCE])
        if not ids:
            return
        missing = set(ids) - _database().held(at, ids[-1])
        before, at = at, ids[-1]
        texts, size = [], 0
        found = Body.objects.filter(pk__in=missing).order_by("pk")
        for id_, content in found.values_list("pk", "content").iterator(chunk_size=50):
            text = fold(whole_text(decode_parts(bytes(content))))
            texts.append((id_, stored(text) + _END))
            size += len(content)
            if size >= _BYTES_AT_ONCE:
                at = id_
                break
        yield from _write(texts, before, at)


def _write(texts: Sequence[tuple[int, str]], above: int, last: int) -> Iterator[int]:
    """Put texts in, of bodies between two ids; what was erased meanwhile stays out."""
    wanted: set[int] = set()
    put_in: list[int] = []

    def begin() -> None:
        # The mark's row lock lets only one process put texts in at a time.
        _mark()
        wanted.clear()
        wanted.update(reading.bodies(above, last) - _database().held(above, last))

    def add(pieces: Sequence[Piece]) -> None:
        _database().add([one for one in pieces if one.body in wanted])
        put_in.extend(one.body for one in pieces if not one.number)

    steps = (partial(add, pieces) for pieces in _database().cut(texts))
    for _ in in_short_transactions(steps, begin=begin):
        yield len(put_in)
        put_in.clear()


def _clear() -> Iterator[int]:
    """Have what was taken out leave the file, in small transactions."""
    mark = SearchMark.objects.first()
    if mark is None or not mark.forgotten:
        return
    with transaction.atomic():
        _mark()
        _database().begin_to_clear()
    more = True
    while more:
        with transaction.atomic():
            locked = _mark()
            more = _database().clear()
            if not more:
                locked.forgotten = max(0, locked.forgotten - mark.forgotten)
                locked.save(update_fields=["forgotten"])
        yield 0


def _last() -> int:
    return Body.objects.order_by("-pk").values_list("pk", flat=True).first() or 0


def _mark() -> SearchMark:
    """The mark, locked until the transaction ends; without one the index begins anew."""
    _, is_new = SearchMark.objects.get_or_create(pk=1)
    if is_new:
        _database().empty()
    return SearchMark.objects.select_for_update().get(pk=1)


def _database() -> ModuleType:
    return postgresql if connection.vendor == "postgresql" else sqlite
