"""Bytes kept under their SHA-256 in the data folder: source files, images, attachments.

A file is written beside its place, synced and renamed, so that it is there whole or not at
all. Writing comes before the row that names it; a file without a row is harmless.

Files of a request are written so as they come, thousands in one. Django's own handlers keep
small ones in memory and large ones open; neither does for a folder of transcripts. Here a file
is written and hashed in one go and closed. What nobody keeps is removed when the request ends.
"""

import hashlib
import io
import os
import re
import tempfile
import threading
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
_MOST_OPEN = 64
"""Files that `open_many` keeps open at once."""

StorePieces = Callable[[Iterable[bytes]], tuple[str, int]]
"""Keeps bytes that can be had once only; the answer is their SHA-256 in hex and their size."""


def path_of(sha256: str) -> Path:
    """Where the bytes with this hash lie, if they are kept.

    Raises FileNotFoundError for what is no hash: it could name any file.
    """
    if not _SHA256.fullmatch(sha256):
        raise FileNotFoundError("This is not a SHA-256.")
    return Path(settings.BLOB_DIR) / sha256[:2] / sha256


def store(data: bytes) -> str:
    """Keep these bytes; the answer is their SHA-256 in hex."""
    sha256 = hashlib.sha256(data).hexdigest()
    if not _is_kept(sha256):
        store_pieces([data])
    return sha256


def store_stream(stream: BinaryIO) -> tuple[str, int]:
    """Keep what a seekable stream holds; the answer is its SHA-256 in hex and its size."""

    def pieces() -> Iterator[bytes]:
        stream.seek(0)
        return iter(lambda: stream.read(_CHUNK), b"")

    return _store_new(pieces)


def store_beginning(path: Path, size: int) -> tuple[str, int]:
    """Keep the first bytes of a file that may grow meanwhile."""

    def pieces() -> Iterator[bytes]:
        left = size
        with path.open("rb") as file:
            while left and (piece := file.read(min(left, _CHUNK))):
                left -= len(piece)
                yield piece

    return _store_new(pieces)


def _store_new(pieces: Callable[[], Iterable[bytes]]) -> tuple[str, int]:
    """Keep what isn't kept yet: that is not written again, though read twice where it is new."""
    digest, size = hashlib.sha256(), 0
    for piece in pieces():
        digest.update(piece)
        size += len(piece)
    sha256 = digest.hexdigest()
    return (sha256, size) if _is_kept(sha256) else store_pieces(pieces())


def _is_kept(sha256: str) -> bool:
    """Whether there are such bytes already; they are then as young as if they were written now.

    What no row names yet is swept once it is old: the row of who keeps them is still to come.
    """
    try:
        os.utime(path_of(sha256))
    except FileNotFoundError:
        return False
    return True


def store_pieces(pieces: Iterable[bytes]) -> tuple[str, int]:
    """Keep bytes that can be had once only; the answer is their SHA-256 in hex and their size.

    What the pieces raise passes through, and nothing is kept.
    """
    path, sha256, size = _written(pieces)
    _sync(path, sha256)
    return sha256, size


@contextmanager
def many() -> Iterator[StorePieces]:
    """Gives a `store_pieces` for thousands of files, which are kept once this is left.

    They are synced side by side: one by one, each would wait for the disk alone.
    """
    with ThreadPoolExecutor(_SYNCED_AT_ONCE) as pool:
        synced: list[Future[None]] = []

        def store(pieces: Iterable[bytes]) -> tuple[str, int]:
            path, sha256, size = _written(pieces)
            synced.append(pool.submit(_sync, path, sha256))
            return sha256, size

        yield store
        for one in synced:
            one.result()


def _written(pieces: Iterable[bytes]) -> tuple[Path, str, int]:
    """A file beside the blobs that holds the pieces, not yet synced; their SHA-256 and size."""
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
    """Keep a written file, whose bytes are on the disk before it is; not a second time."""
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
    """As `open_blob`, for thousands at a time: no more than `_MOST_OPEN` are really open."""
    return cast(BinaryIO, io.BufferedReader(_Pooled(path_of(sha256)), _BUFFER))


