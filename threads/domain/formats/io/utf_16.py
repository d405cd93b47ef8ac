"""Rewrites UTF-16 as UTF-8, in which all else is read.

Windows PowerShell 5 writes UTF-16 wherever the output of a program is redirected to a file.
"""

import codecs
from collections.abc import Iterator
from typing import BinaryIO

from threads.domain.formats.io import source

_BEGINNINGS = {
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
    b"{\0": "utf-16-le",
    b"[\0": "utf-16-le",
    b"\0{": "utf-16-be",
    b"\0[": "utf-16-be",
}
"""How UTF-16 begins: with a byte order mark, or with JSON without one."""
UTF_32 = (
    *(codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE),
    *(b"{\0\0\0", b"\0\0\0{", b"[\0\0\0", b"\0\0\0["),
)
"""How UTF-32 begins, in the same two ways."""


def encoding_of(head: bytes) -> str | None:
    """The form of UTF-16 that a file has, judged by its first bytes; None if it has none."""
    return None if head[:4] in UTF_32 else _BEGINNINGS.get(head[:2])


def pieces(file: BinaryIO, encoding: str) -> Iterator[bytes]:
    """The whole file as UTF-8; what is damaged is read as U+FFFD."""
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    file.seek(0)
    while piece := file.read(source.CHUNK):
        yield decoder.decode(piece).encode()
    yield decoder.decode(b"", final=True).encode()
