"""A piece of what was sent as it is kept: its JSON, compressed."""

import json
import zlib
from typing import Any

import zstandard

PURGED = {"content": "Purged"}
"""What is read of a piece whose words were destroyed."""
_LEVEL = 1
"""Of compression: most of what a message says is stored well enough by it, and soon."""
_ZSTANDARD = zstandard.FRAME_HEADER


def packed(body: bytes) -> bytes:
    """The JSON of a piece, for its row."""
    return zstandard.ZstdCompressor(level=_LEVEL).compress(body)


def unpacked(content: bytes) -> Any:
    """What a row's piece says; PURGED where it was destroyed."""
    if not content:
        return PURGED
    if content.startswith(_ZSTANDARD):
        return json.loads(zstandard.ZstdDecompressor().decompress(content))
    return json.loads(
        zlib.decompress(content)
    )  # kept before zstandard, which takes a third
