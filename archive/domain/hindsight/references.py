"""References: names in a text that cannot be guessed.

A reference is one of: a path of two or more segments; a file name with its extension; a URL; a
number of 4 digits or more; a hash of 7 hexadecimal digits or more; an identifier of 8
characters or more with an inner capital, digit or underscore. The longest match counts: a path is
one reference, and its segments are none. But a reference *occurs* wherever it can be read, also
within a longer one: `views.py` in `src/app/views.py`, an abbreviated hash in the full one.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from itertools import chain
from typing import NamedTuple

from operations.domain.text.extensions import EXTENSIONS

from .runs import (
    UUID_LENGTH,
    Texts,
    bare,
    cut,
    encoded,
    is_everyday,
    is_of_words,
    text_of,
    words_in,
)


class ReferenceType(StrEnum):
    """The kind of a reference."""

    PATH = "path"
    FILE = "file"
    URL = "url"
    NUMBER = "number"
    HASH = "hash"
    IDENTIFIER = "identifier"

    __hash__ = (
        str.__hash__
    )  # Enum's own __hash__ is written in Python and takes five times as long


class Reference(NamedTuple):
    """Something a text names. `name` is normalized, so it does not depend on the spelling."""

    kind: ReferenceType
    name: str


Naming = tuple[Reference, str]
"""A reference, with the words that name it in the text."""

LETTER = "A-Za-z0-9_\u00c0-\u024f\u0370-\u052f"
URL = re.compile(r"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]{1,15}://[^\s,\\]{1,2000}")
_ESCAPED = re.compile(r'\\+[nrtfbv0"]?')
_DRIVE = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]:\\{1,2}(?=[\w.])")
_SLASHES = re.compile(r"\\{1,2}")
PIECES = re.compile(rf"[{LETTER}.@+~/-]+").findall
GROUPED = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:,\d{3})+(?!\w|,\d)")
UUID = re.compile(
    r"(?<![0-9A-Za-z])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9A-Za-z])",
    re.IGNORECASE,
)
_HAS_LETTERS = re.compile("[A-Za-z\u00c0-\u052f]").search
HASH = re.compile(r"(?:0[xX])?[0-9A-Fa-f]{7,}").fullmatch
_ONE_WORD = re.compile(
    rb"(\d{4,})|((?:0[xX])?[0-9A-Fa-f]{7,})"
    rb"|(?=[A-Za-z0-9_]{8})[A-Za-z_](?:[A-Za-z]*[0-9_]|[A-Za-z]*(?:(?<=[a-z])[A-Z]|[A-Z](?=[a-z])))"
    rb"[A-Za-z0-9_]*"
).fullmatch
_KINDS = (ReferenceType.IDENTIFIER, ReferenceType.NUMBER, ReferenceType.HASH)
"""The kind of reference for each `lastindex` of `_ONE_WORD`; no group matches an identifier."""
ENDS = ".,:;!?-+~@"
_MIN_LENGTH = 4
"""Fewest digits of a number; hashes and identifiers are longer still."""
_MAX_LENGTH = 500
"""Most characters of a reference; anything longer is data, not a name."""


class References:
    """Finds the references that texts name; caches what each run names."""

    def __init__(self) -> None:
        self.named: Mapping[bytes, Sequence[Naming]] = _Named()
        """Map of run to what it names, including names too long to be a reference."""

    def of(self, texts: Iterable[str]) -> dict[Reference, str]:
        """The references that texts name, in order, each with the words that first name it."""
        found: dict[Reference, str] = {}
        named = map(self.named.__getitem__, cut(texts))
        for reference, words in chain.from_iterable(named):
            if len(words) <= _MAX_LENGTH:
                found.setdefault(reference, words)
        return found

    def read(self, texts: Iterable[str]) -> Texts:
        """Prepare texts that are searched more than once."""
        return Texts(texts, self.named.__getitem__)


class _Named(dict[bytes, Sequence[Naming]]):
    """Cache of what each run names, including names too long to be a reference."""

    def __init__(self) -> None:
        self._pieces = _Pieces()
        self._words = self._pieces.words

    def __missing__(self, run: bytes) -> Sequence[Naming]:
        word = run if run.isalpha() else bare(run)
        if is_everyday(word):
            named: Sequence[Naming] = ()
        elif word.isalnum():
            named = self._words[word]
        else:
            named = self._named_in(run, word)
        self[run] = named
        return named

    def _named_in(self, run: bytes, word: bytes) -> Sequence[Naming]:
        if not is_of_words(word):
            return tuple(_all_named(text_of(run), self._pieces))
        words = words_in(word)
        if len(words) == 1:
            return self._words[words[0]]
        return tuple(self._words.named_in(words))


class _Words(dict[bytes, Sequence[Naming]]):
    """Cache of what each word names: one number, hash or identifier, or nothing."""

    def __missing__(self, word: bytes) -> Sequence[Naming]:
        found = _ONE_WORD(word) if len(word) >= _MIN_LENGTH else None
        named: Sequence[Naming] = ()
        if found:
            text = word.decode()
            named = ((Reference(_KINDS[found.lastindex or 0], text), text),)
        self[word] = named
        return named

    def named_in(self, words: Iterable[bytes]) -> list[Naming]:
        """What several words name, in order."""
        return [naming for word in words for naming in self[word]]


class _Pieces(dict[str, Sequence[Naming]]):
    """Cache of what each piece of a run with slashes or dots names; most pieces recur."""

    def __init__(self) -> None:
        self.words = _Words()

    def __missing__(self, piece: str) -> Sequence[Naming]:
        named = self[piece] = _named_in_piece(piece, self.words)
        return named


def _all_named(run: str, known: _Pieces) -> list[Naming]:
    found: list[Naming] = []
    run = plain(run) if "\\" in run else run
    if "://" in run:
        for url in URL.findall(run):
            name = url.rstrip(ENDS)
            found.append((Reference(ReferenceType.URL, name), name))
        run = URL.sub(" ", run)
    for uuid in UUID.findall(run) if len(run) >= UUID_LENGTH else ():
        found.append((Reference(ReferenceType.HASH, uuid.lower()), uuid))
        run = run.replace(uuid, " ")
    for number in GROUPED.findall(run) if "," in run else ():
        name = number.replace(",", "")
        found.append((Reference(ReferenceType.NUMBER, name), number))
        run = run.replace(number, " ")
    if "/" not in run and "." not in run:
        return found + known.words.named_in(words_in(encoded(run)))
    for piece in PIECES(run):
        found += known[piece]
    return found


def _named_in_piece(piece: str, known: _Words) -> Sequence[Naming]:
    segments = segments_of(piece)
    if len(segments) > 1 and _HAS_LETTERS(piece):
        written = piece.lstrip("+-").rstrip(ENDS + "/")
        return ((Reference(ReferenceType.PATH, "/".join(segments)), written),)
    found: list[Naming] = []
    for segment in segments:
        if _is_file(segment):
            found.append((Reference(ReferenceType.FILE, segment), segment))
        else:
            found += known.named_in(words_in(encoded(segment)))
    return found


def _is_file(word: str) -> bool:
    stem, dot, extension = word.rpartition(".")
    return bool(dot and extension.lower() in EXTENSIONS and stem.strip("._-@+~"))


def plain(run: str) -> str:
    r"""A run with escapes such as `\n` blanked and the backslashes of a drive's path turned."""
    if drive := _DRIVE.search(run):
        start = drive.start()
        rest = _SLASHES.sub("/", run[start + 2 :])
        return f"{_ESCAPED.sub(' ', run[:start])} {run[start]}{rest}"
    return _ESCAPED.sub(" ", run)


def segments_of(piece: str) -> list[str]:
    """The segments of a path, without empty ones and `.`, and without trailing punctuation."""
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
