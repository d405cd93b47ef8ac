"""Removes API keys from recordings of requests before they are stored."""

from typing import BinaryIO

from threads.domain.formats.sample import HEAD
from threads.domain.formats.traffic.cleaning import clean, needs_cleaning
from threads.store import blobs
from threads.store.blobs import ReceivedFile

from .archives import KeptFile


def store(stream: BinaryIO) -> tuple[str, int]:
    """Store a seekable file, cleaned if necessary; returns its SHA-256 in hex and its size."""
    if _needs_cleaning(stream):
        return blobs.store_pieces(clean(stream))
    return blobs.store_stream(stream)


def keep(file: ReceivedFile) -> tuple[str, int]:
    """Like `store`, for a file received with a request."""
    with file.opened() as stream:
        if _needs_cleaning(stream):
            return blobs.store_pieces(clean(stream))
    return file.keep()


def _needs_cleaning(stream: BinaryIO) -> bool:
    stream.seek(0)
    return needs_cleaning(stream.read(HEAD))


def without_secrets(kept: KeptFile) -> KeptFile:
    """Clean a recording from an archive; the uncleaned bytes are discarded."""
    with blobs.open_blob(kept.sha256) as stream:
        sha256, size = blobs.store_pieces(clean(stream))
    if sha256 != kept.sha256:
        blobs.discard(kept.sha256)
    return KeptFile(kept.name, sha256, size)
