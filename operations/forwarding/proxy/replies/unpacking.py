"""Decompresses bodies piece by piece.

Whatever is sent, the cost grows with its bytes, and the output is bounded.
"""

import zlib
from collections.abc import Callable

import zstandard

_MEMBER = b"\x1f\x8b"
"""The first bytes of a gzip member."""
_AT_ONCE = 1 << 10
"""How many bytes are decompressed at once; data after a stream's end is copied each time."""

_ZSTD_AT_ONCE = 1 << 8
"""The same for zstandard, in which a block of four bytes may stand for 128 KB."""
UNREADABLE = (zlib.error, zstandard.ZstdError)
"""The errors raised for data that isn't in the encoding."""

Unpack = Callable[[bytes], bytes]


def unpacking(encoding: str, most: int) -> Unpack | None:
    """A decompressor for a `Content-Encoding`; None if it isn't supported.

    It returns at most about `most` bytes per piece. It raises one of `UNREADABLE` for data that
    isn't in the encoding.
    """
    match encoding.strip().lower():
        case "" | "identity":
            return bytes
        case "gzip" | "x-gzip":
            return _inflating(16 + zlib.MAX_WBITS, most, members=True)
        case "deflate":
            return _deflate(most)
        case "zstd":
            return _zstandard(most)
    return None


def _inflating(bits: int, most: int, *, members: bool = False) -> Unpack:
    """`members`: several streams may follow one another. Any other trailing data is ignored."""
    stream, is_over = zlib.decompressobj(bits), False

    def unpack(chunk: bytes) -> bytes:
        nonlocal stream, is_over
        found: list[bytes] = []
        left = most
        for start in range(0, len(chunk), _AT_ONCE):
            piece = chunk[start : start + _AT_ONCE]
            while piece and not is_over and left > 0:
                if stream.eof:
                    is_over = not (members and _MEMBER.startswith(piece[:2]))
                    stream = zlib.decompressobj(bits)
                    continue
                found.append(stream.decompress(piece, left))
                left -= len(found[-1])
                piece = stream.unused_data
        return b"".join(found)

    return unpack


def _deflate(most: int) -> Unpack:
    """Accepts data with the required header, or without it, as some servers send it."""
    head, unpack = b"", None

    def take(chunk: bytes) -> bytes:
        nonlocal head, unpack
        if unpack is None:
            head += chunk
            if len(head) < 2:
                return b""
            has_header = head[0] & 15 == 8 and int.from_bytes(head[:2]) % 31 == 0
            bits = zlib.MAX_WBITS if has_header else -zlib.MAX_WBITS
            chunk, unpack = head, _inflating(bits, most)
        return unpack(chunk)

    return take


def _zstandard(most: int) -> Unpack:
    """Reads all frames, one after the other."""
    stream = zstandard.ZstdDecompressor().decompressobj(read_across_frames=True)

    def unpack(chunk: bytes) -> bytes:
        found: list[bytes] = []
        left = most
        for start in range(0, len(chunk), _ZSTD_AT_ONCE):
            if left <= 0:
                break
            found.append(stream.decompress(chunk[start : start + _ZSTD_AT_ONCE]))
            left -= len(found[-1])
        return b"".join(found)

    return unpack
