"""Splits texts into runs of the characters that may occur in a reference.

Each distinct run is examined once, as most of what tools print was printed before. So the cost of
a search is that of splitting the texts.
"""

import string
from collections.abc import Callable, Collection, Iterable
from typing import Generic, TypeVar

from operations.domain.text.extensions import EXTENSIONS

_MAX_KNOWN_LENGTH = 200
"""Longest run to cache, in bytes; longer ones rarely recur."""
_MARKS = b".,:-+~@!?;"
"""Punctuation that may surround a word and is not part of it."""
_MARKS_BEHIND = _MARKS + b"\\"
_HEXADECIMAL = b"abcdefABCDEF"
SLASH, BACKSLASH, DOT, COMMA, DASH = b"/\\.,-"
"""As integers: searching for a one-byte `bytes` object takes ten times as long."""
UUID_LENGTH = 36
_ENDINGS = frozenset(extension.encode() for extension in EXTENSIONS)
_WITHIN_WORDS = f"{string.ascii_letters}{string.digits}_".encode()
_WITHIN = _WITHIN_WORDS + b".,/@+~:\\-"
_WITHIN_URLS = _WITHIN + b"?#%&=!$*;"


def _blanks(kept: bytes) -> bytes:
    """A translation table that blanks every ASCII byte except these."""
    return bytes(one if one > 127 or one in kept else 32 for one in range(256))


_CUT, _CUT_BY_URLS = _blanks(_WITHIN), _blanks(_WITHIN_URLS)
_CUT_AT_COLONS = _blanks(_WITHIN.replace(b":", b""))
_CUT_TO_WORDS = bytes(one if one in _WITHIN_WORDS else 32 for one in range(256))


def runs_of(text: str) -> list[bytes]:
    """The runs of a text in order, encoded as UTF-8."""
    return _cut(text, _CUT_BY_URLS if "://" in text else _CUT)


def _cut(text: str, table: bytes) -> list[bytes]:
    return encoded(text).translate(table).split()


def cut_finely(texts: Iterable[str]) -> Iterable[bytes]:
    """The runs of several texts, also split at colons unless a URL or a drive letter needs them.

    `src/app.py:12:return` gives three runs, each of which recurs more often than the whole.
    """
    if isinstance(texts, Texts):
        return texts.runs
    text = "\n".join(texts)
    if "://" in text or ":\\" in text:
        return runs_of(text)
    return _cut(text, _CUT_AT_COLONS)


def words_in(run: bytes) -> list[bytes]:
    """The words of a run: sequences of ASCII letters, digits and underscores."""
    return run.translate(_CUT_TO_WORDS).split()


def bare(run: bytes) -> bytes:
    """A run without surrounding punctuation.

    That includes trailing backslashes, as no letter behind them makes them an escape.
    """
    return run.rstrip(_MARKS_BEHIND).lstrip(_MARKS)


def is_everyday(word: bytes) -> bool:
    """Whether a bare run is an ordinary word, which names nothing.

    Inner capitals would make it an identifier, and hexadecimal letters alone may be a hash.
    """
    is_written_so = word.isalpha() and (word.islower() or word.istitle())
    return is_written_so and bool(word.strip(_HEXADECIMAL))


def is_of_words(run: bytes) -> bool:
    """Whether a bare run names just what its words name.

    It does if it contains no path, file name, UUID or comma-grouped number.
    """
    return not (
        SLASH in run
        or BACKSLASH in run
        or COMMA in run
        or (DASH in run and len(run) >= UUID_LENGTH)
        or (DOT in run and not _ENDINGS.isdisjoint(words_in(run.lower())))
    )


def encoded(text: str) -> bytes:
    """A text as UTF-8, lone surrogates included."""
    return text.encode("utf-8", "surrogatepass")


def text_of(run: bytes) -> str:
    """A run decoded to text."""
    return run.decode("utf-8", "surrogatepass")


Found = TypeVar("Found")


class Texts(list[str]):
    """Texts that are split into runs once, however often they are searched.

    Don't use it for texts searched only once: storing the runs takes longer than splitting.
    """

    __slots__ = ("runs",)

    def __init__(self, texts: Iterable[str], names: Callable[[bytes], object]) -> None:
        """`names` tells what a run names. Runs that name nothing are dropped."""
        super().__init__(texts)
        naming = filter(names, runs_of("\n".join(self)))
        self.runs = tuple(dict.fromkeys(naming))
        """The distinct runs that name something, in order."""


def cut(texts: Iterable[str]) -> Iterable[bytes]:
    """The runs of several texts."""
    return texts.runs if isinstance(texts, Texts) else runs_of("\n".join(texts))


class Runs(dict[bytes, int], Generic[Found]):
    """Cache of run to the index in `found` of what `look` finds in it; 0 if it finds nothing."""

    def __init__(self, look: Callable[[bytes], Collection[Found]]) -> None:
        self.found: list[tuple[Found, ...]] = [()]
        self._look = look

    def __missing__(self, run: bytes) -> int:
        number = 0
        if found := self._look(run):
            number = len(self.found)
            self.found.append(tuple(found))
        if len(run) <= _MAX_KNOWN_LENGTH:
            self[run] = number
        return number

    def different(self, runs: Iterable[bytes]) -> set[Found]:
        """The set of what is found in any of the runs."""
        numbers = set(map(self.__getitem__, runs))
        return set().union(*map(self.found.__getitem__, numbers))
