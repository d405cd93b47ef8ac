"""Files that hold keys are cleaned before they are kept: recordings of requests."""

from typing import BinaryIO

from threads.domain.formats.sample import HEAD
from threads.domain.formats.traffic.cleaning import cleaned, needs_cleaning
from threads.store import blobs
from threads.store.blobs import ReceivedFile

from .archives import KeptFile


def store(stream: BinaryIO) -> tuple[str, int]:
    """Keep what can be read again, cleaned where it must be: its SHA-256 in hex and its size."""
    if _needs_cleaning(stream):
        return blobs.store_pieces(cleaned(stream))
    return blobs.store_stream(stream)


def keep(file: ReceivedFile) -> tuple[str, int]:
    """The same of a file that has come with a request."""
    with file.opened() as stream:
        if _needs_cleaning(stream):
            return blobs.store_pieces(cleaned(stream))
    return file.keep()


def _needs_cleaning(stream: BinaryIO) -> bool:
    stream.seek(0)
    return needs_cleaning(stream.read(HEAD))


def without_secrets(kept: KeptFile) -> KeptFile:
    """A recording out of an archive, cleaned; nothing of what it was stays."""
    with blobs.open_blob(kept.sha256) as stream:
        sha256, size = blobs.store_pieces(cleaned(stream))
    if sha256 != kept.sha256:
        blobs.discard(kept.sha256)
    return KeptFile(kept.name, sha256, size)
