"""The stored form of a piece: its JSON, compressed."""

import json
import zlib
from typing import Any

import zstandard

PURGED = {"content": "Purged"}
"""What is read of a piece whose contents were destroyed."""
_LEVEL = 1
"""The compression level: fast, and good enough for most of what messages say."""
_ZSTANDARD = zstandard.FRAME_HEADER


def packed(body: bytes) -> bytes:
    """Compress the JSON of a piece for storage."""
    return zstandard.ZstdCompressor(level=_LEVEL).compress(body)


def unpacked(content: bytes) -> Any:
    """The value of a stored piece; PURGED if it was destroyed."""
    if not content:
        return PURGED
    if content.startswith(_ZSTANDARD):
        return json.loads(zstandard.ZstdDecompressor().decompress(content))
    return json.loads(
        zlib.decompress(content)
    )  # from before zstandard, which takes a third
