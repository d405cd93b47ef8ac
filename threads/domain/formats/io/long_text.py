"""Reads pieces of JSON that are too long for memory, with their longest texts cut short.

A line of a transcript may have hundreds of megabytes, nearly always because of one text: the
output of a tool. Parsed, counted and stored whole, it would take ten times its size in memory.
The imported file is kept byte for byte in any case, and a message records its place in it.
"""

import re
from typing import BinaryIO
from weakref import WeakKeyDictionary

LONG = 16 << 20
"""The size in bytes above which the long texts of a line or an element are cut."""
KEPT = 1 << 20
"""The size in bytes of the longest text in it that is kept whole."""
MAX_ENCODED_BYTES = 32 << 20
"""The most bytes of base64 that are kept whole: a picture can't be cut."""
HEAD = 64 << 10
"""How many bytes are kept of a text that is cut."""
_CHUNK = 1 << 20

_INSIDE = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
_WHOLE = re.compile(
    rb"(?:[^\\]++|\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u(?![dD][89a-fA-F])....|\\[^u])*+",
    re.DOTALL,
)
"""The part of a text before an escape that is cut off."""
_BASE64 = re.compile(rb"(?:data:[\w/+.-]+;base64,)?[A-Za-z0-9+/_=-]+")

_told: WeakKeyDictionary[BinaryIO, dict[int, int]] = WeakKeyDictionary()


def cut(source: BinaryIO, start: int, end: int, most: int) -> bytes | None:
    """The JSON at a place of a file with its long texts cut; None if more than `most` is left.

    Never holds more than a few chunks of the file besides the result.
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
    """Map of the start of each piece with cut texts to the number of bytes left out."""
    return _told.setdefault(source, {})


class _Cutting:
    """Cuts the long texts of JSON that is passed through chunk by chunk."""

    def __init__(self) -> None:
        self.out = bytearray()
        self.left_out = 0
        self._inside = False
        """Whether the last chunk ended inside a text."""
        self._text = bytearray()
        """The kept part of that text, or of the last one."""
        self._dropped = 0
        self._rest = b""
        """A backslash whose escaped character comes with the next chunk."""

    def take(self, chunk: bytes) -> None:
        """Process one more chunk."""
        chunk, self._rest = self._rest + chunk, b""
        at = 0
        while at < len(chunk):
            at = self._pass_text(chunk, at) if self._inside else self._begin(chunk, at)

    def done(self) -> bytes:
        """The resulting JSON; a text cut off by the end stays cut off."""
        return bytes(self.out + self._text if self._inside else self.out)

    def _begin(self, chunk: bytes, at: int) -> int:
        """Copy everything up to the next text, with its opening quote."""
        quote = chunk.find(b'"', at)
        end = quote + 1 if quote >= 0 else len(chunk)
        self.out += chunk[at:end]
        if quote >= 0:
            self._inside, self._text, self._dropped = True, bytearray(), 0
        return end

    def _pass_text(self, chunk: bytes, at: int) -> int:
        """Process the text, and its closing quote if that is in this chunk."""
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
        if len(self._text) > MAX_ENCODED_BYTES or not is_encoded:
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
    """The beginning of a text, shortened so that no escape and no character is cut."""
    match = _WHOLE.match(head)
    head = match[0] if match else b""
    while head and head[-1] & 0xC0 == 0x80:
        head = head[:-1]
    return head[:-1] if head and head[-1] >= 0xC0 else head
