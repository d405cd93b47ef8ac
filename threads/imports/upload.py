"""What somebody brings: a file, several, or a folder; kept before anything is read of it."""

import json
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

from contextstudio.accounts.domain.errors import Invalid
from threads.domain import formats
from threads.domain.formats.io.folder import Folder, Member
from threads.domain.formats.sample import HEAD, Sample
from threads.store import blobs

from .archives import (
    MOST_BYTES,
    MOST_DEPTH,
    ArchiveTooLarge,
    Bounds,
    KeptFile,
    Problem,
    Unpacked,
    clean_name,
    distinct,
    kind_of,
    unpack_one,
    unpack_zip,
)
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
class UnpackedUpload:
    """The files of an upload, unpacked."""

    members: list[KeptFile] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    """Files that could not be taken out of an archive."""
    is_folder: bool = False
    """Whether it was more than one file, or may have been."""

    @property
    def folder(self) -> Folder:
        """The files as a parser looks at them."""
        return Folder(
            {
                one.name: Member(one.name, one.size, _opener(one.sha256))
                for one in sorted(self.members)
            }
        )


def keep_upload(stream: BinaryIO, *, name: str, **options: object) -> Upload:
    """Keep the bytes of an upload before anything is read of them."""
    sha256, size = blobs.store_stream(stream)
    return Upload(sha256=sha256, size=size, name=name, **options)  # type: ignore[arg-type]


def keep_folder(
    files: Iterable[tuple[str, Keep]],
    *,
    name: str,
    format: str = "auto",
    hold_back: bool = False,
) -> Upload:
    """Keep several files that come together, by their paths; `name` is what they are called."""
    kept: dict[str, KeptFile] = {}
    for path, keep in files:
        label = distinct(clean_name(path), kept)
        kept[label] = KeptFile(label, *keep())
    listed = json.dumps([*kept.values()]).encode()
    return Upload(
        sha256=blobs.store(listed),
        size=sum(one.size for one in kept.values()),
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


def unpack(
    upload: Upload,
    *,
    most: int | None = None,
    tick: Callable[[int], object] = lambda _: None,
) -> UnpackedUpload:
    """The files of an upload, those in archives taken out of them.

    `most` bounds the bytes that are unpacked; `tick` is told how many they are. Raises
    ArchiveTooLarge past it, Invalid (`archive_bomb`, `archive_damaged`) for one archive that comes
    alone.
    """
    brought = UnpackedUpload(is_folder=upload.is_folder)
    unpacking = _Unpacking(brought, most or MOST_BYTES, tick)
    if upload.is_folder:
        listed = json.loads(blobs.read(upload.sha256))
        for one in listed:
            unpacking.add_or_name(KeptFile(*one))
        return brought
    try:
        unpacking.add(KeptFile(clean_name(upload.name), upload.sha256, upload.size))
    except ArchiveTooLarge as bomb:
        if most is not None:
            raise
        raise Invalid(
            f"This archive is not unpacked. {bomb}", code="archive_bomb"
        ) from bomb
    return brought


class _Unpacking:
    """Files and archives on their way into one list."""

    def __init__(
        self, brought: UnpackedUpload, most: int, tick: Callable[[int], object]
    ) -> None:
        self._brought, self._most, self._tick = brought, most, tick
        self._prefixed = brought.is_folder

    def add_or_name(self, kept: KeptFile) -> None:
        """Add a file; one that can't be unpacked is named and stops no other."""
        try:
            self.add(kept)
        except Invalid as damage:
            self._problem(Problem(kept.name, damage.code, damage.message))
        except ArchiveTooLarge as bomb:
            if self._most < MOST_BYTES:
                raise
            sentence = f"This archive is not unpacked. {bomb}"
            self._problem(Problem(kept.name, "archive_bomb", sentence))

    def add(
        self, kept: KeptFile, *, depth: int = 0, bounds: Bounds | None = None
    ) -> None:
        """Add a file, or what it holds where it is packed. Raises ArchiveTooLarge, Invalid."""
        with blobs.open_blob(kept.sha256) as stream:
            head = stream.read(HEAD)
            kind = "tar" if is_tar(head) else kind_of(head)
            if kind is None or (kind == "zip" and _is_read_whole(head, kept.name)):
                self._brought.members.append(kept)
                return
            if depth >= MOST_DEPTH:
                sentence = "It lies in an archive inside an archive."
                self._problem(Problem(kept.name, "nested", sentence))
                return
            bounds = bounds or Bounds(kept.size, self._most, self._tick)
            if kind in ("zip", "tar"):
                unpacked = (
                    unpack_zip(stream, bounds)
                    if kind == "zip"
                    else unpack_tar(stream, kept.name, bounds)
                )
                self._add_all(unpacked, kept, depth=depth, bounds=bounds)
                return
            inner, problem = unpack_one(stream, kept.name, kind, bounds)
        if problem is not None:
            self._problem(problem)
        # A packed tar archive is one archive, not one inside another.
        self.add(inner, depth=depth + (not _holds_tar(inner)), bounds=bounds)

    def _add_all(
        self, unpacked: Unpacked, kept: KeptFile, *, depth: int, bounds: Bounds
    ) -> None:
        place = f"{kept.name}/" if depth or self._prefixed else ""
        self._brought.is_folder = True
        for problem in unpacked.problems:
            self._problem(problem._replace(name=place + problem.name))
        for one in unpacked.members:
            self.add(
                one._replace(name=place + one.name), depth=depth + 1, bounds=bounds
            )

    def _problem(self, problem: Problem) -> None:
        self._brought.problems.append(problem)


def _is_read_whole(head: bytes, name: str) -> bool:
    """Whether a format is a zip archive of its own, which its reader opens itself."""
    sample = Sample(head, name)
    return any(known.read and known.score(sample) for known in formats.KNOWN)


def _holds_tar(kept: KeptFile) -> bool:
    with blobs.open_blob(kept.sha256) as stream:
        return is_tar(stream.read(HEAD))


def _opener(sha256: str) -> Callable[[], BinaryIO]:
    return lambda: blobs.open_many(sha256)
