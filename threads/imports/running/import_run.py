"""Runs one import: each of its files in turn, then the report."""

import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from django.db import transaction

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import DomainError, Invalid
from contextstudio.accounts.domain.storable import storable
from contextstudio.accounts.models import Project
from threads import tokens
from threads.domain.transcript import Transcript
from threads.imports.accounting import ReadFile
from threads.imports.archives import KeptFile
from threads.imports.upload import UnpackedUpload, Upload, at_file, unpack
from threads.models import Import, Session, Source
from threads.sessions import erasing
from threads.store import blobs

from . import growth
from .comparison_cache import ComparisonCache
from .file_groups import FileGroup, FileGroups, ReadGroup
from .hash_locks import lock_hashes
from .ingest import UNFINISHED
from .outcome import (
    FileOutcome,
    Imported,
    Progress,
    begin_row,
    imports_staged_by,
    no_messages_refusal,
    problem_report,
    sessions_of,
    warnings_of,
    write_report,
)
from .session_matcher import SessionMatcher

SIDECARS = frozenset({"no_messages", "sidecar", "empty"})
"""Codes of refusals that identify a file that holds no message."""
REFUSED_AT_ONCE = 500
"""How many files without a message are written per transaction: an archive may hold thousands."""


def remove_unfinished(row: Import, stage: uuid.UUID) -> None:
    """Remove the staged sessions of files that an import began but did not finish."""
    begun = row.sources.filter(outcome="")
    left = Session.objects.filter(staged_by=stage, sources__in=begun)
    if left.exists():
        erasing.delete_contents(left)
        left.delete()


