"""References: what a text names that can't be guessed, and where else it stands.

Taken for one are: a path of two or more segments; a file's name with its extension; a URL; a
number of 4 digits or more; a hash of 7 hexadecimal digits or more; an identifier of 8
characters or more with an inner capital, digit or underscore. The longest counts: a path is one
reference, not its segments too. But it *stands* wherever it is read, also as a piece of a longer
one: `views.py` in `src/app/views.py`, the first digits of a hash in the whole of it.

A text is cut into runs by one expression, and each different run is looked at once: most of
what tools print was printed before. So the cost is that of reading the texts.
"""

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

from .extensions import EXTENSIONS


class Kind(StrEnum):
    """What a reference is."""

    PATH = "path"
    FILE = "file"
    URL = "url"
    NUMBER = "number"
    HASH = "hash"
    IDENTIFIER = "identifier"


class Reference(NamedTuple):
    """What a text names. Two with the same `name` are the same, however they are written."""

    kind: Kind
    name: str


_LETTER = "A-Za-z0-9_\u00c0-\u024f\u0370-\u052f"
_RUNS = re.compile(
    rf"[{_LETTER}.,/@+~:\\-]{{3,}}(?:(?<=[/\w])[?#%][^\s\"'`<>()\[\]{{}}|\\^]*)?"
).findall
_URL = re.compile(r"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]{1,15}://[^\s,\\]{1,2000}")
_ESCAPED = re.compile(r'\\+[nrtfbv0"]?')
_DRIVE = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]:\\{1,2}(?=[\w.])")
_PIECES = re.compile(rf"[{_LETTER}.@+~/-]+").findall
_WORDS = re.compile(r"[A-Za-z0-9_]+").findall
_GROUPED = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:,\d{3})+(?!\w|,\d)")
_UUID = re.compile(
    r"(?<![0-9A-Za-z])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9A-Za-z])",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d{4,}").fullmatch
_HASH = re.compile(r"(?:0[xX])?[0-9A-Fa-f]{7,}").fullmatch
_IDENTIFIER = re.compile(
    r"(?=[A-Za-z0-9_]{8})[A-Za-z_](?:[A-Za-z]*[0-9_]|[A-Za-z]*(?:(?<=[a-z])[A-Z]|[A-Z](?=[a-z])))"
    r"[A-Za-z0-9_]*"
).fullmatch
_ENDS = ".,:;!?-+~@"
_SHORTEST_HASH = 7
_LONGEST_KNOWN = 200
"""Characters of a run that is remembered: longer ones hardly come twice."""
_LONGEST = 500
"""Characters of a reference: what is longer is data that nobody names."""


def references_in(text: str) -> dict[Reference, str]:
    """What a text names, each with the words in which it does first."""
    found: dict[Reference, str] = {}
    for run in dict.fromkeys(_RUNS(text)):
        for reference, words in _named(run):
            if len(words) <= _LONGEST:
                found.setdefault(reference, words)
    return found


def _named(run: str) -> Iterator[tuple[Reference, str]]:
    """What one run names."""
    if "://" in run:
        for url in _URL.findall(run):
            name = url.rstrip(_ENDS)
            yield Reference(Kind.URL, name), name
        run = _URL.sub(" ", run)
    for uuid in _UUID.findall(run) if "-" in run else ():
        yield Reference(Kind.HASH, uuid.lower()), uuid
        run = run.replace(uuid, " ")
    for number in _GROUPED.findall(run) if "," in run else ():
        yield Reference(Kind.NUMBER, number.replace(",", "")), number
        run = run.replace(number, " ")
    for piece in _PIECES(_plain(run)):
        segments = _segments(piece)
        if len(segments) > 1 and re.search("[A-Za-z\u00c0-\u052f]", piece):
            written = piece.lstrip("+-").rstrip(_ENDS + "/")
            yield Reference(Kind.PATH, "/".join(segments)), written
        else:
            for segment in segments:
                yield from _of_segment(segment)


def _of_segment(segment: str) -> Iterator[tuple[Reference, str]]:
    """What stands in a word without slashes: a file's name, or numbers, hashes, identifiers."""
    if _is_file(segment):
        yield Reference(Kind.FILE, segment), segment
        return
    for word in _WORDS(segment):
        kind = _kind_of(word)
        if kind is not None:
            yield Reference(kind, word), word


def _kind_of(word: str) -> Kind | None:
    if _NUMBER(word):
        return Kind.NUMBER
    if _HASH(word):
        return Kind.HASH
    return Kind.IDENTIFIER if _IDENTIFIER(word) else None


def _words_of(run: str) -> list[str]:
    """The words in a run, and what is one with commas or dashes in it."""
    words: list[str] = _WORDS(run)
    if "-" in run:
        words += (uuid.lower() for uuid in _UUID.findall(run))
    if "," in run:
        words += (number.replace(",", "") for number in _GROUPED.findall(run))
    return words


def _is_file(word: str) -> bool:
    stem, dot, extension = word.rpartition(".")
    return bool(dot and extension.lower() in EXTENSIONS and stem.strip("._-@+~"))


def _plain(run: str) -> str:
    """A run without what stands for line breaks in it, and with a drive's slashes turned."""
    if "\\" not in run:
        return run
    if drive := _DRIVE.search(run):
        start = drive.start()
        rest = re.sub(r"\\{1,2}", "/", run[start + 2 :])
        return f"{_ESCAPED.sub(' ', run[:start])} {run[start]}{rest}"
    return _ESCAPED.sub(" ", run)


def _segments(piece: str) -> list[str]:
    """The segments of a path, without those that say where it begins."""
    segments = piece.lstrip("+-").split("/")
    segments = [segment for segment in segments if segment not in ("", ".")]
    if segments:
        segments[-1] = segments[-1].rstrip(_ENDS)
        if not segments[-1]:
            segments.pop()
    return segments


class Sightings:
    """Finds some references, and no others, wherever they stand in texts."""

    def __init__(self, wanted: Iterable[Reference]) -> None:
        """Finds these."""
        self._words: dict[str, list[Reference]] = {}
        self._paths: dict[str, list[tuple[list[str], Reference]]] = {}
        self._urls: dict[str, list[Reference]] = {}
        self._hashes: dict[str, set[int]] = {}
        self._tails: set[str] = set()
        self._known: set[str] = set()
        self._hits: dict[str, tuple[Reference, ...]] = {}
        for one in wanted:
            self._want(one)

    def _want(self, one: Reference) -> None:
        name = one.name
        match one.kind:
            case Kind.URL:
                self._urls.setdefault(name, []).append(one)
            case Kind.PATH:
                segments = name.split("/")
                end = "/".join(segments[-2:])
                self._paths.setdefault(end, []).append((segments, one))
                self._tails.add(segments[-1])
            case Kind.FILE:
                self._paths.setdefault(name, []).append(([name], one))
                self._tails.add(name)
            case _:
                self._words.setdefault(name, []).append(one)
                if one.kind is Kind.HASH:
                    lengths = self._hashes.setdefault(name[:_SHORTEST_HASH], set())
                    lengths.add(len(name))

    def in_texts(self, texts: Iterable[str]) -> set[Reference]:
        """Those of the wanted that stand in texts."""
        found: set[Reference] = set()
        for text in texts:
            runs = set(_RUNS(text))
            for run in runs - self._known:
                hits = tuple(dict.fromkeys(self._in_run(run)))
                if len(run) > _LONGEST_KNOWN:
                    found.update(hits)
                    continue
                self._known.add(run)
                if hits:
                    self._hits[run] = hits
            for run in self._hits.keys() & runs:
                found.update(self._hits[run])
        return found

    def _in_run(self, run: str) -> list[Reference]:
        found: list[Reference] = []
        for word in _words_of(run):
            if word in self._words:
                found += self._words[word]
            if word[:_SHORTEST_HASH] in self._hashes and _HASH(word):
                for length in self._hashes[word[:_SHORTEST_HASH]] - {len(word)}:
                    found += self._words.get(word[:length], ())
        if "/" in run or "." in run or "\\" in run:
            for piece in _PIECES(_plain(run)):
                segments = _segments(piece)
                if not self._tails.isdisjoint(segments):
                    found += self._in_path(segments)
            if self._urls and "://" in run:
                for url in _URL.findall(run):
                    found += self._in_url(url)
        return found

    def _in_url(self, url: str) -> Iterator[Reference]:
        """Those that a URL is, or begins with."""
        url = url.rstrip(_ENDS)
        yield from self._urls.get(url, ())
        for end in re.finditer("[/?#&]", url):
            for beginning in {url[: end.start()], url[: end.end()]} - {url}:
                yield from self._urls.get(beginning, ())

    def _in_path(self, segments: list[str]) -> Iterator[Reference]:
        """The files' names among segments, and the paths that are a stretch of them."""
        for place, segment in enumerate(segments, start=1):
            if segment in self._tails:
                before = "/".join(segments[max(0, place - 2) : place])
                for end in {segment, before}:
                    for wanted, reference in self._paths.get(end, ()):
                        if segments[max(0, place - len(wanted)) : place] == wanted:
                            yield reference
