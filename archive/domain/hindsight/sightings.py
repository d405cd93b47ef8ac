"""Finds where references occur: as such, within a longer path, or as the start of a full hash.

Few runs contain a wanted reference, and their words show which ones may. So only those runs are
examined closely.
"""

import re
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import repeat

from .references import (
    ENDS,
    GROUPED,
    HASH,
    PIECES,
    URL,
    UUID,
    Naming,
    Reference,
    ReferenceType,
    plain,
    segments_of,
)
from .runs import (
    BACKSLASH,
    COMMA,
    DOT,
    SLASH,
    UUID_LENGTH,
    Runs,
    cut_finely,
    encoded,
    text_of,
    words_in,
)

_LONG_HASH = re.compile(rb"[0-9A-Fa-f]{7}").search
_GROUPED = re.compile(rb"\d,\d{3}").search
_ENDS_WITHIN = re.compile("[/?#&]").finditer
"""Where a URL may end that is a prefix of another one."""
_MIN_HASH_LENGTH = 7
_CUT_OUT = {ReferenceType.URL, ReferenceType.HASH, ReferenceType.NUMBER}
"""Kinds that may be cut out of the middle of a path; the rest around them then occurs nowhere."""
_NAMES_OF_FILES = {ReferenceType.PATH, ReferenceType.FILE}


def _marked(run: str) -> Iterator[bytes]:
    """The UUIDs and comma-grouped numbers in a run, normalized."""
    for uuid in UUID.findall(run) if len(run) >= UUID_LENGTH else ():
        yield uuid.lower().encode()
    for number in GROUPED.findall(run) if "," in run else ():
        yield number.replace(",", "").encode()


