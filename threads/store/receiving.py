"""Files on their way in: written to the data folder as they come, thousands in one request.

Django's own handlers keep small files in memory and large ones open; neither does for a folder
of transcripts. Here a file is written and hashed in one go and closed. What nobody keeps is
removed when the request ends.
"""

import hashlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler

from . import blobs


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

    def keep(self) -> tuple[str, int]:
        """Make a blob of it; the answer is its SHA-256 in hex and its size."""
        if self._path.exists():
            blobs.adopt(self._path, self._sha256)
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
            self._file.write(raw_data)
            self._digest.update(raw_data)

    def file_complete(self, file_size: int) -> ReceivedFile | None:
        if self._file is None:
            return None
        with self._file as file:
            file.flush()
            os.fsync(file.fileno())
        self._file = None
        return ReceivedFile(
            Path(file.name), self._digest.hexdigest(), file_size, self.file_name
        )

    def upload_interrupted(self) -> None:
        if self._file is not None:
            self._file.close()
            Path(self._file.name).unlink(missing_ok=True)
