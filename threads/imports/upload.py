"""Uploads: one file, several, or a folder, stored before anything in them is read."""

import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import BinaryIO

from contextstudio.accounts.domain.errors import Invalid
from threads.domain import formats
from threads.domain.formats.io import utf_16
from threads.domain.formats.io.folder import Folder, Member
from threads.domain.formats.io.rows import listed, packed, spread, table
from threads.domain.formats.sample import HEAD, Sample
from threads.domain.formats.traffic.cleaning import needs_cleaning
from threads.store import blobs
from threads.store.blobs import ReceivedFile

from . import archives, cleaning
from .archives import KeptFile, Problem, Unpacked
from .archives.names import FileNames, clean_name
from .archives.tars import is_tar, unpack_tar

Keep = Callable[[], tuple[str, int]]
"""Stores a file as a blob; returns its SHA-256 in hex and its size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A file or folder whose bytes are in the blob store."""

    sha256: str
    """The hash of the file or, for a folder, of the list of its files."""
    size: int
    name: str
    format: str = "auto"
    session_id: uuid.UUID | None = None
    """The session that the file continues, if the file doesn't say so itself."""
    is_folder: bool = False
    hold_back: bool = False
    """Whether a last answer is left for later, since it may still be being written."""


@dataclass(slots=True)
class UnpackedUpload(Unpacked):
    """The files of an upload, including those unpacked from archives."""

    is_folder: bool = False
    """Whether it held more than one file, or could have."""
    secret: set[str] = field(default_factory=set)
    """The SHA-256 hashes of archives that hold what may not be kept."""

    @property
    def folder(self) -> Folder:
        """The files in the form that parsers take."""
        members = [
            Member(one.name, one.size, partial(blobs.open_many, one.sha256))
            for one in sorted(self.members)
        ]
        return Folder({one.name: one for one in members})


def keep_upload(stream: BinaryIO, *, name: str, **options: object) -> Upload:
    """Store the bytes of an upload before anything in them is read."""
    sha256, size = cleaning.store(stream)
    return Upload(sha256=sha256, size=size, name=name, **options)  # type: ignore[arg-type]


def keep_folder(
    files: Iterable[tuple[str, Keep]],
    *,
    name: str,
    format: str = "auto",
    hold_back: bool = False,
) -> Upload:
    """Store several files that come together, by path; `name` is the name of the whole."""
    names = FileNames()
    kept = [KeptFile(names.take(clean_name(path)), *keep()) for path, keep in files]
    listed = json.dumps(kept).encode()
    return Upload(
        sha256=blobs.store(listed),
        size=sum(one.size for one in kept),
        name=name,
        format=format,
        is_folder=True,
        hold_back=hold_back,
    )


def keep_received(
    files: Sequence[tuple[str, Keep]], *, format: str = "auto", **options: object
) -> Upload:
    """Store the files of one request: a single file, or several as a folder."""
    if len(files) == 1:
        name, keep = files[0]
        sha256, size = keep()
        return Upload(sha256=sha256, size=size, name=name, format=format, **options)  # type: ignore[arg-type]
    # A browser names each file of a chosen folder by its path in the folder.
    tops = {name.partition("/")[0] for name, _ in files if "/" in name}
    is_one = len(tops) == 1 and all("/" in name for name, _ in files)
    called = tops.pop() if is_one else f"{len(files):,} files"
    return keep_folder(files, name=called, format=format)


def received_files(files: Sequence[object], paths: str) -> list[tuple[str, Keep]]:
    """The files of a request with their paths; `paths` is a JSON list of these, or empty.

    A request names files without their folders, so the page sends the paths separately.
    """
    found = [file for file in files if isinstance(file, ReceivedFile)]
    try:
        named = json.loads(paths) if paths else []
    except (ValueError, RecursionError):
        named = []
    if not (isinstance(named, list) and len(named) == len(found)):
        named = []
    return [
        (
            str(named[place]) if named else file.name or "",
            partial(cleaning.keep, file),
        )
        for place, file in enumerate(found)
    ]


