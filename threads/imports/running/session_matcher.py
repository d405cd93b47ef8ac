"""Where a transcript goes: into the session it continues, beside it as a branch, or a new one."""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Conflict, DomainError
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.domain.storable import storable
from contextstudio.accounts.models import Project
from threads import tokens
from threads.domain.message import Message as GivenMessage
from threads.domain.transcript import Parent, Relation, Transcript, Warning
from threads.imports import hooks
from threads.imports.archives import KeptFile
from threads.imports.upload import Upload
from threads.models import Import, Session, Source
from threads.sessions import services
from threads.store import events
from threads.store.alignment import Alignment, Diverged
from threads.store.selectors import get_session

from . import growth
from .ahead import Ahead
from .candidates import Candidates
from .ingest import UNFINISHED, Ingest, Step
from .outcome import EARLIER, FileOutcome
from .rewinds import NOT_REWOUND, followed

_TRIES = 3


@dataclass(slots=True, kw_only=True)
class SessionMatcher:
    """Puts the transcripts of one import in their places."""

    caller: Caller
    project: Project
    upload: Upload
    stage: uuid.UUID | None
    step: Step
    row: Import = field(init=False)
    """The import's own: set before anything is recorded."""
    candidates: Candidates = field(init=False)
    """Where its transcripts may belong."""
    ahead: Ahead = field(default_factory=Ahead)
    """What was read of sessions so far."""
    sources: list[Source] = field(default_factory=list)
    """What the files at hand have come to so far."""
    created: bool = False
    recorded: int = 0
    """Messages that were added."""

    def __post_init__(self) -> None:
        self.candidates = Candidates(self.caller, self.project, self.upload, self.stage)

    def is_known(self, files: Sequence[KeptFile]) -> bool:
        """Whether exactly these files are here already; then it is noted of each."""
        known = [(one, self._held(one)) for one in files]
        asked = self.upload.session_id
        if not all(held and asked in (None, *held) for _, held in known):
            return False
        for one, held in known:
            self.sources += [self._known_as(one, earlier) for earlier in held.values()]
        return True

    def _held(self, one: KeptFile) -> dict[uuid.UUID | None, Source]:
        """What was read from these very bytes, by the session that it went to."""
        if not self.candidates.is_read(one):
            return {}
        rows = Source.objects.filter(project=self.project, sha256=one.sha256)
        rows = rows.filter(session__in=self.candidates.sessions()).exclude(outcome="")
        rows = rows.exclude(report__has_key=growth.HELD)
        rows = rows.exclude(report__has_key=UNFINISHED)
        held: dict[uuid.UUID | None, Source] = {}
        for row in rows.order_by("id"):
            first = held.setdefault(row.session_id, row)
            if not first.report.get("messages"):  # it doesn't say what was read
                held[row.session_id] = row
        return held

    def _known_as(self, one: KeptFile, earlier: Source) -> Source:
        """A file that was read before: what was read of it then, and that nothing was added."""
        report = {**earlier.report, "added": 0}
        report.pop("brought", None)
        if earlier.brought_by_id not in (None, self.row.pk):
            report.setdefault(EARLIER, str(earlier.brought_by_id))
        return self.source(
            one,
            session_id=earlier.session_id,
            format=earlier.format,
            outcome=FileOutcome.KNOWN,
            report=report,
        )

    def read_ahead(self, transcript: Transcript, one: KeptFile) -> None:
        """Read what `place` will compare a transcript with, while no transaction is open."""
        if self._held(one):
            return
        transcript = _named(transcript)
        try:
            for session, goes_back in self.candidates.earlier_versions(transcript):
                self.ahead.events_of(session, one.sha256)
                if goes_back:
                    if self.ahead.course_of(session, transcript, one) is not None:
                        return
                    continue
                alignment = self.ahead.alignment_of(session)
                if _new_in(transcript, alignment) is not None:
                    if _is_elsewhere(session, alignment):
                        self.ahead.course_of(session, transcript, one)
                    return
            for session in self.candidates.holders_of_branch(transcript):
                if _new_in(transcript, self.ahead.alignment_of(session)) == 0:
                    return
                self.ahead.course_holding(session, transcript, one)
        except DomainError:
            return  # it is said once the file is recorded

    def place(self, transcript: Transcript, one: KeptFile) -> None:
        """Add a transcript to the session it continues, or make one of it."""
        transcript = _named(transcript)
        if self.upload.hold_back:
            held = growth.HeldBack(transcript.items)
            transcript = replace(transcript, items=held)
        diverged: tuple[Session, int] | None = None
        for session, goes_back in self.candidates.earlier_versions(transcript):
            try:
                self._append(session, transcript, one, goes_back=goes_back)
            except Diverged as divergence:
                # It is a branch of the session with which it agrees longest.
                if diverged is None or divergence.index > diverged[1]:
                    diverged = (session, divergence.index)
            else:
                return
        holders = self.candidates.holders_of_branch(transcript)
        if not any(self._holds(other, transcript, one) for other in holders):
            self._create(transcript, one, diverged)

    def _holds(self, session: Session, transcript: Transcript, one: KeptFile) -> bool:
        """Whether a session has all of a branch; then it is noted, and nothing is added."""
        for alignment in self._ways_through(session, transcript, one):
            ingest = Ingest(
                transcript=transcript,
                source=self.source(one, session=session, format=transcript.format),
                open_session=lambda: session,
                alignment=alignment,
            )
            try:
                adds_nothing = ingest.adds_nothing(alignment)
            except Diverged:
                continue
            if adds_nothing:
                self._note(ingest, FileOutcome.KNOWN)
            return adds_nothing
        return False

    def _ways_through(
        self, session: Session, transcript: Transcript, one: KeptFile
    ) -> Iterator[Alignment]:
        """The originals that a transcript may go along: all, or those of one course."""
        yield self.ahead.alignment_of(session)
        if course := self.ahead.course_holding(session, transcript, one):
            yield self.ahead.alignment_of(session, course)

    def _create(
        self,
        transcript: Transcript,
        one: KeptFile,
        diverged: tuple[Session, int] | None,
    ) -> None:
        parent, external_id = transcript.parent, transcript.external_id
        if diverged is not None:
            parent = Parent(
                external_id=external_id or "", relation=Relation.BRANCH, at=diverged[1]
            )
            # The id belongs to the session that it branched from, and is unique in a project.
            external_id = None
        new = services.NewSession(
            title=transcript.title,
            external_id=external_id,
            parsing_strategy=transcript.strategy,
            model=transcript.model,
            format=transcript.format,
            parent=parent,
        )
        ingest = Ingest(
            transcript=transcript,
            source=self.source(one, format=transcript.format),
            open_session=partial(self._open, new),
            encoding=tokens.encoding_for(new.model),
            step=self.step,
        )
        ingest.run()
        session = ingest.session
        if session is None or not session.message_count:
            if session is not None:
                session.delete()
            return
        if diverged is not None:
            session.parent = diverged[0]
            session.save(update_fields=["parent"])
            words = (
                f"From message {diverged[1]} on this is another course of "
                f"“{diverged[0].title}”; it became a session of its own."
            )
            ingest.tally.warn([Warning("diverged", words)])
        self._entitle(session, transcript)
        self.created = True
        found = hooks.complete(self.caller, session, transcript.format, one.sha256)
        ingest.tally.warn([Warning("left_out", words) for words in found.warnings])
        self._note(ingest, FileOutcome.BRANCHED if diverged else FileOutcome.CREATED)
        if found.brought:
            ingest.source.report["brought"] = dict(found.brought)

    def _open(self, new: services.NewSession) -> Session:
        """A new session. What else has its id is staged, else it would have been continued."""
        try:
            return services.open_session(
                self.caller, self.project, new, staged_by=self.stage
            )
        except Conflict as taken:
            raise Conflict(
                "Another import is still bringing this conversation in; "
                "import it again once that is done.",
                at=["file"],
            ) from taken

    def _append(
        self,
        session: Session,
        transcript: Transcript,
        one: KeptFile,
        *,
        goes_back: bool,
    ) -> None:
        """Add what is new. Raises Diverged, with nothing added."""
        # The comparison holds no lock; if somebody appends meanwhile, it is done again.
        recorded = 0
        for _try in range(_TRIES):
            rewind = NOT_REWOUND
            if goes_back:
                rewind = followed(
                    session, self.ahead.course_of(session, transcript, one)
                )
                if rewind.course is None:
                    raise Diverged(0)
            alignment = self.ahead.alignment_of(session, rewind.course)
            ingest = self._appending(session, transcript, one, alignment)
            try:
                ingest.run()
            except _SessionGrew:
                recorded += ingest.recorded
                session.refresh_from_db()
                continue
            break
        else:
            raise Conflict(
                "Others write to this session all the time; import it again later."
            )
        if not goes_back and _is_elsewhere(session, alignment):
            session.refresh_from_db()
            rewind = followed(session, self.ahead.course_of(session, transcript, one))
        ingest.recorded += recorded
        if ingest.session is not None:
            self._entitle(ingest.session, transcript)
            services.forget_overview(ingest.session)
            events.announce(ingest.session)
        ingest.tally.warn(rewind.warnings)
        adds = ingest.recorded or ingest.added
        outcome = FileOutcome.APPENDED if adds else FileOutcome.KNOWN
        self._note(ingest, FileOutcome.REWOUND if rewind.warnings else outcome)

    def _appending(
        self,
        session: Session,
        transcript: Transcript,
        one: KeptFile,
        alignment: Alignment,
    ) -> Ingest:
        """A transcript beside the session as it is now."""
        ingest = Ingest(
            transcript=transcript,
            source=self.source(one, session=session, format=transcript.format),
            open_session=lambda: self._lock(session, alignment, ingest),
            encoding=session.encoding,
            alignment=alignment,
            past=self.ahead.events_of(session, one.sha256),
            step=self.step,
        )
        return ingest

    def _lock(self, session: Session, alignment: Alignment, ingest: Ingest) -> Session:
        """The session's row, if it is what the transcript was laid beside and what came of it."""
        # A staged session is this import's own, so nobody else writes to it.
        if session.staged_by is not None:
            return session
        locked = get_session(self.caller, session.pk, Right.EDIT, lock=True)
        if locked.message_count != alignment.held + ingest.recorded:
            raise _SessionGrew
        return locked

    def _entitle(self, session: Session, transcript: Transcript) -> None:
        if session.title == services.UNTITLED and transcript.title:
            session.title = services.clean_title(transcript.title)
            session.save(update_fields=["title"])

    def _note(self, ingest: Ingest, outcome: FileOutcome) -> None:
        source = ingest.source
        source.outcome = outcome
        source.report = {"added": ingest.recorded, **ingest.tally.report()}
        items = ingest.transcript.items
        if isinstance(items, growth.HeldBack) and items.holds:
            source.report[growth.HELD] = True
        self.recorded += ingest.recorded
        self.sources.append(source)

    def source(self, one: KeptFile, **facts: Any) -> Source:
        """The row of a file, or of one conversation in it: not yet saved."""
        return Source(
            project=self.project,
            brought_by=self.row,
            sha256=one.sha256,
            size=one.size,
            name=one.name[-1024:],
            **facts,
        )


def _named(transcript: Transcript) -> Transcript:
    """The transcript with its ids and names as columns take them."""
    parent = transcript.parent
    if parent is not None:
        parent = replace(
            parent,
            external_id=storable(parent.external_id)[:255],
            call_id=storable(parent.call_id or "")[:128] or None,
        )
    return replace(
        transcript,
        external_id=storable(transcript.external_id or "")[:255] or None,
        model=storable(transcript.model)[:128],
        parent=parent,
    )


def _is_elsewhere(session: Session, alignment: Alignment) -> bool:
    """Whether a thread shows another course than all that was gone along of its session."""
    return not alignment.is_beyond or hooks.went_back(session)


def _new_in(transcript: Transcript, alignment: Alignment) -> int | None:
    """How many messages a transcript has beyond a session; None where it is another course."""
    said = (one for one in transcript.items if isinstance(one, GivenMessage))
    try:
        return sum(alignment.place(one) is not None for one in said)
    except Diverged:
        return None


class _SessionGrew(Exception):
    """The session grew while a transcript was laid beside it."""
