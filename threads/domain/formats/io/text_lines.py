"""Reads plain text piece by piece: the places of its lines, and the text of a span."""

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from threads.domain.transcript import Warning

from . import json_text, source
from .source import ByteSpan

KEPT = 4096
"""How many bytes of a line are kept; its whole text is read by its place."""


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

    Bytes that are not UTF-8 are replaced, with a warning.
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
        said = f"From line {line} on, the text is not UTF-8."
        warnings.append(Warning("not_utf8", said, line))
        text = data.decode("utf-8", "replace")
    return text.replace("\r\n", "\n")