FIELD = "file"
"""The form field that holds the files."""


def unpack(
    upload: Upload,
    *,
    most: int | None = None,
    most_files: int = archives.MAX_MEMBERS,
    tick: Callable[[int], object] = lambda _: None,
) -> UnpackedUpload:
    """The files of an upload, with archives unpacked.

    `most` bounds the bytes that are unpacked, `most_files` the files of an archive; `tick` is
    called with the number of bytes so far. Raises ArchiveTooLarge past `most`, Invalid
    (`archive_bomb`, `archive_damaged`) if the upload is a single archive.
    """
    brought = UnpackedUpload(is_folder=upload.is_folder)
    unpacking = _Unpacking(brought, most or archives.MAX_BYTES, most_files, tick)
    if upload.is_folder:
        listed = [KeptFile(*one) for one in json.loads(blobs.read(upload.sha256))]
        for kept in unpacking.rename_duplicates(listed):
            unpacking.add_or_note_problem(kept)
        return brought
    name = clean_name(upload.name) if upload.name else ""
    try:
        unpacking.add(KeptFile(name, upload.sha256, upload.size))
    except archives.ArchiveTooLarge as bomb:
        if most is not None:
            raise
        sentence = f"This archive is not unpacked. {bomb}"
        raise at_file(Invalid(sentence, code="archive_bomb"), name) from bomb
    except Invalid as refusal:
        raise at_file(refusal, name) from refusal.__cause__
    return brought


def at_file(refusal: Invalid, name: str) -> Invalid:
    """A refusal whose `at` names the file of the request, followed by the place within it."""
    within = refusal.at[refusal.at[:1] == (FIELD,) :]
    refusal.at = (FIELD, *filter(None, [name]), *within)
    return refusal


