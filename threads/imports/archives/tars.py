"""Unpacking tar archives, plain or as what a gzip or zstandard file held; within bounds.

As with zip archives: names are labels, bytes are counted as they come out, and neither links
nor devices are followed. `tarfile` reads headers whole, however long they say they are: the
stream it is given refuses what no honest header needs.
"""

import tarfile
from collections.abc import Iterator
from typing import Any, BinaryIO

from contextstudio.accounts.domain.errors import Invalid
from threads.store import blobs

from . import Bounds, Damage, KeptFile, Problem, Unpacked, clean_name, distinct

MAGIC, _AT = b"ustar", 257
_MOST_AT_ONCE = 1 << 20
_CHUNK = 1 << 18
_JUNK = "._"
"""How the files begin in which macOS keeps what tar has no place for."""


def is_tar(head: bytes) -> bool:
    return head[_AT : _AT + len(MAGIC)] == MAGIC


def unpack_tar(stream: BinaryIO, name: str, bounds: Bounds) -> Unpacked:
    """The files of a tar archive, each kept; those that can't be taken out are named.

    Where it ends too early what came before is kept. Raises Invalid where it can't be read at
    all, ArchiveTooLarge past the bounds.
    """
    unpacked = Unpacked()
    taken: set[str] = set()
    stream.seek(0)
    try:
        reader: Any = _Bounded(stream)
        with tarfile.open(fileobj=reader, mode="r:") as archive:
            held: list[tarfile.TarInfo] = vars(archive)["members"]
            while (info := archive.next()) is not None:
                held.clear()  # or it would keep what it says of each that it has read
                bounds.count_member()
                _take(archive, info, unpacked, taken, bounds)
    except (tarfile.TarError, *Damage) as error:
        sentence = "This is a tar archive, but it is damaged or ends too early."
        if not taken:
            raise Invalid(sentence, code="archive_damaged") from error
        unpacked.problems.append(Problem(name, "damaged", sentence))
    return unpacked


def _take(
    archive: tarfile.TarFile,
    info: tarfile.TarInfo,
    unpacked: Unpacked,
    taken: set[str],
    bounds: Bounds,
) -> None:
    """Keep one file of an archive; directories are none, and others are named."""
    name = distinct(clean_name(info.name), taken)
    if info.isdir() or name.rpartition("/")[2].startswith(_JUNK):
        return
    taken.add(name)
    if not info.isreg() or info.issparse():
        sentence = "It is a link or a device, or it has holes."
        unpacked.problems.append(Problem(name, "link", sentence))
        return
    sha256, size = blobs.store_pieces(_pieces(archive, info, bounds))
    unpacked.members.append(KeptFile(name, sha256, size))


def _pieces(
    archive: tarfile.TarFile, info: tarfile.TarInfo, bounds: Bounds
) -> Iterator[bytes]:
    """The bytes of a file. Raises TarError where the archive ends before it does."""
    file = archive.extractfile(info)
    while file is not None and (piece := file.read(_CHUNK)):
        bounds.count(len(piece))
        yield piece


class _Bounded:
    """A stream of which no more than a header needs is read at once."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.seek, self.tell = stream.seek, stream.tell

    def read(self, size: int = -1) -> bytes:
        """So many bytes. Raises ValueError where nobody honest would ask for them."""
        if not 0 <= size <= _MOST_AT_ONCE:
            raise ValueError("a header that is too long")
        return self._stream.read(size)
