"""Groups the files of an upload by the conversations they form, and says how to read each group."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from django.db import DatabaseError

from contextstudio.accounts.domain.errors import DomainError
from contextstudio.accounts.jobs.runner import Interrupted
from threads import reading
from threads.domain import formats
from threads.domain.formats.io.folder import Folder, Gathered
from threads.domain.transcript import Transcript
from threads.imports.archives import KeptFile
from threads.imports.upload import UnpackedUpload
from threads.store import blobs

from .ingest import guard_parser, unreadable

AT_ONCE = 200_000
"""The most bytes of files that are read into memory and recorded in one transaction."""


class FileGroup(NamedTuple):
    """Files that belong together: a single one, or several that form conversations together."""

    files: Sequence[KeptFile]
    open: Callable[[], AbstractContextManager[Iterable[Transcript]]]
    """Opens their conversations, which are read as they are iterated over. Raises Invalid."""

    @property
    def is_small(self) -> bool:
        return sum(one.size for one in self.files) <= AT_ONCE

    def read_to_end(self) -> "ReadGroup":
        """Read everything the files hold into memory."""
        try:
            with self.open() as transcripts:
                held = [
                    replace(one, items=list(guard_parser(one.items)))
                    for one in guard_parser(transcripts)
                ]
        except DomainError as refusal:
            return ReadGroup(self.files, (), refusal)
        return ReadGroup(self.files, held, None)


class ReadGroup(NamedTuple):
    """Files read to their end before any transaction: their transcripts, or why there are none."""

    files: Sequence[KeptFile]
    transcripts: Sequence[Transcript]
    refusal: DomainError | None


@dataclass(frozen=True, slots=True)
class FileGroups:
    """Finds which files of an upload belong together."""

    files: Mapping[str, KeptFile]
    format: str
    """The requested format, or `auto`."""
    may_read_apart: bool
    """Whether a large file may be read in another process."""

    def of(self, brought: UnpackedUpload, done: set[str]) -> Iterator[FileGroup]:
        """Files that form conversations together, then each other file alone; skips `done`.

        Formats look into the files while this is iterated over.
        """
        taken = set(done)
        for gathered in self._gather(brought.folder) if brought.is_folder else ():
            # A format may name members that could not be unpacked.
            names = gathered.members & self.files.keys()
            if names <= taken:
                continue
            files = [self.files[name] for name in sorted(names)]
            yield FileGroup(files, partial(_as_given, gathered.transcripts))
            taken |= names
        for one in brought.folder.members.values():
            if one.name not in taken:
                kept = self.files[one.name]
                yield FileGroup([kept], partial(self._read, kept))

    def _gather(self, folder: Folder) -> Iterator[Gathered]:
        """The groups of files that formats recognise as belonging together; no file is in two."""
        taken: set[str] = set()
        for known in formats.ALL_FORMATS:
            if known.gather is None or self.format not in ("auto", known.name):
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

    @contextmanager
    def _read(self, one: KeptFile) -> Iterator[Iterable[Transcript]]:
        """The conversations of a file while it is open; a large file is read in another process."""
        with ExitStack() as stack:
            try:
                if self.may_read_apart and reading.is_worthwhile(one.size):
                    path = blobs.path_of(one.sha256)
                    given = reading.open_transcripts(path, self.format, one.name)
                    transcripts = stack.enter_context(given)
                else:
                    stream = stack.enter_context(blobs.open_many(one.sha256))
                    transcripts = formats.read(stream, self.format, one.name)
            except (DomainError, DatabaseError, MemoryError):
                raise
            except Exception as fault:  # as in `guard_parser`
                raise unreadable(fault) from fault
            yield transcripts


def _as_given(
    transcripts: Iterable[Transcript],
) -> AbstractContextManager[Iterable[Transcript]]:
    return nullcontext(transcripts)
