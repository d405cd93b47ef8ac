"""Unpacks gzip, zstandard and zip files as streams, within bounds.

File names in an archive are only labels: unpacked files are stored under the hash of their bytes.
Bytes are counted as they come out; sizes in headers are never trusted. So no bomb (nested,
overlapping, a file that contains itself) costs more than the bounds allow.
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

MAX_MEMBERS = 50_000
"""The most files in one archive, including those of nested archives."""
MAX_BYTES = 16 << 30
"""The most bytes that one archive may unpack to."""
MAX_RATIO = 250
"""The most that an archive may grow by, as a factor; checked once it exceeds `FREE_BYTES`."""
FREE_BYTES = 64 << 20
MAX_DIRECTORY_BYTES = 16 << 20
"""The largest file list of a zip archive, in bytes; `zipfile` holds its entries as objects."""
MAX_DEPTH = 2
"""How deep archives are opened: one nested in another is unpacked, a deeper one only named."""

_CHUNK = 1 << 18
_GZIP, _ZSTANDARD, _ZIP = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04"
_STORED, _DEFLATED, _ZSTANDARD_METHOD = 0, 8, 93
_WINDOW = 1 << 27
"""The most memory that a zstandard stream may require, in bytes: the limit of `zstd` itself."""
_JUNK = ("__MACOSX/", ".DS_Store")
_SUFFIXES = {"gzip": (".gz", ".gzip", ".tgz"), "zstandard": (".zst", ".zstd")}

Damage = (OSError, EOFError, ValueError, zlib.error, struct.error, zstandard.ZstdError)
"""The exceptions that the readers raise on corrupt data."""


class KeptFile(NamedTuple):
    """A stored file: its name, and the hash under which its bytes are kept."""

    name: str
    sha256: str
    size: int


class Problem(NamedTuple):
    """A file that could not be unpacked, and a sentence that says why."""

    name: str
    """Empty for the archive itself."""
    code: str
    sentence: str


class ArchiveTooLarge(Exception):
    """An archive exceeds the bounds."""


@dataclass(slots=True)
class Unpacked:
    """The files of an archive, and those that could not be unpacked."""

    members: list[KeptFile] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


@dataclass(slots=True)
class Bounds:
    """How much may still be unpacked; shared by an archive and the archives nested in it."""

    packed: int
    """Size of the archive itself, in bytes."""
    most: int = MAX_BYTES
    tick: Callable[[int], object] = lambda _: None
    """Called with the number of bytes unpacked so far; raises to stop."""
    members: int = MAX_MEMBERS
    bytes: int = 0

    def count(self, size: int) -> None:
        """Count bytes that were unpacked. Raises ArchiveTooLarge."""
        self.bytes += size
        self.tick(self.bytes)
        if self.bytes > self.most:
            raise ArchiveTooLarge(f"It holds more than {self.most:,} bytes.")
        if self.bytes > FREE_BYTES and self.bytes > MAX_RATIO * self.packed:
            raise ArchiveTooLarge(
                f"It unpacks to more than {MAX_RATIO} times its size."
            )

    def expect_members(self, count: int) -> None:
        """Raise ArchiveTooLarge if `count` files are too many, before any of them is unpacked."""
        if count > self.members:
            raise ArchiveTooLarge(f"It holds more than {MAX_MEMBERS:,} files.")

    def count_member(self) -> None:
        """Count one more unpacked file. Raises ArchiveTooLarge."""
        self.expect_members(1)
        self.members -= 1


def kind_of(head: bytes) -> str | None:
    """The kind of archive that a file's first bytes announce, or None.

    One of `gzip`, `zstandard` and `zip`.
    """
    marks = {_GZIP: "gzip", _ZSTANDARD: "zstandard", _ZIP: "zip", b"PK\x05\x06": "zip"}
    return next((kind for mark, kind in marks.items() if head.startswith(mark)), None)


def unpacked_name(name: str, kind: str) -> str:
    """The name of a compressed file without the suffix of its compression."""
    for suffix in _SUFFIXES[kind]:
        if name.lower().endswith(suffix) and len(name) > len(suffix):
            return name[: -len(suffix)]
    return name


def unpack_one(
    stream: BinaryIO, name: str, kind: str, bounds: Bounds
) -> tuple[KeptFile, Problem | None]:
    """Unpack a gzip or zstandard file.

    Returns the file, and a problem if the data is damaged: what came out before the damage is kept.
    Raises ArchiveTooLarge.
    """
    fault: Problem | None = None

    def pieces() -> Iterator[bytes]:
        nonlocal fault
        is_gzip = kind == "gzip"
        reader: Any = gzip.GzipFile(fileobj=stream) if is_gzip else _zstandard(stream)
        try:
            # `read` waits for a whole chunk, and loses what it has if the file is cut off.
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
    """Unpack a zip archive and store its files; what can't be unpacked is listed as a problem.

    Raises Invalid if it can't be read as an archive at all, ArchiveTooLarge past the bounds.
    """
    unpacked = Unpacked()
    names = FileNames()
    listed = list(_listed(stream, bounds))
    bounds.expect_members(sum(not info.is_dir() for info in listed))
    with blobs.storing_many() as store:
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
    """A stream that lets `zipfile` read the list of files, but refuses one that is too long.

    Only `zipfile` can say where that list is: a parser of our own could be misled by an end record
    nested in another one, or by that of a larger archive.
    """

    def __init__(self, stream: BinaryIO, bounds: Bounds) -> None:
        self._stream, self._bounds = stream, bounds
        self.seek, self.tell = stream.seek, stream.tell

    def read(self, size: int = -1) -> bytes:
        """Read `size` bytes. Raises ArchiveTooLarge if the list of files is too long."""
        if size > MAX_DIRECTORY_BYTES:
            raise ArchiveTooLarge(f"It holds more than {self._bounds.members:,} files.")
        return self._stream.read(size)


def _refused(info: zipfile.ZipInfo, name: str) -> Problem | None:
    """Why a file of an archive can't be unpacked, or None."""
    if info.flag_bits & 1:
        return Problem(name, "encrypted", "It is encrypted.")
    if stat.S_ISLNK(info.external_attr >> 16):
        return Problem(name, "link", "It is a link to another file.")
    if info.compress_type not in (_STORED, _DEFLATED, _ZSTANDARD_METHOD):
        sentence = f"Its compression (method {info.compress_type}) can't be read."
        return Problem(name, "compression", sentence)
    return None


