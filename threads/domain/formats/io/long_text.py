"""Pieces of JSON too long to be held: read with their longest texts cut to a beginning.

A line of a transcript may be hundreds of megabytes, nearly always for one text in it: the
output of a tool. Parsed, counted and stored whole it would take the memory of ten of its size.
The imported file is kept byte for byte in any case, and a message names its place in it.
"""

import re
from typing import BinaryIO
from weakref import WeakKeyDictionary

LONG = 16 << 20
"""Bytes of a line or an element from which on its long texts are cut."""
KEPT = 1 << 20
"""Bytes of the longest text that is kept whole in one."""
MOST_ENCODED = 32 << 20
"""Bytes of base64 that are kept whole: a picture can't be cut."""
HEAD = 64 << 10
"""Bytes that are kept of a text that is cut."""
_CHUNK = 1 << 20

_INSIDE = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
_WHOLE = re.compile(
    rb"(?:[^\\]++|\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u(?![dD][89a-fA-F])....|\\[^u])*+",
    re.DOTALL,
)
"""What of a text stands before an escape that is cut."""
_BASE64 = re.compile(rb"(?:data:[\w/+.-]+;base64,)?[A-Za-z0-9+/_=-]+")

_told: WeakKeyDictionary[BinaryIO, dict[int, int]] = WeakKeyDictionary()


def cut(source: BinaryIO, start: int, end: int, most: int) -> bytes | None:
    """The JSON at a place of a file with its long texts cut; None where more than `most` is left.

    Never more than a few chunks of the file are held beside what is given.
    """
    cutting = _Cutting()
    place = start
    while place < end:
        source.seek(place)
        chunk = source.read(min(_CHUNK, end - place))
        if not chunk:
            break
        place += len(chunk)
        cutting.take(chunk)
        if len(cutting.out) > most:
            return None
    data = cutting.done()
    if len(data) > most:
        return None
    if cutting.left_out:
        _told.setdefault(source, {})[start] = cutting.left_out
    return data.strip()


def cuts(source: BinaryIO) -> dict[int, int]:
    """Where pieces of a file begin of which texts were cut, and how many bytes were left out."""
    return _told.setdefault(source, {})


class _Cutting:
    """JSON on its way through, chunk by chunk."""

    def __init__(self) -> None:
        self.out = bytearray()
        self.left_out = 0
        self._inside = False
        """Whether the last chunk ended within a text."""
        self._text = bytearray()
        """What is kept of that text, or of the last."""
        self._dropped = 0
        self._rest = b""
        """A backslash whose second half comes with the next chunk."""

    def take(self, chunk: bytes) -> None:
        """Pass one more chunk."""
        chunk, self._rest = self._rest + chunk, b""
        at = 0
        while at < len(chunk):
            at = self._pass_text(chunk, at) if self._inside else self._begin(chunk, at)

    def done(self) -> bytes:
        """What is left of it; a text that the end cuts stays cut."""
        return bytes(self.out + self._text if self._inside else self.out)

    def _begin(self, chunk: bytes, at: int) -> int:
        """Pass what stands before the next text, and its quote."""
        quote = chunk.find(b'"', at)
        end = quote + 1 if quote >= 0 else len(chunk)
        self.out += chunk[at:end]
        if quote >= 0:
            self._inside, self._text, self._dropped = True, bytearray(), 0
        return end

    def _pass_text(self, chunk: bytes, at: int) -> int:
        """Pass the text, and its quote if that is here."""
        match = _INSIDE.match(chunk, at)
        end = match.end() if match else at
        self._keep(chunk[at:end])
        if chunk[end : end + 1] == b'"':
            self._end_text()
            return end + 1
        self._rest = chunk[end:]  # nothing, or a backslash
        return len(chunk)

    def _keep(self, piece: bytes) -> None:
        if self._dropped:
            self._dropped += len(piece)
            return
        self._text += piece
        if len(self._text) <= KEPT:
            return
        is_encoded = bool(_BASE64.fullmatch(self._text[:HEAD]))
        if len(self._text) > MOST_ENCODED or not is_encoded:
            head = _beginning(bytes(self._text[:HEAD]))
            self._dropped = len(self._text) - len(head)
            self._text = bytearray(head)

    def _end_text(self) -> None:
        self.out += self._text
        if self._dropped:
            said = f"\\n\\n[… {self._dropped:,} more bytes of this text are in the imported file.]"
            self.out += said.encode()
            self.left_out += self._dropped
        self.out += b'"'
        self._inside = False


def _beginning(head: bytes) -> bytes:
    """A beginning of a text that cuts no escape and no character."""
    match = _WHOLE.match(head)
    head = match[0] if match else b""
    while head and head[-1] & 0xC0 == 0x80:
        head = head[:-1]
    return head[:-1] if head and head[-1] >= 0xC0 else head
