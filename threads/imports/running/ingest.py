"""Writes one transcript into one session: its messages, events and compactions.

Items are streamed and written to the database in batches, so memory does not grow with the file.
"""

import hashlib
import logging
import os
import pickle
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import chain
from operator import itemgetter
from tempfile import TemporaryFile
from typing import IO, TypeVar

from django.db import DatabaseError
from django.db.models import Count

from contextstudio.accounts.domain.errors import DomainError, Invalid
from contextstudio.accounts.jobs.runner import Interrupted
from contextstudio.database.steps import Pace, in_short_transactions
from threads import tokens
from threads.domain.batch import COMPACTION, Batch, BatchBuilder, Events, batches
from threads.domain.message import Message as GivenMessage
from threads.domain.tally import Tally
from threads.domain.transcript import Compaction, Transcript, Warning
from threads.domain.transcript import Event as GivenEvent
from threads.imports import hooks
from threads.imports.hooks import CompactedMessages
from threads.models import Event, Session, Source
from threads.reading import ReaderFault, RemoteItems
from threads.sessions.services import clean_title
from threads.store import blobs, rows
from threads.store.alignment import Alignment
from threads.store.recording import ReadyBatch, prepare, record_batch

logger = logging.getLogger(__name__)

MAX_BATCHES_PER_COMMIT = 4
"""The most batches that are committed together."""
ROWS_PER_STEP = 600
"""The most messages or events written between two looks at the clock: 5 ms of short ones. The more
are written at once, the fewer index pages are changed again and again."""
MIN_PER_STEP = 25
"""The same on a busy machine."""
UNFINISHED = "unfinished"
"""Marks the report of a file whose import was interrupted."""
_NO_EVENTS = Events((), (), (), None)
Item = GivenMessage | GivenEvent | Compaction
_Read = TypeVar("_Read")
Step = Callable[[int], None]
"""Called with the number of messages recorded; raises to stop the import."""


@dataclass(slots=True)
class RecordedEvents:
    """Which events of a transcript a session already has from a shorter version of it.

    If the new file begins with the exact bytes of the old one, these are the events that lie in
    those bytes; else the first of each type, as many as there are. After an interrupted attempt,
    they are those that it wrote.
    """

    prefix: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    begun: set[tuple[str, str]] = field(default_factory=set)
    """Types and records of the events that an interrupted attempt wrote."""
    compactions: set[str] = field(default_factory=set)
    """Records of the compactions within those bytes; others may be of courses never followed."""

    @classmethod
    def of(cls, session: Session, sha256: str) -> "RecordedEvents":
        """What a session already has of a file that is read again."""
        sources = session.sources.exclude(outcome="").order_by("-id")
        begun: set[tuple[str, str]] = set()
        events = Event.objects.filter(session=session)
        for left in sources.filter(report__has_key=UNFINISHED):
            if begins_with(sha256, (left.sha256, left.size)):
                written = events.filter(source=left)
                begun.update(written.values_list("type", "record"))
                events = events.exclude(source=left)
        old = sources.exclude(report__has_key=UNFINISHED).first()
        is_longer = old and begins_with(sha256, (old.sha256, old.size))
        prefix = old.size if old and is_longer else 0
        compactions = set[str]()
        if prefix:
            known = events.filter(type=COMPACTION)
            compactions.update(known.values_list("record", flat=True))
            events = events.filter(record__contains="#")
        counted = events.values_list("type").annotate(Count("pk")).order_by()
        return cls(prefix, Counter(dict(counted)), begun, compactions)

    def has(self, type_: str, record: str) -> bool:
        if (type_, record) in self.begun:
            return True
        if self.prefix and record.startswith("bytes:"):
            if type_ == COMPACTION:
                return record in self.compactions
            return int(record.rpartition("-")[2]) <= self.prefix
        if self.counts[type_] <= 0:
            return False
        self.counts[type_] -= 1
        return True


