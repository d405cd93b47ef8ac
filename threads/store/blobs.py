"""Stores bytes by their SHA-256 in the data folder: source files, images, attachments.

A file is written next to its final path, synced and renamed, so that it is complete or absent. It
is written before the row that names it; a file without a row is harmless.

Uploaded files are written the same way as they arrive, thousands per request. Django's own handlers
keep small ones in memory and large ones open, and neither works for a folder of transcripts. Here a
file is written and hashed in one go and closed. Files that nobody keeps are removed when the
request ends.
"""

import hashlib
import io
import os
import re
import tempfile
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler

_SHA256 = re.compile("[0-9a-f]{64}")
_CHUNK = 1 << 20
_BUFFER = 1 << 13
_SYNCED_AT_ONCE = 16
_MAX_OPEN = 64
"""How many files `open_many` keeps open at once."""

StorePieces = Callable[[Iterable[bytes]], tuple[str, int]]
"""Stores bytes that can be read only once; returns their SHA-256 in hex and their size."""


def path_of(sha256: str) -> Path:
    """The path of the bytes with this hash, whether or not they are stored.

    Raises FileNotFoundError for anything but a hash, since it could name any file.
    """
    if not _SHA256.fullmatch(sha256):
        raise FileNotFoundError("This is not a SHA-256.")
    return Path(settings.BLOB_DIR) / sha256[:2] / sha256


def store(data: bytes) -> str:
    """Store bytes; returns their SHA-256 in hex."""
    sha256 = hashlib.sha256(data).hexdigest()
    if not _is_kept(sha256):
        store_pieces([data])
    return sha256


def store_stream(stream: BinaryIO) -> tuple[str, int]:
    """Store the content of a seekable stream; returns its SHA-256 in hex and its size."""

    def pieces() -> Iterator[bytes]:
        stream.seek(0)
        return iter(lambda: stream.read(_CHUNK), b"")

    return _store_new(pieces)


def store_beginning(path: Path, size: int) -> tuple[str, int]:
    """Store the first bytes of a file that may be growing."""

    def pieces() -> Iterator[bytes]:
        left = size
        with path.open("rb") as file:
            while left and (piece := file.read(min(left, _CHUNK))):
                left -= len(piece)
                yield piece

    return _store_new(pieces)


def _store_new(pieces: Callable[[], Iterable[bytes]]) -> tuple[str, int]:
    """Store bytes unless they are stored already; new ones are read twice."""
    digest, size = hashlib.sha256(), 0
    for piece in pieces():
        digest.update(piece)
        size += len(piece)
    sha256 = digest.hexdigest()
    return (sha256, size) if _is_kept(sha256) else store_pieces(pieces())


def _is_kept(sha256: str) -> bool:
    """Whether these bytes are stored already; if so, mark them as new.

    Files that no row names are swept once they are old, and the row that will name this one is
    still to come.
    """
    try:
        os.utime(path_of(sha256))
    except FileNotFoundError:
        return False
    return True


def store_pieces(pieces: Iterable[bytes]) -> tuple[str, int]:
    """Store bytes that can be read only once; returns their SHA-256 in hex and their size.

    Exceptions raised by the pieces propagate, and nothing is stored.
    """
    path, sha256, size = _write_temporary(pieces)
    _sync(path, sha256)
    return sha256, size


@contextmanager
def storing_many() -> Iterator[StorePieces]:
    """Give a `store_pieces` for thousands of files, which are stored once the context exits.

    They are synced in parallel: one by one, each would wait for the disk alone.
    """
    with ThreadPoolExecutor(_SYNCED_AT_ONCE) as pool:
        synced: list[Future[None]] = []

        def store(pieces: Iterable[bytes]) -> tuple[str, int]:
            path, sha256, size = _write_temporary(pieces)
            synced.append(pool.submit(_sync, path, sha256))
            return sha256, size

        yield store
        for one in synced:
            one.result()


def _write_temporary(pieces: Iterable[bytes]) -> tuple[Path, str, int]:
    """Write pieces to a temporary file, not yet synced; also returns their SHA-256 and size."""
    folder = Path(settings.BLOB_DIR)
    folder.mkdir(parents=True, exist_ok=True)
    digest, size = hashlib.sha256(), 0
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
        try:
            for piece in pieces:
                digest.update(piece)
                size += file.write(piece)
            file.flush()
        except BaseException:
            Path(file.name).unlink()
            raise
    return Path(file.name), digest.hexdigest(), size


def _sync(path: Path, sha256: str) -> None:
    """Sync a written file and move it to its place, unless its bytes are stored already."""
    try:
        if _is_kept(sha256):
            path.unlink()
            return
        with path.open("rb") as file:
            os.fsync(file.fileno())
        adopt(path, sha256)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def read(sha256: str) -> bytes:
    """The bytes with this hash. Raises FileNotFoundError."""
    return path_of(sha256).read_bytes()


