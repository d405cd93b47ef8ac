"""Adds new messages of a transcript to a session, and follows it if the conversation went back."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Conflict
from contextstudio.accounts.domain.rights import Right
from threads.domain.transcript import Transcript
from threads.imports import hooks
from threads.imports.archives import KeptFile
from threads.models import Session, Source
from threads.sessions import services
from threads.store import events
from threads.store.alignment import Alignment, Diverged
from threads.store.selectors import get_session

from .comparison_cache import ComparisonCache
from .ingest import Ingest, Step
from .outcome import FileOutcome
from .rewinds import NOT_REWOUND, Course, Rewind, follow_course, repetition_warnings

_TRIES = 3


class AppendResult(NamedTuple):
    """The result of continuing a session with a transcript."""

    ingest: Ingest
    outcome: FileOutcome
    repeated: list[Session]
    """Branches of the session whose messages it holds too, now that the conversation came back."""


@dataclass(slots=True, kw_only=True)
class Appender:
    """Adds a transcript to an existing session."""

    caller: Caller
    session: Session
    transcript: Transcript
    file: KeptFile
    source: Callable[[], Source]
    """Makes the row of the file, not yet saved: a new one for each try."""
    cache: ComparisonCache
    step: Step

    def run(self, *, goes_back: bool) -> AppendResult:
        """Add what is new: beyond all originals or, going back, beyond those of its course.

        Raises Diverged, with nothing added.
        """
        ingest, alignment, rewind = self._add(goes_back=goes_back)
        if not goes_back and shows_other_course(self.session, alignment):
            self.session.refresh_from_db()
            rewind = follow_course(self.session, self._course())
        if ingest.session is not None:
            set_missing_title(ingest.session, self.transcript)
            services.forget_overview(ingest.session)
            events.announce(ingest.session)
        if not rewind.warnings:
            adds = ingest.recorded or ingest.added
            return AppendResult(
                ingest, FileOutcome.APPENDED if adds else FileOutcome.KNOWN, []
            )
        repeated = self._repeated(rewind, alignment)
        ingest.tally.warn(
            [*rewind.warnings, *repetition_warnings(self.session, repeated)]
        )
        return AppendResult(ingest, FileOutcome.REWOUND, repeated)

    def _add(self, *, goes_back: bool) -> tuple[Ingest, Alignment, Rewind]:
        """Compare without a lock; if somebody appends meanwhile, try again."""
        recorded = 0
        for _try in range(_TRIES):
            rewind = NOT_REWOUND
            if goes_back:
                rewind = follow_course(self.session, self._course())
                if rewind.course is None:
                    raise Diverged(0)
            alignment = self.cache.alignment_of(self.session, rewind.course)
            ingest = self._new_ingest(alignment)
            try:
                ingest.run()
            except _SessionGrew:
                recorded += ingest.recorded
                self.session.refresh_from_db()
                continue
            ingest.recorded += recorded
            return ingest, alignment, rewind
        raise Conflict("Others keep writing to this session; import it again later.")

    def _course(self) -> Course | None:
        return self.cache.course_of(self.session, self.transcript, self.file)

    def _new_ingest(self, alignment: Alignment) -> Ingest:
        """An ingest of the transcript into the session as it is now."""
        ingest = Ingest(
            transcript=self.transcript,
            source=self.source(),
            open_session=lambda: self._lock(alignment, ingest),
            encoding=self.session.encoding,
            alignment=alignment,
            past=self.cache.events_of(self.session, self.file.sha256),
            step=self.step,
        )
        return ingest

    def _lock(self, alignment: Alignment, ingest: Ingest) -> Session:
        """Lock the session's row. Raises _SessionGrew if somebody appended since the comparison."""
        # A staged session belongs to this import, so nobody else writes to it.
        if self.session.staged_by is not None:
            return self.session
        locked = get_session(self.caller, self.session.pk, Right.EDIT, lock=True)
        if locked.message_count != alignment.held + ingest.recorded:
            raise _SessionGrew
        return locked

    def _repeated(self, rewind: Rewind, alignment: Alignment) -> list[Session]:
        """The branches that the session holds in full, now that it shows another course."""
        self.session.refresh_from_db()
        kept = rewind.course.kept if rewind.course else ()
        new = range(alignment.held, self.session.message_count)
        along = [*(index for index in kept if index < alignment.held), *new]
        return self.cache.branches_on(self.session, along)


def shows_other_course(session: Session, alignment: Alignment) -> bool:
    """Whether the thread shows another course than the one just followed."""
    return not alignment.is_beyond or hooks.has_left_originals(session)


def set_missing_title(session: Session, transcript: Transcript) -> None:
    """Set the transcript's title on a session that has none."""
    if session.title == services.UNTITLED and transcript.title:
        session.title = services.clean_title(transcript.title)
        session.save(update_fields=["title"])


class _SessionGrew(Exception):
    """The session grew while a transcript was compared with it."""
