"""Unpacking what files come packed in: gzip, zstandard, zip; within bounds, as a stream.

FileNames in an archive are labels and nothing more: what is unpacked lies under the hash of its
bytes. Bytes are counted as they come out, never believed from a header, so that no bomb
(nested, overlapping, a file that packs itself) costs more than the bounds say.
"""

import gzip
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO, NamedTuple

import zstandard

from contextstudio.accounts.domain.errors import Invalid
from threads.store import blobs

from .frames import is_whole
from .names import FileNames, clean_name

MOST_MEMBERS = 50_000
"""Files in one archive; also of those in archives inside it."""
MOST_BYTES = 16 << 30
"""Bytes that one archive may come to."""
MOST_RATIO = 250
"""How many times its own size an archive may come to, once that is more than `FREE_BYTES`."""
FREE_BYTES = 64 << 20
MOST_DIRECTORY = 16 << 20
"""Bytes in which a zip archive lists its files; `zipfile` holds them as objects."""
MOST_DEPTH = 2
"""Archives in archives: what lies one level down is unpacked, what lies deeper is named."""

_CHUNK = 1 << 18
_GZIP, _ZSTANDARD, _ZIP = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04"
_STORED, _DEFLATED, _ZSTANDARD_METHOD = 0, 8, 93
_WINDOW = 1 << 27
"""The most memory that a zstandard stream may ask for, in bytes: what `zstd` itself allows."""
_JUNK = ("__MACOSX/", ".DS_Store")
_SUFFIXES = {"gzip": (".gz", ".gzip", ".tgz"), "zstandard": (".zst", ".zstd")}

Damage = (OSError, EOFError, ValueError, zlib.error, struct.error, zstandard.ZstdError)
"""What the readers raise on bytes that are not what they should be."""


class KeptFile(NamedTuple):
    """A file as it came: its name, and where its bytes are."""

    name: str
    sha256: str
    size: int


class Problem(NamedTuple):
    """A file that could not be taken out, and the sentence that says why."""

    name: str
    """Empty for the archive itself."""
    code: str
    sentence: str


class ArchiveTooLarge(Exception):
    """An archive comes to more than it may."""


@dataclass(slots=True)
class Unpacked:
    """What an archive held, and the files that could not be taken out of it."""

    members: list[KeptFile] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


@dataclass(slots=True)
class Bounds:
    """How much may still be unpacked: shared by an archive and the archives inside it."""

    packed: int
    """Bytes of the archive itself."""
    most: int = MOST_BYTES
    tick: Callable[[int], object] = lambda _: None
    """Told how many bytes have come out so far; raises to stop."""
    members: int = MOST_MEMBERS
    bytes: int = 0

    def count(self, size: int) -> None:
        """Bytes have come out. Raises ArchiveTooLarge."""
        self.bytes += size
        self.tick(self.bytes)
        if self.bytes > self.most:
            raise ArchiveTooLarge(f"It holds more than {self.most:,} bytes.")
        if self.bytes > FREE_BYTES and self.bytes > MOST_RATIO * self.packed:
            raise ArchiveTooLarge(
                f"It unpacks to more than {MOST_RATIO} times its size."
            )

    def expect_members(self, count: int) -> None:
        """So many files are to come out. Raises ArchiveTooLarge before the first of them did."""
        if count > self.members:
            raise ArchiveTooLarge(f"It holds more than {MOST_MEMBERS:,} files.")

    def count_member(self) -> None:
        """One more file has come out. Raises ArchiveTooLarge."""
        self.expect_members(1)
        self.members -= 1


def kind_of(head: bytes) -> str | None:
    """`gzip`, `zstandard` or `zip` by the first bytes of a file; None where it is none."""
    marks = {_GZIP: "gzip", _ZSTANDARD: "zstandard", _ZIP: "zip", b"PK\x05\x06": "zip"}
    return next((kind for mark, kind in marks.items() if head.startswith(mark)), None)


def unpacked_name(name: str, kind: str) -> str:
    """The name of what a compressed file holds: without the suffix of its compression."""
    for suffix in _SUFFIXES[kind]:
        if name.lower().endswith(suffix) and len(name) > len(suffix):
            return name[: -len(suffix)]
    return name


def unpack_one(
    stream: BinaryIO, name: str, kind: str, bounds: Bounds
) -> tuple[KeptFile, Problem | None]:
    """A gzip or zstandard file as the file it is.

    What came out before a fault is kept, with the fault beside it. Raises ArchiveTooLarge.
    """
    fault: Problem | None = None

    def pieces() -> Iterator[bytes]:
        nonlocal fault
        is_gzip = kind == "gzip"
        reader: Any = gzip.GzipFile(fileobj=stream) if is_gzip else _zstandard(stream)
        try:
            # `read` would gather a whole chunk, and lose what it has where the file breaks off.
            yield from counted(_read_on(reader.read1), bounds)
            is_damaged = not is_gzip and not is_whole(stream)
        except Damage:
            is_damaged = True
        if is_damaged:
            words = "It is damaged, or ends too early; what could be unpacked is read."
            fault = Problem(name, "damaged", words)

    bounds.count_member()
    stream.seek(0)
    sha256, size = blobs.store_pieces(pieces())
    return KeptFile(unpacked_name(name, kind), sha256, size), fault