def open_blob(sha256: str) -> BinaryIO:
    """A stream of the bytes with this hash. Raises FileNotFoundError."""
    return path_of(sha256).open("rb")


def open_many(sha256: str) -> BinaryIO:
    """Like `open_blob`, for thousands of files: at most `_MAX_OPEN` are really open."""
    return cast(BinaryIO, io.BufferedReader(_Pooled(path_of(sha256)), _BUFFER))


def adopt(path: Path, sha256: str) -> None:
    """Move a complete, synced file from the folder of blobs to the place of its hash."""
    target = path_of(sha256)
    target.parent.mkdir(exist_ok=True)
    path.replace(target)


def remove_unfinished(before: float) -> None:
    """Remove files that killed processes were writing, if last written before a time."""
    for path in Path(settings.BLOB_DIR).glob("tmp*"):
        with suppress(FileNotFoundError):  # finished, or removed by another process
            if path.stat().st_mtime < before:
                path.unlink()


def discard(sha256: str) -> None:
    """Delete the bytes with this hash; the caller knows that nothing names them any more."""
    path_of(sha256).unlink(missing_ok=True)


class ReceivedFile(UploadedFile):  # type: ignore[type-arg]  # holds no stream
    """A completely received file, which lies beside the blobs until it is stored."""

    def __init__(self, path: Path, sha256: str, size: int, name: str | None) -> None:
        super().__init__(None, name, size=size)
        self._path, self._sha256 = path, sha256

    def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]:
        """Its bytes, always from the start: it has no position."""
        with self._path.open("rb") as file:
            while piece := file.read(chunk_size or self.DEFAULT_CHUNK_SIZE):
                yield piece

    def seek(self, offset: int, whence: int = 0) -> int:
        """Does nothing: `chunks` begins at the start."""
        return 0

    def opened(self) -> BinaryIO:
        """A stream of its bytes, before it is stored or removed."""
        return self._path.open("rb")

    def keep(self) -> tuple[str, int]:
        """Make it a blob; returns its SHA-256 in hex and its size."""
        if self._path.exists():
            adopt(self._path, self._sha256)
        return self._sha256, self.size or 0

    def close(self) -> None:
        """Remove it, unless it was stored."""
        self._path.unlink(missing_ok=True)


class Receiver(FileUploadHandler):
    """Writes the files of a request to disk, one after another."""

    _file: IO[bytes] | None = None

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        folder = Path(settings.BLOB_DIR)
        folder.mkdir(parents=True, exist_ok=True)
        self._file = tempfile.NamedTemporaryFile(dir=folder, delete=False)  # noqa: SIM115
        # Where the rest of the form can't be read, Django calls nothing.
        self._leave = weakref.finalize(self, _remove, self._file)
        self._digest = hashlib.sha256()

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        if self._file is not None:
            with self._removed_on_failure():
                self._file.write(raw_data)
            self._digest.update(raw_data)

    def file_complete(self, file_size: int) -> ReceivedFile | None:
        if self._file is None:
            return None
        path = Path(self._file.name)
        with self._removed_on_failure(), self._file as file:
            file.flush()
            os.fsync(file.fileno())
        self._leave.detach()
        self._file = None
        return ReceivedFile(path, self._digest.hexdigest(), file_size, self.file_name)

    def upload_interrupted(self) -> None:
        if self._file is not None:
            self._leave()
            self._file = None

    @contextmanager
    def _removed_on_failure(self) -> Iterator[None]:
        """Clean up if writing fails: Django calls nothing then, and a full disk would stay full."""
        try:
            yield
        except OSError:
            self.upload_interrupted()
            raise


def _remove(file: IO[bytes]) -> None:
    with suppress(OSError):  # the rest could not be written
        file.close()
    Path(file.name).unlink(missing_ok=True)


class _Pooled(io.RawIOBase):
    """A readable file that is opened when it is read, and closed when others are."""

    _open: OrderedDict[Path, int] = OrderedDict()
    _lock = threading.Lock()

    def __init__(self, path: Path) -> None:
        self._path, self._place = path, 0
        self._size = path.stat().st_size

    @property
    def name(self) -> str:
        """Its path: what can't be read from a stream (a database) is opened there."""
        return str(self._path)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        origin = (0, self._place, self._size)[whence]
        self._place = max(0, origin + offset)
        return self._place

    def readinto(self, buffer: "memoryview | bytearray") -> int:  # type: ignore[override]
        with self._lock:
            # pread, since readers at different positions share a descriptor.
            data = os.pread(self._descriptor(), len(buffer), self._place)
        buffer[: len(data)] = data
        self._place += len(data)
        return len(data)

    def _descriptor(self) -> int:
        """The open file; the one that was read longest ago is closed to make room."""
        known = self._open.pop(self._path, None)
        if known is None:
            known = os.open(self._path, os.O_RDONLY)
            while len(self._open) >= _MAX_OPEN:
                os.close(self._open.popitem(last=False)[1])
        self._open[self._path] = known
        return known
