"""One import under way: every file of it in its turn, and the report at the end."""

import logging
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.db import DatabaseError, transaction

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import DomainError, Invalid
from contextstudio.accounts.jobs.runner import Interrupted
from contextstudio.accounts.models import Project
from threads import reading
from threads.domain import formats
from threads.domain.formats.io.folder import Folder
from threads.domain.tally import storable
from threads.domain.transcript import Transcript, Warning
from threads.imports.archives import KeptFile
from threads.imports.upload import UnpackedUpload, Upload, unpack
from threads.models import Import, Session
from threads.sessions import erasing
from threads.store import blobs

from . import growth
from .ingest import unreadable
from .outcome import FileOutcome, Imported, Progress, begin_row, write_report
from .session_matcher import SessionMatcher

logger = logging.getLogger(__name__)


SIDECARS = frozenset({"no_messages", "sidecar", "empty"})
"""Codes of refusals that say what a file is, where it holds no message."""
AT_ONCE = 200_000
"""Bytes of files that are read and taken in one transaction, also by a job."""


@dataclass(slots=True, kw_only=True)
class ImportRun:
    """One import: within the caller's transaction, or staged by a job in many of its own."""

    caller: Caller
    project: Project
    upload: Upload
    job_id: uuid.UUID | None = None
    into: Import | None = None
    """An import that goes on: a watched folder's."""
    progress: Progress = field(default_factory=lambda: Progress(lambda *_: None))
    row: Import = field(init=False)
    matcher: SessionMatcher = field(init=False)
    files: dict[str, KeptFile] = field(default_factory=dict)

    def run(self) -> Imported:
        """Import every file. Raises Invalid where none of them holds a message."""
        brought = unpack(self.upload, tick=self.progress.unpacked)
        self.files = {one.name: one for one in brought.members}
        done = self._begin()
        self.matcher = SessionMatcher(
            caller=self.caller,
            project=self.project,
            upload=self.upload,
            row=self.row,
            job_id=self.job_id,
            step=self.progress.messages,
        )
        if brought.is_folder:
            self._take_folder(brought, done)
        elif not done:
            for one in brought.members:
                self._take_alone(one)
        return self._finish(brought)

    def _begin(self) -> set[str]:
        """Make the row of the import, or take it up; the files that are done by then."""
        if self.into is not None:
            self.row = self.into
            return set()
        if self.job_id is not None:
            known = Import.objects.filter(staged_by=self.job_id).first()
            if known is not None:
                self.row = known
                return self._done_before()
        upload = self.upload
        self.row = begin_row(
            self.caller,
            self.project,
            upload.name,
            sha256="" if upload.is_folder else upload.sha256,
            size=upload.size,
            staged_by=self.job_id,
        )
        return set()

    def _done_before(self) -> set[str]:
        """The files that an earlier attempt has finished; what it left unfinished is removed."""
        begun = self.row.sources.filter(outcome="")
        left = Session.objects.filter(staged_by=self.job_id, sources__in=begun)
        erasing.empty(left)
        left.delete()
        # What was added to sessions that stand is theirs; its files are read once more.
        begun.update(outcome=FileOutcome.APPENDED, report={"unfinished": True})
        rows = list(self.row.sources.values_list("name", "report"))
        unfinished = {name for name, report in rows if "unfinished" in report}
        return {name for name, _ in rows} - unfinished

    def _take_folder(self, brought: UnpackedUpload, done: set[str]) -> None:
        """What several files make together, then each of the others alone."""
        total = len(brought.members)
        taken = done & self.files.keys()
        for gathered in self._gather(brought.folder):
            # A format may name members that could not be unpacked.
            names = gathered.members & self.files.keys()
            if names <= taken:
                continue
            self.progress.files(len(taken), total)
            files = [self.files[name] for name in sorted(names)]
            self._take_files(
                files, partial(self._take_gathered, gathered.transcripts, files)
            )
            taken |= names
        for one in brought.folder.members.values():
            if one.name in taken:
                continue
            self.progress.files(len(taken), total)
            kept = self.files[one.name]
            self._take_files([kept], partial(self._take_alone, kept))
            taken.add(one.name)
        self.progress.files(total, total)

    def _gather(self, folder: Folder) -> Iterator[Any]:
        """What the formats find that several files make together; each file once."""
        taken: set[str] = set()
        for known in formats.KNOWN:
            if known.gather is None or self.upload.format not in ("auto", known.name):
                continue
            rest = {n: one for n, one in folder.members.items() if n not in taken}
            try:
                found = known.gather(Folder(rest))
            except (Interrupted, DatabaseError, MemoryError):
                raise
            except Exception as fault:  # noqa: BLE001  # then each file is read alone
                unreadable(fault)
                continue
            for gathered in found:
                if not gathered.members & taken:
                    taken |= gathered.members
                    yield gathered

    def _take_files(self, files: Sequence[KeptFile], take: Callable[[], None]) -> None:
        """Take files that belong together: all that they hold, or only the reason why not."""
        self.matcher.sources = []
        is_small = sum(one.size for one in files) <= AT_ONCE
        # A large file is committed in many batches, and hidden until its job publishes it.
        whole = self.job_id is None or is_small
        try:
            with transaction.atomic() if whole else nullcontext():
                take()
                if whole:
                    self._save_sources()
        except DomainError as refusal:
            begun = self.row.sources.filter(outcome="")
            if self.job_id is not None:  # what is left of sessions
                left = Session.objects.filter(staged_by=self.job_id, sources__in=begun)
                erasing.empty(left)
                left.delete()
            begun.delete()
            for one in files:
                self._name(one, refusal)
        else:
            self._save_sources()

    def _save_sources(self) -> None:
        """Write what the files at hand came to: from now on they are done."""
        if not self.matcher.sources:
            return
        with transaction.atomic():
            for source in self.matcher.sources:
                if self.into is None or not growth.merge(source):
                    source.save()
        self.matcher.sources = []

    def _name(self, one: KeptFile, refusal: DomainError) -> None:
        """Say of a file why nothing of it was taken; one that grows may still come to more."""
        if self.into is not None:
            return
        outcome = FileOutcome.FAILED
        if refusal.code in SIDECARS:
            outcome = FileOutcome.SIDECAR
        elif refusal.code == "format_unknown":
            # An archive has pictures and READMEs in it: no transcript is not a failure.
            outcome = FileOutcome.OTHER
        report = {"reason": storable(refusal.message)}
        self.matcher.source(one, outcome=outcome, report=report).save()

    def _take_alone(self, one: KeptFile) -> None:
        if self.matcher.is_known([one]):
            return
        with self._read(one) as transcripts:
            self._take_all(transcripts, one)

    @contextmanager
    def _read(self, one: KeptFile) -> Iterator[list[Transcript]]:
        """The conversations of a file for as long as it is open: a large one is read apart."""
        with ExitStack() as stack:
            try:
                # What a watched folder adds is compared message by message, here.
                if reading.is_worthwhile(one.size) and self.into is None:
                    path = blobs.path_of(one.sha256)
                    given = reading.open_transcripts(path, self.upload.format, one.name)
                    transcripts = stack.enter_context(given)
                else:
                    stream = stack.enter_context(blobs.open_many(one.sha256))
                    transcripts = formats.read(stream, self.upload.format, one.name)
            except (DomainError, DatabaseError, MemoryError):
                raise
            except Exception as fault:  # as in `guarded`
                raise unreadable(fault) from fault
            yield transcripts

    def _take_gathered(
        self, transcripts: Iterable[Transcript], files: Sequence[KeptFile]
    ) -> None:
        """The conversations that several files make; the others of them are joined to these."""
        if self.matcher.is_known(files):
            return
        self._take_all(transcripts, files[0])
        named = {source.name for source in self.matcher.sources}
        first = self.matcher.sources[0].session if self.matcher.sources else None
        for one in files:
            if one.name not in named:
                self.matcher.sources.append(
                    self.matcher.source(one, session=first, outcome=FileOutcome.JOINED)
                )

    def _take_all(self, transcripts: Iterable[Transcript], one: KeptFile) -> None:
        for transcript in transcripts:
            self.matcher.place(transcript, self.files.get(transcript.member, one))
        if not any(source.session_id for source in self.matcher.sources):
            raise Invalid(
                "There is no message in this file.", at=["file"], code="empty"
            )

    def _finish(self, brought: UnpackedUpload) -> Imported:
        """Write the report: the sum of what each file came to."""
        self._save_sources()
        imported = Imported(
            row=self.row, created=self.matcher.created, recorded=self.matcher.recorded
        )
        if self.into is not None:
            return imported
        for problem in brought.problems:
            self.matcher.source(
                KeptFile(problem.name, "", 0),
                outcome=FileOutcome.FAILED,
                report={"reason": problem.sentence},
            ).save()
        ids = self.row.sources.exclude(session=None).values("session")
        found = Session.objects.filter(pk__in=ids).order_by("created_at", "pk")
        imported.sessions = list(found)
        if not imported.sessions:
            raise self._nothing()
        write_report(self.row)
        imported.warnings = [
            Warning(one["code"], one["detail"], one["line"])
            for one in self.row.report["warnings"]
        ]
        return imported

    def _nothing(self) -> Invalid:
        """The refusal of an import without a message: by its first file."""
        first = self.row.sources.order_by("pk").first()
        count = self.row.sources.count()
        reason = first.report.get("reason", "") if first else ""
        if count <= 1:
            sentence = reason or "There is no message in this file."
        else:
            sentence = f"There is no message in these {count:,} files."
            if first is not None and reason:
                sentence += f" {first.name}: {reason}"
        return Invalid(sentence, at=["file"], code="empty")