@dataclass(slots=True, kw_only=True)
class Ingest:
    """Writes a transcript into a session.

    `open_session` is called once there is something to record. If the session exists already,
    `alignment` compares the transcript with it.
    """

    transcript: Transcript
    source: Source
    """Not yet saved, and without a session."""
    open_session: Callable[[], Session]
    encoding: str = tokens.DEFAULT
    """The encoding in which tokens are counted: the session's."""
    alignment: Alignment | None = None
    past: RecordedEvents = field(default_factory=RecordedEvents)
    step: Step = lambda _: None
    tally: Tally = field(default_factory=Tally)
    session: Session | None = None
    recorded: int = 0
    """Messages that were added."""
    added: int = 0
    """Events that were added."""
    _ordinal: int = 0
    _filling: BatchBuilder = field(default_factory=BatchBuilder)
    """Items that the alignment found to be new, waiting to be recorded."""
    _group: int | None = None
    """The group of the last recorded message."""
    _compactions: list[Compaction] = field(default_factory=list)
    _pace: Pace = field(default_factory=lambda: Pace(ROWS_PER_STEP, MIN_PER_STEP))

    def run(self) -> None:
        """Read to the end. Raises Diverged if the alignment finds another course."""
        items = self.transcript.items
        if self.alignment is None:
            apart = items if isinstance(items, RemoteItems) else None
            read = guard_parser(apart.batches() if apart else batches(items))
            self._record_all(read, apart.has_more if apart else lambda: False)
            self._compact()
            self.tally.warn(self.transcript.warnings)
            return
        # Compared and read to the end without a transaction, which would hold SQLite's write lock
        # all that time; and a file that can't be read to its end adds nothing.
        with TemporaryFile() as kept:
            for item in guard_parser(items):
                self._take_item(item, self.alignment)
                if self._filling.is_full:
                    self._keep(kept)
            self._keep(kept)
            kept.seek(0)
            self._record_kept(kept)
        self.tally.warn(self.transcript.warnings)

    def adds_nothing(self, alignment: Alignment) -> bool:
        """Whether the session holds every message of the transcript. Raises Diverged."""
        for item in guard_parser(self.transcript.items):
            if isinstance(item, GivenMessage) and self._place(item, alignment):
                return False
        return True

    def _take_item(self, item: Item, alignment: Alignment) -> None:
        match item:
            case GivenMessage():
                new = self._place(item, alignment)
                if new is not None:
                    self._filling.add(new)
            case GivenEvent():
                self.tally.count_events([item.type])
                self._take_event(item, alignment)
            case Compaction():
                self.tally.records[COMPACTION] += 1
                event = GivenEvent(COMPACTION, item.record, item.created_at)
                if self._take_event(event, alignment):
                    self._filling.compactions.append(item)

    def _place(
        self, message: GivenMessage, alignment: Alignment
    ) -> GivenMessage | None:
        """The part of a message that is to be recorded; None if the session has it already."""
        self._ordinal += 1
        self.tally.count([message])
        return alignment.place(message)

    def _take_event(self, event: GivenEvent, alignment: Alignment) -> bool:
        """Keep an event unless the session has it; returns whether it was new."""
        if self.past.has(_type(event.type), event.record):
            return False
        before = alignment.first_index(self._ordinal)
        self._filling.note(before, event.type, event.record, event.created_at)
        return True

    def _keep(self, kept: IO[bytes]) -> None:
        """Write the new items found so far, which are counted already, to a temporary file."""
        if self._filling.given or self._filling.events:
            batch = self._filling.build()._replace(tally=Tally())
            pickle.dump(batch, kept, pickle.HIGHEST_PROTOCOL)
            self._filling = BatchBuilder()

    def _record_kept(self, kept: IO[bytes]) -> None:
        """Record the items from the temporary file, each compaction together with its event.

        By its event, a later attempt recognises a compaction. Others may append to the session
        between two transactions, so `open_session` is called in each.
        """
        end = os.fstat(kept.fileno()).st_size
        while kept.tell() < end:
            batch: Batch = pickle.load(kept)  # noqa: S301  # written above
            events = batch.events
            marks = [
                one == COMPACTION and bool(batch.compactions) for one in events.types
            ]
            with_them = [place for place, is_one in enumerate(marks) if is_one]
            others = [place for place, is_one in enumerate(marks) if not is_one]
            alone = batch._replace(events=events.at(others))
            self._commit([self._prepare(alone)])
            self._compact(events.at(with_them))
            self.step(self.recorded)

    def _record_all(self, read: Iterator[Batch], has_more: Callable[[], bool]) -> None:
        """Record batches, committing each together with a few more that are already available.

        Every commit writes the same index pages again. All preparation is done without a lock.
        """
        while (batch := next(read, None)) is not None:
            ready = [self._prepare(batch)]
            while len(ready) < MAX_BATCHES_PER_COMMIT and has_more():
                if (batch := next(read, None)) is None:
                    break
                ready.append(self._prepare(batch))
            self._commit(ready)
            self.step(self.recorded)

    def _prepare(self, batch: Batch) -> ReadyBatch:
        return prepare(self.source.project_id, self.encoding, batch)

    def _commit(self, ready: Iterable[ReadyBatch]) -> None:
        """Record batches in small steps, in their own transactions unless one is open."""
        saved = self.recorded

        def begin() -> None:
            if self.alignment is not None:  # others may have appended to the session
                self.session = None

        def end() -> None:
            nonlocal saved
            if self.session is not None and self.recorded > saved:
                rows.update_counters(self.session)
                saved = self.recorded

        steps = chain.from_iterable(map(self._steps, ready))
        # No savepoint unless needed: SQLite would keep a copy of every page.
        savepoint = self.alignment is not None
        for _ in in_short_transactions(
            steps, begin=begin, end=end, savepoint=savepoint, pace=self._pace
        ):
            pass

    def _steps(self, ready: ReadyBatch) -> Iterator[Callable[[], None]]:
        """The steps that record a batch, to be run in the caller's transactions."""
        batch = ready.batch
        for stretch in self._stretches(len(batch.digests)):
            yield partial(self._record_messages, ready, stretch)
        for stretch in self._stretches(len(batch.events.types)):
            places = range(stretch.start, stretch.stop)
            yield partial(self._record_events, batch.events.at(places))
        self.tally.join(batch.tally)
        self._compactions += batch.compactions

    def _stretches(self, count: int) -> Iterator[slice]:
        """Slices that cover `count` rows, each as long as a step at the current pace."""
        start = 0
        while start < count:
            stop = min(count, start + self._pace.size)
            yield slice(start, stop)
            start = stop

    def _record_messages(self, ready: ReadyBatch, stretch: slice) -> None:
        self._group = record_batch(
            self._session(),
            ready,
            source=self.source,
            group=self._group,
            stretch=stretch,
        )
        self.recorded += stretch.stop - stretch.start

    def _record_events(self, events: Events) -> None:
        types = list(map(_type, events.types))
        session = self._session()
        rows.insert_events(session, self.source.pk, events._replace(types=types))
        self.added += len(types)

    def _session(self) -> Session:
        """The session, created or locked once there is something to record."""
        if self.session is None:
            self.session = self.open_session()
            self.source.session = self.session
            self.source.save()
        return self.session

    def _compact(self, events: Events = _NO_EVENTS) -> None:
        """Record pending compactions, in one transaction with the events of their records."""
        session = self.alignment.session if self.alignment else self.session
        if not self._compactions or session is None:
            return
        given = []
        for one in self._compactions:
            places = one.replaces
            if self.alignment is not None:
                found = map(self.alignment.indexes, places)
                places = tuple(chain.from_iterable(found))
            given.append(CompactedMessages(places, one.messages))
        recorded = Session.objects.get(pk=session.pk)
        outcomes = hooks.record_compactions(
            recorded, given, partial(self._record_events, events)
        )
        self._compactions = []
        for outcome in outcomes:
            self.tally.compactions[outcome.word] += 1
            if outcome.sentence:
                self.tally.warn([Warning("compaction", outcome.sentence)])