class Sightings:
    """Finds the wanted references, and no others, wherever they occur in texts."""

    def __init__(
        self,
        wanted: Collection[Reference],
        names: Mapping[bytes, Sequence[Naming]] | None = None,
    ) -> None:
        """Search for `wanted`. `names` is the cache of what runs name, if there is one.

        It helps because whatever occurs in a run occurs in something that the run names.
        """
        self._wanted, self._names = frozenset(wanted), names or {}
        self._words: dict[bytes, list[Reference]] = {}
        self._paths: dict[str, list[tuple[list[str], Reference]]] = {}
        self._urls: dict[str, list[Reference]] = {}
        self._hashes: dict[bytes, set[int]] = {}
        self._tails: set[str] = set()
        self._tail_hints: set[bytes] = set()
        """Every run that contains a wanted path or file name contains one of these words."""
        self._wordless: list[bytes] = []
        """The file names that have no such word, because they are in another script."""
        for one in wanted:
            self._want(one)
        self._runs = Runs(self._look if names is None else self._look_at_names)
        self._in_name = cache(self._within)
        self._in_piece = cache(self._among_segments)

    def _want(self, one: Reference) -> None:
        name = one.name
        match one.kind:
            case ReferenceType.URL:
                self._urls.setdefault(name, []).append(one)
            case ReferenceType.PATH:
                segments = name.split("/")
                end = "/".join(segments[-2:])
                self._paths.setdefault(end, []).append((segments, one))
                self._want_tail(segments[-1])
            case ReferenceType.FILE:
                self._paths.setdefault(name, []).append(([name], one))
                self._want_tail(name)
            case _:
                word = encoded(name)
                self._words.setdefault(word, []).append(one)
                if one.kind is ReferenceType.HASH:
                    beginning = word[:_MIN_HASH_LENGTH]
                    self._hashes.setdefault(beginning, set()).add(len(word))

    def _want_tail(self, tail: str) -> None:
        self._tails.add(tail)
        written = encoded(tail)
        words = words_in(written)
        if words:
            self._tail_hints.add(max(words, key=len))
        else:
            self._wordless.append(written)

    def in_texts(self, texts: Iterable[str]) -> set[Reference]:
        """The wanted references that occur in texts."""
        return self._runs.different(cut_finely(texts))

    def in_any(self, several: Iterable[Iterable[str]]) -> set[Reference]:
        """The wanted references that occur in the texts of any of several messages."""
        return self._runs.different(set().union(*map(cut_finely, several)))

    def first_in(
        self, several: Iterable[tuple[int, Iterable[str]]]
    ) -> dict[Reference, int]:
        """Map of reference to its first position, given texts with their positions in order."""
        first: dict[bytes, int] = {}
        for place, texts in several:
            deque(map(first.setdefault, cut_finely(texts), repeat(place)), maxlen=0)
        found: dict[Reference, int] = {}
        for run, number in zip(first, map(self._runs.__getitem__, first), strict=True):
            for one in self._runs.found[number] if number else ():
                found.setdefault(one, first[run])
        return found

    def _look_at_names(self, run: bytes) -> Collection[Reference]:
        """The wanted references that occur in a run, found from what `names` says it names."""
        found: list[Reference] = []
        for reference, words in self._names[run]:
            if reference.kind in _CUT_OUT and not words.isalnum():
                return self._look(run)
            if reference in self._wanted:
                found.append(reference)
            if reference.kind in _NAMES_OF_FILES:
                found += self._in_name(reference.name)
            elif self._hashes and reference.kind is not ReferenceType.IDENTIFIER:
                found += self._begun((encoded(words),))
        return found

    def _within(self, name: str) -> Collection[Reference]:
        """The wanted references that occur in a file name or a path."""
        found = self._among(name, words_in(encoded(name)))
        return found + self._in_segments(name.split("/"))

    def _look(self, run: bytes) -> Collection[Reference]:
        """The wanted references that occur in a run.

        The run is examined closely only if its words hint at one.
        """
        words, tails = words_in(run), self._tail_hints
        if (
            BACKSLASH not in run
            and self._words.keys().isdisjoint(words)
            and not (
                ((SLASH in run or DOT in run) and not tails.isdisjoint(words))
                or (self._urls and b"://" in run)
                or (self._wordless and any(tail in run for tail in self._wordless))
                or (COMMA in run and _GROUPED(run))
                or (self._hashes and _LONG_HASH(run) and self._may_begin(run, words))
            )
        ):
            return ()
        return self._in_run(run, words)

    def _may_begin(self, run: bytes, words: Iterable[bytes]) -> bool:
        """Whether a run with 7 hexadecimal digits in a row may contain a wanted hash in full."""
        return len(run) >= UUID_LENGTH or any(
            word[:_MIN_HASH_LENGTH] in self._hashes for word in words
        )

    def _in_run(self, run: bytes, words: list[bytes]) -> list[Reference]:
        text = text_of(run)
        if "\\" in text:
            text = plain(text)
            words = words_in(encoded(text))
        found = self._among(text, words)
        for piece in PIECES(text) if "/" in text or "." in text else ():
            found += self._in_piece(piece)
        for url in URL.findall(text) if self._urls and "://" in text else ():
            found += self._in_url(url)
        return found

    def _among(self, text: str, words: list[bytes]) -> list[Reference]:
        """The references that are a word of a text, a UUID or grouped number, or a hash prefix."""
        if "-" in text or "," in text:
            words = [*words, *_marked(text)]
        known = self._words
        found = [one for word in words if word in known for one in known[word]]
        if self._hashes:
            found += self._begun(words)
        return found

    def _begun(self, words: Iterable[bytes]) -> Iterator[Reference]:
        """The references that are a proper prefix of a word that is a hash."""
        for word in words:
            beginning = word[:_MIN_HASH_LENGTH]
            if beginning in self._hashes and HASH(word.decode()):
                for length in self._hashes[beginning] - {len(word)}:
                    yield from self._words.get(word[:length], ())

    def _in_url(self, url: str) -> Iterator[Reference]:
        """The references that are a URL or a prefix of it that ends at one of `/?#&`."""
        url, known = url.rstrip(ENDS), self._urls
        yield from known.get(url, ())
        for end in _ENDS_WITHIN(url):
            yield from known.get(url[: end.start()], ())
            if end.end() < len(url):
                yield from known.get(url[: end.end()], ())

    def _among_segments(self, piece: str) -> list[Reference]:
        return self._in_segments(segments_of(piece))

    def _in_segments(self, segments: list[str]) -> list[Reference]:
        """The file names among a path's segments, and the paths that are a slice of them."""
        found, before, known = list[Reference](), "", self._paths
        for end, segment in enumerate(segments, start=1):
            if segment in self._tails:
                named = (*known.get(segment, ()), *known.get(f"{before}/{segment}", ()))
                for wanted, reference in named:
                    if segments[max(0, end - len(wanted)) : end] == wanted:
                        found.append(reference)
            before = segment
        return found
