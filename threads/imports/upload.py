"""What somebody brings: a file, several, or a folder; kept before anything is read of it."""

import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import BinaryIO

from contextstudio.accounts.domain.errors import Invalid
from threads.domain import formats
from threads.domain.formats.io.folder import Folder, Member
from threads.domain.formats.io.rows import packed, spread, table
from threads.domain.formats.sample import HEAD, Sample
from threads.domain.formats.traffic.cleaning import needs_cleaning
from threads.store import blobs
from threads.store.blobs import ReceivedFile

from . import archives, cleaning
from .archives import KeptFile, Problem, Unpacked
from .archives.names import FileNames, clean_name
from .archives.tars import is_tar, unpack_tar

Keep = Callable[[], tuple[str, int]]
"""Keeps a file as a blob; the answer is its SHA-256 in hex and its size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A file or a folder as it is kept: its bytes lie in the blob store."""

    sha256: str
    """Of the file; of a folder, of the list of its files."""
    size: int
    name: str
    format: str = "auto"
    session_id: uuid.UUID | None = None
    """The session that the file is a longer version of, where the file doesn't say so."""
    is_folder: bool = False
    hold_back: bool = False
    """Whether a last answer is left for later: it may still be written."""


@dataclass(slots=True)
class UnpackedUpload(Unpacked):
    """The files of an upload, and of the archives in it."""

    is_folder: bool = False
    """Whether it was more than one file, or may have been."""
    secret: set[str] = field(default_factory=set)
    """The archives that hold what may not be kept, by their SHA-256."""

    @property
    def folder(self) -> Folder:
        """The files as a parser looks at them."""
        members = [
            Member(one.name, one.size, partial(blobs.open_many, one.sha256))
            for one in sorted(self.members)
        ]
        return Folder({one.name: one for one in members})


def keep_upload(stream: BinaryIO, *, name: str, **options: object) -> Upload:
    """Keep the bytes of an upload before anything is read of them."""
    sha256, size = cleaning.store(stream)
    return Upload(sha256=sha256, size=size, name=name, **options)  # type: ignore[arg-type]


def keep_folder(
    files: Iterable[tuple[str, Keep]],
    *,
    name: str,
    format: str = "auto",
    hold_back: bool = False,
) -> Upload:
    """Keep several files that come together, by their paths; `name` is what they are called."""
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
    """Keep what came in one request: the one file, or several as a folder."""
    if len(files) == 1:
        name, keep = files[0]
        sha256, size = keep()
        return Upload(sha256=sha256, size=size, name=name, format=format, **options)  # type: ignore[arg-type]
    # A browser names each file of a chosen folder by its path in it.
    tops = {name.partition("/")[0] for name, _ in files if "/" in name}
    is_one = len(tops) == 1 and all("/" in name for name, _ in files)
    called = tops.pop() if is_one else f"{len(files):,} files"
    return keep_folder(files, name=called, format=format)


def received(files: Sequence[object], paths: str) -> list[tuple[str, Keep]]:
    """Files of a request by their paths: `paths` is a JSON list of them, or says nothing.

    A request names files without their folders, so a page says these beside them.
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
"""The field of a request in which a file comes."""


def unpack(
    upload: Upload,
    *,
    most: int | None = None,
    most_files: int = archives.MOST_MEMBERS,
    tick: Callable[[int], object] = lambda _: None,
) -> UnpackedUpload:
    """The files of an upload, those in archives taken out of them.

    `most` bounds the bytes that are unpacked, `most_files` the files of an archive; `tick` is told
    how many bytes there are. Raises ArchiveTooLarge past `most`, Invalid (`archive_bomb`,
    `archive_damaged`) for one archive that comes alone.
    """
    brought = UnpackedUpload(is_folder=upload.is_folder)
    unpacking = _Unpacking(brought, most or archives.MOST_BYTES, most_files, tick)
    if upload.is_folder:
        listed = [KeptFile(*one) for one in json.loads(blobs.read(upload.sha256))]
        for kept in unpacking.named_apart(listed):
            unpacking.add_or_name(kept)
        return brought
    name = clean_name(upload.name)
    try:
        unpacking.add(KeptFile(name, upload.sha256, upload.size))
    except archives.ArchiveTooLarge as bomb:
        if most is not None:
            raise
        sentence = f"This archive is not unpacked. {bomb}"
        raise placed(Invalid(sentence, code="archive_bomb"), name) from bomb
    except Invalid as refusal:
        raise placed(refusal, name) from refusal.__cause__
    return brought


def placed(refusal: Invalid, name: str) -> Invalid:
    """A refusal of a file with its place in the request: the file's name, then where in it."""
    within = refusal.at[refusal.at[:1] == (FIELD,) :]
    refusal.at = (FIELD, *filter(None, [name]), *within)
    return refusal