def guard_parser(read: Iterable[_Read]) -> Iterator[_Read]:
    """Yield what a parser yields; turn its unexpected exceptions into refusals."""
    try:
        yield from read
    except (DomainError, Interrupted, DatabaseError, MemoryError):
        raise
    except Exception as fault:  # a file must not be able to stop the others
        raise unreadable(fault) from fault


def unreadable(fault: Exception) -> Invalid:
    """The refusal of a file that made its parser fail."""
    logger.error("A transcript could not be read.", exc_info=fault)
    kind = fault.kind if isinstance(fault, ReaderFault) else type(fault).__name__
    return Invalid(
        f"It could not be read: an unexpected {kind}; "
        "the server's log has the details.",
        code="unreadable",
    )


@lru_cache(maxsize=256)
def _type(word: str) -> str:
    """An event's type, shortened and cleaned to fit its column."""
    return clean_title(word)[:64]


def begins_with(sha256: str, *versions: tuple[str, int]) -> bool:
    """Whether a file begins with all these versions, each given by SHA-256 and size."""
    digest, at = hashlib.sha256(), 0
    with blobs.open_blob(sha256) as stream:
        for known, size in sorted(versions, key=itemgetter(1)):
            while at < size and (chunk := stream.read(min(size - at, 1 << 20))):
                digest.update(chunk)
                at += len(chunk)
            if at < size or digest.copy().hexdigest() != known:
                return False
    return True