def adopt(path: Path, sha256: str) -> None:
    """Take over a file that lies in the folder of blobs, whole and synced, with this hash."""
    target = path_of(sha256)
    target.parent.mkdir(exist_ok=True)
    path.replace(target)


def remove_unfinished(before: float) -> None:
    """Remove what was being written when a process was killed, by the time of its last write."""
    for path in Path(settings.BLOB_DIR).glob("tmp*"):
        with suppress(FileNotFoundError):  # finished, or removed by another process
            if path.stat().st_mtime < before:
                path.unlink()


def discard(sha256: str) -> None:
    """Forget the bytes with this hash; the caller knows that nothing names them any more."""
    path_of(sha256).unlink(missing_ok=True)


class ReceivedFile(UploadedFile):  # type: ignore[type-arg]  # holds no stream
    """A file that has come whole, and lies beside the blobs until it is kept."""

    def __init__(self, path: Path, sha256: str, size: int, name: str | None) -> None:
        super().__init__(None, name, size=size)
        self._path, self._sha256 = path, sha256

    def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]:
        """Its bytes, always from the start: there is no place in it to be kept."""
        with self._path.open("rb") as file:
            while piece := file.read(chunk_size or self.DEFAULT_CHUNK_SIZE):
                yield piece

    def seek(self, offset: int, whence: int = 0) -> int:
        """Nothing to be done: `chunks` begins at the start."""
        return 0

    def opened(self) -> BinaryIO:
        """A stream of its bytes, before it is kept or removed."""
        return self._path.open("rb")

    def keep(self) -> tuple[str, int]:
        """Make a blob of it; the answer is its SHA-256 in hex and its size."""
        if self._path.exists():
            adopt(self._path, self._sha256)
        return self._sha256, self.size or 0

    def close(self) -> None:
        """Remove it, unless it was kept."""
        self._path.unlink(missing_ok=True)


class Receiver(FileUploadHandler):
    """Writes the files of a request to the disk, one after another."""

    _file: IO[bytes] | None = None

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        folder = Path(settings.BLOB_DIR)
        folder.mkdir(parents=True, exist_ok=True)
        self._file = tempfile.NamedTemporaryFile(dir=folder, delete=False)  # noqa: SIM115
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
        self._file = None
        return ReceivedFile(path, self._digest.hexdigest(), file_size, self.file_name)

    def upload_interrupted(self) -> None:
        if self._file is not None:
            with suppress(OSError):  # what was left to write
                self._file.close()
            Path(self._file.name).unlink(missing_ok=True)
            self._file = None

    @contextmanager
    def _removed_on_failure(self) -> Iterator[None]:
        """Django calls nothing where writing fails; a disk that is full would stay so."""
        try:
            yield
        except OSError:
            self.upload_interrupted()
            raise


class _Pooled(io.RawIOBase):
    """A file for reading that is opened whenever it is read, and closed when others are."""

    _open: OrderedDict[Path, int] = OrderedDict()
    _lock = threading.Lock()

    def __init__(self, path: Path) -> None:
        self._path, self._place = path, 0
        self._size = path.stat().st_size

    @property
    def name(self) -> str:
        """Where it lies: what can't be read from a stream (a database) is opened there."""
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
            # pread, for a descriptor is shared by readers at different places.
            data = os.pread(self._descriptor(), len(buffer), self._place)
        buffer[: len(data)] = data
        self._place += len(data)
        return len(data)

    def _descriptor(self) -> int:
        """The open file; the one that was read longest ago makes room for it."""
        known = self._open.pop(self._path, None)
        if known is None:
            known = os.open(self._path, os.O_RDONLY)
            while len(self._open) >= _MOST_OPEN:
                os.close(self._open.popitem(last=False)[1])
        self._open[self._path] = known
        return known