def unpack_zip(stream: BinaryIO, bounds: Bounds) -> Unpacked:
    """The files of a zip archive, each kept; those that can't be taken out are named.

    Raises Invalid where it can't be read as an archive at all, ArchiveTooLarge past the bounds.
    """
    unpacked = Unpacked()
    names = FileNames()
    listed = list(_listed(stream, bounds))
    bounds.expect_members(sum(not info.is_dir() for info in listed))
    with blobs.many() as store:
        for info in listed:
            name = clean_name(info.filename)
            if info.is_dir() or name.startswith(_JUNK[0]) or name.endswith(_JUNK[1]):
                continue
            name = names.take(name)
            bounds.count_member()
            if (problem := _refused(info, name)) is not None:
                unpacked.problems.append(problem)
                continue
            try:
                pieces = counted(_member(stream, info), bounds)
                sha256, size = store(_checked(pieces, info))
            except Damage:
                unpacked.problems.append(Problem(name, "damaged", "It is damaged."))
            else:
                unpacked.members.append(KeptFile(name, sha256, size))
    return unpacked


def _listed(stream: BinaryIO, bounds: Bounds) -> list[zipfile.ZipInfo]:
    reader: Any = _Listing(stream, bounds)
    try:
        with zipfile.ZipFile(reader) as archive:
            return archive.infolist()
    except (zipfile.BadZipFile, NotImplementedError, *Damage) as error:
        raise Invalid(
            "This is a zip archive, but it is damaged or ends too early.",
            code="archive_damaged",
        ) from error


class _Listing:
    """A stream from which `zipfile` reads the list of files, at once and however long it is.

    Where that list is, `zipfile` alone knows: an end that is written into another, or that of
    a larger archive, would say something else to who looks for himself.
    """

    def __init__(self, stream: BinaryIO, bounds: Bounds) -> None:
        self._stream, self._bounds = stream, bounds
        self.seek, self.tell = stream.seek, stream.tell

    def read(self, size: int = -1) -> bytes:
        """So many bytes. Raises ArchiveTooLarge where a list would be too long."""
        if size > MOST_DIRECTORY:
            raise ArchiveTooLarge(f"It holds more than {self._bounds.members:,} files.")
        return self._stream.read(size)


def _refused(info: zipfile.ZipInfo, name: str) -> Problem | None:
    """Why a file of an archive isn't taken out, if it isn't."""
    if info.flag_bits & 1:
        return Problem(name, "encrypted", "It is encrypted.")
    if stat.S_ISLNK(info.external_attr >> 16):
        return Problem(name, "link", "It is a link to another file.")
    if info.compress_type not in (_STORED, _DEFLATED, _ZSTANDARD_METHOD):
        sentence = f"Its compression (method {info.compress_type}) can't be read."
        return Problem(name, "compression", sentence)
    return None


def _member(stream: BinaryIO, info: zipfile.ZipInfo) -> Iterator[bytes]:
    """The bytes of a file of a zip archive. `zipfile` itself doesn't read zstandard."""
    stream.seek(info.header_offset)
    header = stream.read(30)
    if header[:4] != _ZIP:
        raise ValueError("no header")
    name_size, extra_size = struct.unpack_from("<HH", header, 26)
    start = info.header_offset + 30 + name_size + extra_size
    packed = _Part(stream, start, info.compress_size)
    if info.compress_type == _ZSTANDARD_METHOD:
        return _read_on(_zstandard(packed).read)
    if info.compress_type == _DEFLATED:
        return _inflate(packed)
    return _read_on(packed.read)


def _inflate(packed: "_Part") -> Iterator[bytes]:
    """Deflated bytes, never more than a chunk at a time."""
    inflater = zlib.decompressobj(-15)
    while not inflater.eof:
        data = inflater.unconsumed_tail or packed.read(_CHUNK)
        if not data:
            raise EOFError
        yield inflater.decompress(data, _CHUNK)


def _checked(pieces: Iterator[bytes], info: zipfile.ZipInfo) -> Iterator[bytes]:
    """The same pieces. Raises ValueError at their end where they are not what was packed."""
    found = 0
    for piece in pieces:
        found = zlib.crc32(piece, found)
        yield piece
    if found != info.CRC:
        raise ValueError("wrong checksum")


def counted(pieces: Iterator[bytes], bounds: Bounds) -> Iterator[bytes]:
    """The same pieces, counted as they come out. Raises ArchiveTooLarge."""
    for piece in pieces:
        bounds.count(len(piece))
        yield piece


def _zstandard(stream: Any) -> Any:
    decompressor = zstandard.ZstdDecompressor(max_window_size=_WINDOW)
    return decompressor.stream_reader(stream, read_across_frames=True, closefd=False)


def _read_on(read: Callable[[int], bytes]) -> Iterator[bytes]:
    while piece := read(_CHUNK):
        yield piece


class _Part:
    """A stretch of a stream, to be read on."""

    def __init__(self, stream: BinaryIO, start: int, size: int) -> None:
        self._stream, self._place, self._left = stream, start, size

    def read(self, size: int = -1) -> bytes:
        self._stream.seek(self._place)
        data = self._stream.read(min(self._left, size) if size >= 0 else self._left)
        self._place += len(data)
        self._left -= len(data)
        return data