def _member(stream: BinaryIO, info: zipfile.ZipInfo) -> Iterator[bytes]:
    """The bytes of a file in a zip archive. `zipfile` itself can't read zstandard."""
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
    """Inflate deflated bytes, at most one chunk at a time."""
    inflater = zlib.decompressobj(-15)
    while not inflater.eof:
        data = inflater.unconsumed_tail or packed.read(_CHUNK)
        if not data:
            raise EOFError
        yield inflater.decompress(data, _CHUNK)


def _checked(pieces: Iterator[bytes], info: zipfile.ZipInfo) -> Iterator[bytes]:
    """Pass pieces on. Raises ValueError at the end if the checksum doesn't match."""
    found = 0
    for piece in pieces:
        found = zlib.crc32(piece, found)
        yield piece
    if found != info.CRC:
        raise ValueError("wrong checksum")


def counted(pieces: Iterator[bytes], bounds: Bounds) -> Iterator[bytes]:
    """Pass pieces on, counting their bytes. Raises ArchiveTooLarge."""
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
    """A readable section of a stream."""

    def __init__(self, stream: BinaryIO, start: int, size: int) -> None:
        self._stream, self._place, self._left = stream, start, size

    def read(self, size: int = -1) -> bytes:
        self._stream.seek(self._place)
        data = self._stream.read(min(self._left, size) if size >= 0 else self._left)
        self._place += len(data)
        self._left -= len(data)
        return data
