"""References: what a text names that can't be guessed, and where else it stands.

Taken for one are: a path of two or more segments; a file's name with its extension; a URL; a
number of 4 digits or more; a hash of 7 hexadecimal digits or more; an identifier of 8
characters or more with an inner capital, digit or underscore. The longest counts: a path is one
reference, not its segments too. But it *stands* wherever it is read, also as a piece of a longer
one: `views.py` in `src/app/views.py`, the first digits of a hash in the whole of it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import chain
from typing import NamedTuple

from operations.domain.text.extensions import EXTENSIONS

from .runs import Runs, Texts, cut, is_plain, text_of


class ReferenceType(StrEnum):
    """What a reference is."""

    PATH = "path"
    FILE = "file"
    URL = "url"
    NUMBER = "number"
    HASH = "hash"
    IDENTIFIER = "identifier"

    __hash__ = (
        str.__hash__
    )  # that of an enum runs in Python, and takes five times as long


class Reference(NamedTuple):
    """What a text names. Two with the same `name` are the same, however they are written."""

    kind: ReferenceType
    name: str


LETTER = "A-Za-z0-9_\u00c0-\u024f\u0370-\u052f"
URL = re.compile(r"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]{1,15}://[^\s,\\]{1,2000}")
_ESCAPED = re.compile(r'\\+[nrtfbv0"]?')
_DRIVE = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]:\\{1,2}(?=[\w.])")
PIECES = re.compile(rf"[{LETTER}.@+~/-]+").findall
WORDS = re.compile(r"[A-Za-z0-9_]+").findall
_WORD = re.compile(r"[A-Za-z0-9_]+").fullmatch
GROUPED = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:,\d{3})+(?!\w|,\d)")
UUID = re.compile(
    r"(?<![0-9A-Za-z])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9A-Za-z])",
    re.IGNORECASE,
)
_HAS_LETTERS = re.compile("[A-Za-z\u00c0-\u052f]").search
_NUMBER = re.compile(r"\d{4,}").fullmatch
HASH = re.compile(r"(?:0[xX])?[0-9A-Fa-f]{7,}").fullmatch
_IDENTIFIER = re.compile(
    r"(?=[A-Za-z0-9_]{8})[A-Za-z_](?:[A-Za-z]*[0-9_]|[A-Za-z]*(?:(?<=[a-z])[A-Z]|[A-Z](?=[a-z])))"
    r"[A-Za-z0-9_]*"
).fullmatch
ENDS = ".,:;!?-+~@"
_SHORTEST = 4
"""Digits of a number: no hash and no identifier is as short."""
_LONGEST = 500
"""Characters of a reference: what is longer is data that nobody names."""


class References:
    """Finds what texts name; remembers the runs that it has seen.

    What comes first is named first: an order of its own, though it knows the runs of another one.
    """

    def __init__(self, other: "References | None" = None) -> None:
        self._named: _Named = _Named() if other is None else other._named
        self._runs = Runs(self._named.__getitem__)

    def of(self, texts: Iterable[str]) -> dict[Reference, str]:
        """What texts name, each with the words in which it is named first."""
        found: dict[Reference, str] = {}
        for reference, words in self._runs.of(cut(texts)):
            if len(words) <= _LONGEST:
                found.setdefault(reference, words)
        return found

    def read(self, texts: Iterable[str]) -> Texts:
        """Texts in which something is looked for more than once."""
        return Texts(texts, self._named.__getitem__)


_Naming = tuple[Reference, str]
"""A reference, with the words in which it is named."""


class _Named(dict[bytes, Sequence[_Naming]]):
    """What runs name, and what in them is too long to be named."""

    def __init__(self) -> None:
        self._words = _Words()

    def __missing__(self, run: bytes) -> Sequence[_Naming]:
        named = self[run] = () if is_plain(run) else self._named_in(text_of(run))
        return named

    def _named_in(self, run: str) -> Sequence[_Naming]:
        if word := word_of(run):
            return self._words[word]
        return tuple(_all_named(run, self._words))


class _Words(dict[str, Sequence[_Naming]]):
    """What words name that are one number, hash or identifier."""

    def __missing__(self, word: str) -> Sequence[_Naming]:
        kind = _kind_of(word)
        named = () if kind is None else ((Reference(kind, word), word),)
        self[word] = named
        return named


def word_of(run: str) -> str:
    """The one word that a run is, but for marks around it; empty where it is more than that.

    Most runs are such words, which need no looking for paths and URLs.
    """
    word = run.strip(ENDS)
    return word if _WORD(word) else ""


def _all_named(run: str, known: _Words) -> Iterator[_Naming]:
    run = plain(run) if "\\" in run else run
    if "://" in run:
        for url in URL.findall(run):
            name = url.rstrip(ENDS)
            yield Reference(ReferenceType.URL, name), name
        run = URL.sub(" ", run)
    for uuid in UUID.findall(run) if "-" in run else ():
        yield Reference(ReferenceType.HASH, uuid.lower()), uuid
        run = run.replace(uuid, " ")
    for number in GROUPED.findall(run) if "," in run else ():
        yield Reference(ReferenceType.NUMBER, number.replace(",", "")), number
        run = run.replace(number, " ")
    if "/" not in run and "." not in run:
        yield from chain.from_iterable(map(known.__getitem__, WORDS(run)))
        return
    for piece in PIECES(run):
        segments = segments_of(piece)
        if len(segments) > 1 and _HAS_LETTERS(piece):
            written = piece.lstrip("+-").rstrip(ENDS + "/")
            yield Reference(ReferenceType.PATH, "/".join(segments)), written
            continue
        for segment in segments:
            if _is_file(segment):
                yield Reference(ReferenceType.FILE, segment), segment
            else:
                yield from chain.from_iterable(map(known.__getitem__, WORDS(segment)))


def _kind_of(word: str) -> ReferenceType | None:
    if len(word) < _SHORTEST:
        return None
    if _NUMBER(word):
        return ReferenceType.NUMBER
    if HASH(word):
        return ReferenceType.HASH
    return ReferenceType.IDENTIFIER if _IDENTIFIER(word) else None


def _is_file(word: str) -> bool:
    stem, dot, extension = word.rpartition(".")
    return bool(dot and extension.lower() in EXTENSIONS and stem.strip("._-@+~"))


def plain(run: str) -> str:
    """A run with backslashes without those of line breaks, and with a drive's slashes turned."""
    if drive := _DRIVE.search(run):
        start = drive.start()
        rest = re.sub(r"\\{1,2}", "/", run[start + 2 :])
        return f"{_ESCAPED.sub(' ', run[:start])} {run[start]}{rest}"
    return _ESCAPED.sub(" ", run)


def segments_of(piece: str) -> list[str]:
    """The segments of a path, without those that say where it begins."""
    piece = piece.lstrip("+-")
    if "/" not in piece:
        segment = piece.rstrip(ENDS)
        return [segment] if segment else []
    segments = [segment for segment in piece.split("/") if segment not in ("", ".")]
    if segments:
        segments[-1] = segments[-1].rstrip(ENDS)
        if not segments[-1]:
            segments.pop()
    return segments
