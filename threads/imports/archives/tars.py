"""Unpacks tar archives within bounds, whether plain or from a gzip or zstandard file.

As with zip archives, names are labels, bytes are counted as they come out, and links and devices
are not followed. `tarfile` reads a header whole, whatever length it announces, recurses for each
header that announces another, and searches headers for numbers in quadratic time while the whole
process stands still. So anything that no honest header needs is refused before it is read.
"""

import re
import tarfile
from collections.abc import Iterator
from typing import Any, BinaryIO

from contextstudio.accounts.domain.errors import Invalid
from threads.store import blobs

from . import Bounds, Damage, KeptFile, Problem, Unpacked
from .names import FileNames, clean_name

MAGIC, _AT = b"ustar", 257
_MAX_AT_ONCE = 1 << 20
_CHUNK = 1 << 18
_MAX_PRECEDING_HEADERS = 16
"""The most headers that may precede a file's own, such as one for a long name; two are usual."""
_ANNOUNCING = frozenset(
    {tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE}
    | {tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK}
)
_LONG_NUMBER = re.compile(rb"[0-9]{100}")
_RECORD = re.compile(rb"([0-9]{1,10}) [^=\n]+=")
"""The start of a record in an extended header: its length in bytes, and its name."""
_JUNK = "._"
"""Prefix of the files in which macOS keeps metadata that tar has no place for."""


def is_tar(head: bytes) -> bool:
    return head[_AT : _AT + len(MAGIC)] == MAGIC


def unpack_tar(stream: BinaryIO, bounds: Bounds) -> Unpacked:
    """Unpack a tar archive and store its files; what can't be unpacked is listed as a problem.

    If it ends too early, the files before that are kept and a problem without a name is added.
    Raises Invalid if it can't be read at all, ArchiveTooLarge past the bounds.
    """
    unpacked = Unpacked()
    names = FileNames()
    stream.seek(0)
    with blobs.storing_many() as store:
        try:
            _store_files(_Bounded(stream), unpacked, names, bounds, store)
        except (tarfile.TarError, *Damage) as error:
            sentence = "This is a tar archive, but it is damaged or ends too early."
            if not names:
                raise Invalid(sentence, code="archive_damaged") from error
            unpacked.problems.append(Problem("", "damaged", sentence))
    return unpacked


def _store_files(
    reader: Any,
    unpacked: Unpacked,
    names: FileNames,
    bounds: Bounds,
    store: blobs.StorePieces,
) -> None:
    """Store the files of an archive as far as it can be read."""
    with tarfile.open(fileobj=reader, mode="r:", tarinfo=_Header) as archive:
        held: list[tarfile.TarInfo] = vars(archive)["members"]
        while (info := archive.next()) is not None:
            held.clear()  # else it would keep the header of each file it has read
            reader.announcing = 0
            bounds.count_member()
            _require_size(info)  # an extended header may have changed the size
            if (name := _target_name(info, unpacked, names)) is not None:
                sha256, size = store(_pieces(archive, info, bounds))
                unpacked.members.append(KeptFile(name, sha256, size))


def _target_name(
    info: tarfile.TarInfo, unpacked: Unpacked, names: FileNames
) -> str | None:
    """The name under which to keep a member; None for a directory or what isn't a regular file.

    Links, devices and sparse files are added to the problems.
    """
    name = clean_name(info.name)
    if info.isdir() or name.rpartition("/")[2].startswith(_JUNK):
        return None
    name = names.take(name)
    if not info.isreg() or info.issparse():
        sentence = "It is a link, a device or a sparse file."
        unpacked.problems.append(Problem(name, "link", sentence))
        return None
    return name


def _pieces(
    archive: tarfile.TarFile, info: tarfile.TarInfo, bounds: Bounds
) -> Iterator[bytes]:
    """The bytes of a file. Raises TarError where the archive ends before it does."""
    file = archive.extractfile(info)
    while file is not None and (piece := file.read(_CHUNK)):
        bounds.count(len(piece))
        yield piece


class _Header(tarfile.TarInfo):
    """A header that is checked before `tarfile` reads what it announces."""

    def _proc_member(self, archive: Any) -> Any:
        _require_size(self)
        reader: _Bounded = archive.fileobj
        if self.type in _ANNOUNCING:
            reader.announcing += 1
            if reader.announcing > _MAX_PRECEDING_HEADERS:
                raise tarfile.ReadError("too many headers before that of a file")
        if self.type in (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE):
            begin = reader.tell()
            _require_records(reader.read(self.size))
            reader.seek(begin)
        return super()._proc_member(archive)  # type: ignore[misc]  # made to be overridden


def _require_size(info: tarfile.TarInfo) -> None:
    """Raise ReadError for a negative size: the member would lead back to itself."""
    if info.size < 0:
        raise tarfile.ReadError("a size below zero")


def _require_records(data: bytes) -> None:
    """Raise ReadError unless an extended header consists of well-formed records, as in POSIX."""
    place, size = 0, len(data.rstrip(b"\0"))
    while place < size:
        begin = _RECORD.match(data, place)
        place += int(begin[1]) if begin else 0
        if begin is None or place < begin.end() or data[place - 1 : place] != b"\n":
            raise tarfile.ReadError("a broken extended header")
        if data.startswith(b" size=-", begin.end(1)):
            raise tarfile.ReadError("a size below zero")
    if _LONG_NUMBER.search(data):
        raise tarfile.ReadError("a number that is too long")


class _Bounded:
    """A stream that refuses to read more at once than a header needs."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.announcing = 0
        self.seek, self.tell = stream.seek, stream.tell

    def read(self, size: int = -1) -> bytes:
        """Read `size` bytes. Raises ValueError for a size that no honest header would ask for."""
        if not 0 <= size <= _MAX_AT_ONCE:
            raise ValueError("a header that is too long")
        return self._stream.read(size)
