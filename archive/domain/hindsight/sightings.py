"""Where references stand: in a text, a longer path, the whole of a hash."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from .references import (
    ENDS,
    GROUPED,
    HASH,
    LETTER,
    PIECES,
    URL,
    UUID,
    WORDS,
    Reference,
    ReferenceType,
    plain,
    segments_of,
    word_of,
)
from .runs import Runs, cut

_SEGMENTS = re.compile(rf"[{LETTER}.@~](?:[{LETTER}.@+~-]*[{LETTER}])?").findall
_LONG_HASH = re.compile(r"[0-9A-Fa-f]{7}").search
_SHORTEST_HASH, _UUID_LENGTH = 7, 36


def _words_of(run: str) -> list[str]:
    """The words in a run, and what is one with commas or dashes in it."""
    words: list[str] = WORDS(run)
    if "-" in run and len(run) >= _UUID_LENGTH:
        words += (uuid.lower() for uuid in UUID.findall(run))
    if "," in run:
        words += (number.replace(",", "") for number in GROUPED.findall(run))
    return words


class Sightings:
    """Finds some references, and no others, wherever they stand in texts."""

    def __init__(self, wanted: Iterable[Reference]) -> None:
        """Finds these."""
        self._words: dict[str, list[Reference]] = {}
        self._paths: dict[str, list[tuple[list[str], Reference]]] = {}
        self._urls: dict[str, list[Reference]] = {}
        self._hashes: dict[str, set[int]] = {}
        self._tails: set[str] = set()
        self._odd: list[str] = []
        """The tails that `_SEGMENTS` doesn't find, for they begin with a mark: `-f` in `a/-f`."""
        self._runs = Runs(self._in_run)
        for one in wanted:
            self._want(one)

    def _want(self, one: Reference) -> None:
        name = one.name
        match one.kind:
            case ReferenceType.URL:
                self._urls.setdefault(name, []).append(one)
            case ReferenceType.PATH:
                segments = name.split("/")
                end = "/".join(segments[-2:])
                self._paths.setdefault(end, []).append((segments, one))
                self._tails.add(segments[-1])
                if segments[-1] not in _SEGMENTS(segments[-1]):
                    self._odd.append(segments[-1])
            case ReferenceType.FILE:
                self._paths.setdefault(name, []).append(([name], one))
                self._tails.add(name)
            case _:
                self._words.setdefault(name, []).append(one)
                if one.kind is ReferenceType.HASH:
                    lengths = self._hashes.setdefault(name[:_SHORTEST_HASH], set())
                    lengths.add(len(name))

    def in_texts(self, texts: Iterable[str]) -> set[Reference]:
        """Those of the wanted that stand in texts."""
        return self._runs.different(cut(texts))

    def in_any(self, several: Iterable[Iterable[str]]) -> set[Reference]:
        """Those that stand in the texts of any of several messages."""
        return set(self._runs.of(chain.from_iterable(map(cut, several))))

    def _in_run(self, run: str) -> Iterable[Reference]:
        if word := word_of(run):
            is_hash = self._hashes and _LONG_HASH(word)
            return self._among([word]) if is_hash else self._words.get(word, ())
        if "\\" in run:
            run = plain(run)
        words = _words_of(run)
        has_words = not self._words.keys().isdisjoint(words)
        has_words = has_words or bool(self._hashes and _LONG_HASH(run))
        may_have = "/" in run or "." in run
        has_paths = may_have and (
            not self._tails.isdisjoint(_SEGMENTS(run))
            or any(tail in run for tail in self._odd)
        )
        has_urls = self._urls and "://" in run
        if not (has_words or has_paths or has_urls):
            return ()
        found = [*self._among(words)] if has_words else []
        for piece in PIECES(run) if has_paths else ():
            found += self._in_path(segments_of(piece))
        for url in URL.findall(run) if has_urls else ():
            found += self._in_url(url)
        return found

    def _among(self, words: Iterable[str]) -> Iterator[Reference]:
        """Those that are one of these words, or the first digits of one that is a hash."""
        for word in words:
            yield from self._words.get(word, ())
            beginning = word[:_SHORTEST_HASH]
            if beginning in self._hashes and HASH(word):
                for length in self._hashes[beginning] - {len(word)}:
                    yield from self._words.get(word[:length], ())

    def _in_url(self, url: str) -> Iterator[Reference]:
        """Those that a URL is, or begins with."""
        url = url.rstrip(ENDS)
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