class _Unpacking:
    """Files and archives on their way into one list."""

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

    def named_apart(self, files: Iterable[KeptFile]) -> list[KeptFile]:
        """Files by names that no other has, of those that came before them or beside them."""
        return [one._replace(name=self._names.take(one.name)) for one in files]

    def _unpacked(self, inner: KeptFile, packed: KeptFile) -> KeptFile:
        """What a file holds, under the name of the packed file where its own is another's."""
        if inner.name in self._names:
            return inner._replace(name=packed.name)
        return inner._replace(name=self._names.take(inner.name))

    def add_or_name(self, kept: KeptFile) -> None:
        """Add a file; one that can't be unpacked is named and stops no other."""
        try:
            self.add(kept)
        except Invalid as damage:
            self._problem(kept.name, damage.code, damage.message)
        except archives.ArchiveTooLarge as bomb:
            if self._most < archives.MOST_BYTES:
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
        """Add a file, or what it holds where it is packed. Raises ArchiveTooLarge, Invalid.

        `is_cut`: it is what could be unpacked of a damaged file, as the report says already.
        """
        with blobs.open_blob(kept.sha256) as stream:
            head = stream.read(HEAD)
            kind = "tar" if is_tar(head) else archives.kind_of(head)
            bounds = bounds or archives.Bounds(
                kept.size, self._most, self._tick, self._most_files
            )
            if kind is None or (kind == "zip" and _is_read_whole(head, kept.name)):
                taken = self._as_read(kept, head, stream, within, bounds)
                self._brought.members.append(taken)
                return
            if depth >= archives.MOST_DEPTH:
                sentence = "It lies in an archive inside an archive."
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
            self._name_all(unpacked.problems, kept.name, place, is_cut)
            members = (one._replace(name=place + one.name) for one in unpacked.members)
            for named in self.named_apart(members):
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
        # A packed tar archive is one archive, not one inside another.
        self.add(
            inner,
            within=inside,
            depth=depth + (not holds_tar),
            bounds=bounds,
            is_cut=problem is not None,
        )

    def _as_read(
        self,
        kept: KeptFile,
        head: bytes,
        stream: BinaryIO,
        within: Iterable[str],
        bounds: archives.Bounds,
    ) -> KeptFile:
        """A file as it is read: a recording without what it may not hold, rows as objects."""
        if needs_cleaning(head):
            self._brought.secret.update(within)
            return cleaning.without_secrets(kept)
        if formats.is_table(head):
            return _kept_rows(kept, table.lines(stream, head), bounds)
        if formats.is_spread(stream, head):
            kept = _kept_rows(kept, spread.lines(stream), bounds)
            with blobs.open_blob(kept.sha256) as lines:
                return self._as_read(kept, lines.read(HEAD), lines, within, bounds)
        if formats.is_packed(head):
            return _kept_rows(kept, packed.lines(stream), bounds)
        return kept

    def _name_all(
        self, problems: Iterable[Problem], name: str, place: str, is_cut: bool
    ) -> None:
        """Name what an archive of this name, in which files stand at `place`, gave no file of."""
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
    """A file by its rows, which are kept in its stead."""
    pieces = archives.counted(rows, bounds)
    return KeptFile(file.name, *blobs.store_pieces(pieces))


def _is_read_whole(head: bytes, name: str) -> bool:
    """Whether a format is a zip archive of its own, which its reader opens itself."""
    sample = Sample(head, name)
    return any(known.read and known.score(sample) for known in formats.KNOWN)