@dataclass(slots=True, kw_only=True)
class ImportRun:
    """One import: staged in many transactions, or recorded in one if it is small.

    Nothing is read while a transaction is open, since that would block all other writers.
    """

    caller: Caller
    project: Project
    upload: Upload
    stage: uuid.UUID | None = None
    """The id under which it is hidden until published; None to record it in one transaction."""
    into: Import | None = None
    """The ongoing import to add to, for a watched folder."""
    progress: Progress = field(default_factory=lambda: Progress(lambda *_: None))
    row: Import = field(init=False)
    matcher: SessionMatcher = field(init=False)
    files: dict[str, KeptFile] = field(default_factory=dict)
    secret: set[str] = field(default_factory=set)
    """Archives that are removed once their files are stored, because they hold keys."""
    read: list[ReadFile] = field(default_factory=list)
    """The files that `run_at_once` read conversations from."""
    refused: list[Source] = field(default_factory=list)
    """Rows of files that yielded nothing, not yet written."""
    is_damaged: bool = False
    """Whether the upload is a compressed file that could not be unpacked to its end."""

    def __post_init__(self) -> None:
        # Before any transaction: loading it within one would block all other writers.
        tokens.counter(tokens.DEFAULT)
        self.matcher = SessionMatcher(
            caller=self.caller,
            project=self.project,
            upload=self.upload,
            stage=self.stage,
            step=self.progress.messages,
        )

    def run(self) -> Imported:
        """Import every file. Raises Invalid if none of them holds a message."""
        brought = self._unpack()
        done = self._begin()
        taken = done & self.files.keys()
        for group in self._groups(brought, taken):
            if brought.is_folder:
                self.progress.files(len(taken), len(brought.members))
            self._import_group(group, alone=not brought.is_folder)
            taken |= {one.name for one in group.files}
        if brought.is_folder:
            self.progress.files(len(taken), len(brought.members))
        return self._finish(brought)

    def run_at_once(self) -> Callable[[], Imported]:
        """Read every file; the returned function records them all, in the caller's transaction.

        Both raise Invalid if no file holds a message.
        """
        brought = self._unpack()
        groups = [group.read_to_end() for group in self._groups(brought, set())]
        self.read += [
            ReadFile(file.sha256, transcript.format, file.name[-1024:])
            for group in groups
            for transcript, file in self._files_of(group.transcripts, group.files)
        ]
        for group in groups:
            self._read_ahead(group)

        def record() -> Imported:
            lock_hashes(one.sha256 for one in self.files.values())
            self._begin()
            for group in groups:
                self._record(group, alone=not brought.is_folder)
            return self._finish(brought)

        return record

    def _unpack(self) -> UnpackedUpload:
        brought = unpack(self.upload, tick=self.progress.unpacked)
        self.files = {one.name: one for one in brought.members}
        self.secret = brought.secret
        self.is_damaged = not brought.is_folder and bool(brought.problems)
        return brought

    def _begin(self) -> set[str]:
        """Create or resume the import's row; returns the files that are already done."""
        done = set[str]()
        known = self.into
        if known is None and self.stage is not None:
            known = next(iter(imports_staged_by(self.stage)), None)
        if known is not None:
            self.row = known
            done = self._done_before()
        else:
            upload = self.upload
            self.row = begin_row(
                self.caller,
                self.project,
                upload.name,
                sha256="" if upload.is_folder or self.secret else upload.sha256,
                size=upload.size,
                staged_by=self.stage,
            )
        self.matcher.row = self.row
        return done

    def _done_before(self) -> set[str]:
        """The files that an earlier attempt finished; what it left unfinished is removed.

        Files of a watched folder are never done: they grow.
        """
        self._remove_staged()
        # Messages added to existing sessions stay there; the files are read once more.
        begun = self.row.sources.filter(outcome="")
        begun.update(outcome=FileOutcome.APPENDED, report={UNFINISHED: True})
        if self.into is not None:
            return set()
        rows = list(self.row.sources.values_list("name", "report"))
        unfinished = {name for name, report in rows if UNFINISHED in report}
        return {name for name, _ in rows} - unfinished

    def _remove_staged(self) -> None:
        """Remove the sessions of files that were begun but not finished."""
        if self.stage is not None:
            remove_unfinished(self.row, self.stage)

    def _groups(self, brought: UnpackedUpload, done: set[str]) -> Iterator[FileGroup]:
        """The files that are not done, grouped by what belongs together."""
        # Files of a watched folder are compared message by message, in this process.
        may_read_apart = self.into is None
        groups = FileGroups(self.files, self.upload.format, may_read_apart)
        return groups.of(brought, done)

    def _import_group(self, group: FileGroup, *, alone: bool) -> None:
        """Read and record a group of files: small ones are read to the end, then recorded as one.

        Large ones are committed in many steps while they are read.
        """
        self.matcher.sources = []
        self.matcher.cache = ComparisonCache()
        if group.is_small:
            # Most files that are uploaded again are known, and needn't be read to find that out.
            if self.matcher.is_known(group.files):
                self._save_sources()
            else:
                read = group.read_to_end()
                self._read_ahead(read)
                self._record(read, alone=alone)
            return
        self._save_refused()
        try:
            if not self.matcher.is_known(group.files):
                with group.open() as transcripts:
                    self._place(transcripts, group.files)
        except DomainError as refusal:
            self._remove_staged()
            self.row.sources.filter(outcome="").delete()
            self._refuse(group.files, refusal, alone=alone)
        else:
            self._save_sources()

    def _read_ahead(self, group: ReadGroup) -> None:
        """Read what the sessions hold that these files may continue."""
        for transcript, file in self._files_of(group.transcripts, group.files):
            self.matcher.read_ahead(transcript, file)

    def _record(self, group: ReadGroup, *, alone: bool) -> None:
        """Record a group that was read, in one transaction: its conversations, or its refusal."""
        self.matcher.sources = []
        if group.refusal is not None:
            self._refuse(group.files, group.refusal, alone=alone)
            return
        try:
            with transaction.atomic():
                if not self.matcher.is_known(group.files):
                    self._place(group.transcripts, group.files)
                self._save_sources()
        except DomainError as refusal:
            self._refuse(group.files, refusal, alone=alone)

    def _refuse(
        self, files: Sequence[KeptFile], refusal: DomainError, *, alone: bool
    ) -> None:
        """Name refused files in the report. Raises the refusal if the upload is a single file."""
        self.matcher.sources = []
        if alone and self.is_damaged:
            refusal = Invalid(
                "This is a compressed file that is damaged, or ends too early: there is no message "
                "in what could be unpacked.",
                code="archive_damaged",
            )
        if alone and isinstance(refusal, Invalid):
            raise at_file(refusal, files[0].name) from refusal.__cause__
        if alone:
            raise refusal
        for one in files:
            self._note_refusal(one, refusal)

    def _save_sources(self) -> None:
        """Write the outcomes of the files at hand: from now on they are done."""
        if not self.matcher.sources:
            return
        growth.mark_all_held(self.matcher.sources)
        with transaction.atomic():
            self._save_refused()
            for source in self.matcher.sources:
                if self.into is None or not growth.merge(source):
                    source.save()
        self.matcher.sources = []

    def _save_refused(self) -> None:
        Source.objects.bulk_create(self.refused)
        self.refused = []

    def _note_refusal(self, one: KeptFile, refusal: DomainError) -> None:
        """Record why a file yielded nothing, unless it is growing: it may yet hold more."""
        if self.into is not None:
            return
        outcome = FileOutcome.FAILED
        if refusal.code in SIDECARS:
            outcome = FileOutcome.SIDECAR
        elif refusal.code == "format_unknown":
            # Archives contain pictures and READMEs too: a file that isn't a transcript is no
            # failure.
            outcome = FileOutcome.OTHER
        report = {"reason": storable(refusal.message)}
        self.refused.append(self.matcher.source(one, outcome=outcome, report=report))
        if len(self.refused) >= REFUSED_AT_ONCE:
            self._save_refused()

    def _place(
        self, transcripts: Iterable[Transcript], files: Sequence[KeptFile]
    ) -> None:
        """Place conversations in sessions; files without one of their own join the first."""
        for transcript, file in self._files_of(transcripts, files):
            self.matcher.place(transcript, file)
        if not any(source.session_id for source in self.matcher.sources):
            raise Invalid("There is no message in this file.", code="empty")
        named = {source.name for source in self.matcher.sources}
        first = self.matcher.sources[0].session
        for one in files:
            if one.name not in named:
                self.matcher.sources.append(
                    self.matcher.source(one, session=first, outcome=FileOutcome.JOINED)
                )

    def _files_of(
        self, transcripts: Iterable[Transcript], files: Sequence[KeptFile]
    ) -> Iterator[tuple[Transcript, KeptFile]]:
        """Each conversation with the file that it comes from."""
        for transcript in transcripts:
            yield transcript, self.files.get(transcript.member, files[0])

    def _finish(self, brought: UnpackedUpload) -> Imported:
        """Write the report: the sum over all files."""
        self._save_sources()
        imported = Imported(
            row=self.row, created=self.matcher.created, recorded=self.matcher.recorded
        )
        if self.into is not None:
            return imported
        for problem in brought.problems:
            source = self.matcher.source(
                KeptFile(problem.name, "", 0),
                outcome=FileOutcome.FAILED,
                report=problem_report(problem),
            )
            self.refused.append(source)
        self._save_refused()
        imported.sessions = sessions_of(self.row)
        if not imported.sessions:
            raise no_messages_refusal(self.row)
        write_report(self.row)
        for archive in self.secret:
            transaction.on_commit(partial(blobs.discard, archive))
        imported.warnings = warnings_of(self.row)
        return imported
