"""Bodies that come packed, unpacked piece by piece.

Whatever is sent, the cost grows with its bytes and what is given back is bounded.
"""

import zlib
from collections.abc import Callable

_MEMBER = b"\x1f\x8b"
"""How a member of gzip begins."""
_AT_ONCE = 1 << 10
"""Bytes that are unpacked at once: what stands behind a stream's end is copied with each."""

Unpack = Callable[[bytes], bytes]


def unpacking(encoding: str, most: int) -> Unpack | None:
    """What unpacks an encoding (`Content-Encoding`); None for one that we can't.

    Of a piece it gives at most about `most` bytes. It raises zlib.error for what isn't packed so.
    """
    match encoding.strip().lower():
        case "" | "identity":
            return bytes
        case "gzip" | "x-gzip":
            return _inflating(16 + zlib.MAX_WBITS, most, members=True)
        case "deflate":
            return _deflate(most)
    return None


def _inflating(bits: int, most: int, *, members: bool = False) -> Unpack:
    """`members`: several streams may stand behind one another. What else does is left out."""
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
    """With the header that it is to have, or without, as some servers send it."""
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
