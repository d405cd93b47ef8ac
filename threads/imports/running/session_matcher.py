"""Finds the place of a transcript: the session it continues, a branch of it, or a new session."""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Conflict, DomainError
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
from threads.store.alignment import Alignment, Diverged
from threads.store.origins import REPEATED

from . import growth
from .appending import Appender, set_missing_title, shows_other_course
from .candidates import Candidates
from .comparison_cache import ComparisonCache
from .ingest import Ingest, Step
from .known_files import readings_of, report_again
from .outcome import FileOutcome


@dataclass(slots=True, kw_only=True)
class SessionMatcher:
    """Places the transcripts of one import in sessions."""

    caller: Caller
    project: Project
    upload: Upload
    stage: uuid.UUID | None
    step: Step
    row: Import = field(init=False)
    """The row of the import; set before anything is recorded."""
    candidates: Candidates = field(init=False)
    """The sessions that its transcripts may belong to."""
    cache: ComparisonCache = field(default_factory=ComparisonCache)
    """What was read of sessions so far."""
    sources: list[Source] = field(default_factory=list)
    """The rows of the files at hand, with their outcomes so far."""
    created: bool = False
    recorded: int = 0
    """Messages that were added."""

    def __post_init__(self) -> None:
        self.candidates = Candidates(self.caller, self.project, self.upload, self.stage)

    def is_known(self, files: Sequence[KeptFile]) -> bool:
        """Whether exactly these files were imported before; if so, their rows are added."""
        known = [(one, self._readings_of(one)) for one in files]
        asked = self.upload.session_id
        if not all(read and asked in (None, *read) for _, read in known):
            return False
        self.sources += [
            self.source(
                one,
                session_id=earlier.session_id,
                format=earlier.format,
                outcome=FileOutcome.KNOWN,
                report=report_again(earlier, self.row),
            )
            for one, read in known
            for earlier in read.values()
        ]
        return True

    def _readings_of(self, one: KeptFile) -> dict[uuid.UUID | None, Source]:
        return readings_of(one, self.project, self.candidates)

    def read_ahead(self, transcript: Transcript, one: KeptFile) -> None:
        """Read what `place` compares a transcript with, while no transaction is open."""
        if self._readings_of(one):
            return
        transcript = _clean_names(transcript)
        try:
            for session, goes_back in self.candidates.earlier_versions(transcript):
                self.cache.events_of(session, one.sha256)
                if goes_back:
                    if self._read_course(session, transcript, one):
                        return
                    continue
                alignment = self.cache.alignment_of(session)
                if _count_new(transcript, alignment) is not None:
                    if shows_other_course(session, alignment):
                        self._read_course(session, transcript, one)
                    return
            for session in self.candidates.holders_of_branch(transcript):
                if _count_new(transcript, self.cache.alignment_of(session)) == 0:
                    return
                self.cache.course_holding(session, transcript, one)
        except DomainError:
            return  # reported when the file is recorded

    def _read_course(
        self, session: Session, transcript: Transcript, one: KeptFile
    ) -> bool:
        """Whether a transcript follows a course of a session; if so, read the branches on it."""
        course = self.cache.course_of(session, transcript, one)
        if course is not None:
            self.cache.branches_on(session, course.kept)
        return course is not None

    def place(self, transcript: Transcript, one: KeptFile) -> None:
        """Add a transcript to the session it continues, or create one from it."""
        transcript = _clean_names(transcript)
        if self.upload.hold_back:
            held = growth.HeldBackItems(transcript.items)
            transcript = replace(transcript, items=held)
        diverged: tuple[Session, int] | None = None
        for session, goes_back in self.candidates.earlier_versions(transcript):
            try:
                self._append(session, transcript, one, goes_back=goes_back)
            except Diverged as divergence:
                # It becomes a branch of the session with which it agrees longest.
                if diverged is None or divergence.index > diverged[1]:
                    diverged = (session, divergence.index)
            else:
                return
        holders = self.candidates.holders_of_branch(transcript)
        if not any(self._holds(other, transcript, one) for other in holders):
            self._create(transcript, one, diverged)

    def _holds(self, session: Session, transcript: Transcript, one: KeptFile) -> bool:
        """Whether a session holds all of a branch; if so, note that the file is known."""
        for alignment in self._alignments(session, transcript, one):
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

    def _alignments(
        self, session: Session, transcript: Transcript, one: KeptFile
    ) -> Iterator[Alignment]:
        """Alignments to try: with all originals, then with those of one course."""
        yield self.cache.alignment_of(session)
        if course := self.cache.course_holding(session, transcript, one):
            yield self.cache.alignment_of(session, course)

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
            # The id is unique in a project, and belongs to the session that it branched from.
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
                f"From message {diverged[1]} on, this differs from "
                f'"{diverged[0].title}"; it became a session of its own.'
            )
            ingest.tally.warn([Warning("diverged", words)])
        set_missing_title(session, transcript)
        self.created = True
        found = hooks.run_completer(self.caller, session, transcript.format, one.sha256)
        ingest.tally.warn([Warning("left_out", words) for words in found.warnings])
        self._note(ingest, FileOutcome.BRANCHED if diverged else FileOutcome.CREATED)
        if found.brought:
            ingest.source.report["brought"] = dict(found.brought)

    def _open(self, new: services.NewSession) -> Session:
        """Create a session. Its id may be taken by one that another import has staged."""
        try:
            return services.open_session(
                self.caller, self.project, new, staged_by=self.stage
            )
        except Conflict as taken:
            raise Conflict(
                "Another import of this conversation is still running; "
                "import it again once that one has ended.",
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
        """Append what is new to a session. Raises Diverged, with nothing added."""
        appending = Appender(
            caller=self.caller,
            session=session,
            transcript=transcript,
            file=one,
            source=lambda: self.source(one, session=session, format=transcript.format),
            cache=self.cache,
            step=self.step,
        )
        appended = appending.run(goes_back=goes_back)
        self._note(appended.ingest, appended.outcome)
        if appended.repeated:
            appended.ingest.source.report[REPEATED] = {
                str(branch.pk): branch.message_count for branch in appended.repeated
            }

    def _note(self, ingest: Ingest, outcome: FileOutcome) -> None:
        source = ingest.source
        source.outcome = outcome
        source.report = {"added": ingest.recorded, **ingest.tally.report()}
        items = ingest.transcript.items
        if isinstance(items, growth.HeldBackItems) and items.holds:
            source.report[growth.HELD] = True
        self.recorded += ingest.recorded
        self.sources.append(source)

    def source(self, one: KeptFile, **facts: Any) -> Source:
        """The unsaved row of a file, or of one conversation in it."""
        return Source(
            project=self.project,
            brought_by=self.row,
            sha256=one.sha256,
            size=one.size,
            name=one.name[-1024:],
            **facts,
        )


def _clean_names(transcript: Transcript) -> Transcript:
    """The transcript with ids and names shortened and cleaned to fit their columns."""
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


def _count_new(transcript: Transcript, alignment: Alignment) -> int | None:
    """How many messages a transcript has beyond a session; None if it diverges."""
    said = (one for one in transcript.items if isinstance(one, GivenMessage))
    try:
        return sum(alignment.place(one) is not None for one in said)
    except Diverged:
        return None