class _Unpacking:
    """Collects files, and the contents of archives, into one list."""

    def __init__(
        self,
        brought: UnpackedUpload,
        most: int,
        most_files: int,
        tick: Callable[[int], object],
    ) -> None:
        self._brought, self._most, self._tick = brought, most, tick
        self._most_files = most_files
        self._prefixed = brought.is_folder
        self._names = FileNames()

    def rename_duplicates(self, files: Iterable[KeptFile]) -> list[KeptFile]:
        """Rename files so that no two have the same name, counting those added before."""
        return [one._replace(name=self._names.take(one.name)) for one in files]

    def _unpacked(self, inner: KeptFile, packed: KeptFile) -> KeptFile:
        """An unpacked file; if its own name is taken, it gets that of the packed file."""
        if inner.name in self._names:
            return inner._replace(name=packed.name)
        return inner._replace(name=self._names.take(inner.name))

    def add_or_note_problem(self, kept: KeptFile) -> None:
        """Add a file; one that can't be unpacked becomes a problem and doesn't stop the others."""
        try:
            self.add(kept)
        except Invalid as damage:
            self._problem(kept.name, damage.code, damage.message)
        except archives.ArchiveTooLarge as bomb:
            if self._most < archives.MAX_BYTES:
                raise
            sentence = f"This archive is not unpacked. {bomb}"
            self._problem(kept.name, "archive_bomb", sentence)

    def add(
        self,
        kept: KeptFile,
        *,
        within: tuple[str, ...] = (),
        depth: int = 0,
        bounds: archives.Bounds | None = None,
        is_cut: bool = False,
    ) -> None:
        """Add a file, or its contents if it is packed. Raises ArchiveTooLarge, Invalid.

        `is_cut` says that it is the readable part of a damaged file, which is reported already.
        """
        with blobs.open_blob(kept.sha256) as stream:
            head = stream.read(HEAD)
            kind = "tar" if is_tar(head) else archives.kind_of(head)
            bounds = bounds or archives.Bounds(
                kept.size, self._most, self._tick, self._most_files
            )
            if kind is None or (kind == "zip" and _is_read_whole(head, kept.name)):
                taken = self._converted(kept, head, stream, within, bounds)
                self._brought.members.append(taken)
                return
            if depth >= archives.MAX_DEPTH:
                sentence = (
                    "It is in an archive inside an archive, which is not unpacked."
                )
                self._problem(kept.name, "nested", sentence)
                return
            if kind == "zip":
                unpacked = archives.unpack_zip(stream, bounds)
            elif kind == "tar":
                unpacked = unpack_tar(stream, bounds)
            else:
                inner, problem = archives.unpack_one(stream, kept.name, kind, bounds)
        inside = (*within, kept.sha256)
        if kind in ("zip", "tar"):
            place = f"{kept.name}/" if depth or self._prefixed else ""
            self._brought.is_folder = True
            self._add_problems(unpacked.problems, kept.name, place, is_cut)
            members = (one._replace(name=place + one.name) for one in unpacked.members)
            for named in self.rename_duplicates(members):
                try:
                    self.add(named, within=inside, depth=depth + 1, bounds=bounds)
                except Invalid as damage:
                    self._problem(named.name, damage.code, damage.message)
            return
        if problem is not None:
            self._problem(*problem)
        inner = self._unpacked(inner, kept)
        with blobs.open_blob(inner.sha256) as stream:
            holds_tar = is_tar(stream.read(HEAD))
        # A compressed tar archive counts as one archive, not as one inside another.
        self.add(
            inner,
            within=inside,
            depth=depth + (not holds_tar),
            bounds=bounds,
            is_cut=problem is not None,
        )

    def _converted(
        self,
        kept: KeptFile,
        head: bytes,
        stream: BinaryIO,
        within: Iterable[str],
        bounds: archives.Bounds,
    ) -> KeptFile:
        """A file in the form that is read: recordings without secrets, tables as lines of JSON.

        `within`: the hashes of what it was taken from.
        """
        if needs_cleaning(head):
            self._brought.secret.update(within)
            return cleaning.without_secrets(kept)
        if formats.is_table(head):
            return _kept_rows(kept, table.lines(stream, head), bounds)
        if encoding := utf_16.encoding_of(head):
            within = (*within, kept.sha256)
            kept = _kept_rows(kept, utf_16.pieces(stream, encoding), bounds)
            with blobs.open_blob(kept.sha256) as text:
                return self._converted(kept, text.read(HEAD), text, within, bounds)
        if formats.is_pretty_printed(stream, head):
            kept = _kept_rows(kept, spread.lines(stream), bounds)
            with blobs.open_blob(kept.sha256) as lines:
                return self._converted(kept, lines.read(HEAD), lines, within, bounds)
        if formats.is_list_of_records(head):
            return _kept_rows(kept, listed.lines(stream), bounds)
        if formats.is_packed(head):
            return _kept_rows(kept, packed.lines(stream), bounds)
        return kept

    def _add_problems(
        self, problems: Iterable[Problem], name: str, place: str, is_cut: bool
    ) -> None:
        """Add an archive's problems, each under its file's name or else the archive's."""
        for one in problems:
            if one.name:
                self._problem(place + one.name, one.code, one.sentence)
            elif not is_cut:
                self._problem(name, one.code, one.sentence)

    def _problem(self, name: str, code: str, sentence: str) -> None:
        self._brought.problems.append(Problem(name, code, sentence))


def _kept_rows(
    file: KeptFile, rows: Iterator[bytes], bounds: archives.Bounds
) -> KeptFile:
    """A file replaced by its rows, which are stored instead."""
    pieces = archives.counted(rows, bounds)
    return KeptFile(file.name, *blobs.store_pieces(pieces))


def _is_read_whole(head: bytes, name: str) -> bool:
    """Whether a format that is itself a zip archive claims the file and opens it on its own."""
    sample = Sample(head, name)
    return any(known.read and known.score(sample) for known in formats.ALL_FORMATS)
