"""Reads plain text piece by piece: the places of its lines, and the text of a span."""

import re
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from threads.domain.transcript import Warning

from . import json_text, source
from .source import ByteSpan

KEPT = 4096
"""How many bytes of a line are kept; its whole text is read by its place."""
_SEVERAL_BYTES = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
"""A character that takes several bytes in UTF-8, which text in another encoding hardly holds."""


class TextLine(NamedTuple):
    """A line of text. `span` includes the line end; `data` is the beginning, without line end."""

    number: int
    span: ByteSpan
    data: bytes


def lines(
    file: BinaryIO, span: ByteSpan | None = None, number: int = 0
) -> Iterator[TextLine]:
    """The lines of a file, or of a span of it that is preceded by `number` lines."""
    begin = offset = span.start if span else 0
    end = span.end if span else None
    size, held = 0, b""
    while True:
        file.seek(offset)
        chunk = file.read(
            source.CHUNK if end is None else min(source.CHUNK, end - offset)
        )
        offset += len(chunk)
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            number += 1
            size += len(piece) + 1
            data = (held + piece[:KEPT])[:KEPT].removesuffix(b"\r")
            yield TextLine(
                number, ByteSpan(begin, begin + size), _unmarked(data, begin)
            )
            begin, size, held = begin + size, 0, b""
        size += len(rest)
        held = (held + rest[:KEPT])[:KEPT]
        if not chunk:
            break
    if size:
        yield TextLine(
            number + 1, ByteSpan(begin, begin + size), _unmarked(held, begin)
        )


def _unmarked(data: bytes, begin: int) -> bytes:
    """A line without the byte order mark that a file may begin with."""
    return data if begin else data.removeprefix(json_text.BOM)


def words(
    file: BinaryIO, span: ByteSpan, line: int, warnings: list[Warning]
) -> str | None:
    """The text of a span, with LF line ends; None, with a warning, if it is too long.

    A warning also says if it is not UTF-8. Then it is Windows-1252, of which Latin-1 is a part; but
    if there is UTF-8 in it or at the top of the file, its damaged bytes are replaced.
    """
    if span.end - span.start > source.MAX_PIECE:
        reason = source.too_long()
        said = f"From line {line} on: {reason.message}"
        warnings.append(Warning(reason.code, said, line))
        return None
    file.seek(span.start)
    data = file.read(span.end - span.start)
    try:
        text = json_text.decode(data)
    except ValueError:
        file.seek(0)
        is_damaged = bool(_SEVERAL_BYTES.search(file.read(source.CHUNK) + data))
        done = "damaged bytes were replaced" if is_damaged else "read as Windows-1252"
        said = f"From line {line} on, the text is not UTF-8: {done}."
        warnings.append(Warning("not_utf8", said, line))
        text = data.decode("utf-8" if is_damaged else "cp1252", "replace")
    return text.replace("\r\n", "\n")


def word(escaped: str) -> str:
    """Part of a line that was decoded with `surrogateescape`, as text."""
    data = escaped.encode("utf-8", "surrogateescape")
    is_utf_8 = escaped.isprintable() or _SEVERAL_BYTES.search(data)
    return data.decode("utf-8" if is_utf_8 else "cp1252", "replace")
