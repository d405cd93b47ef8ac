"""Texts cut into runs of what may stand in a reference.

Each different run is looked at once: most of what tools print was printed before. So what finding
something in texts costs is cutting them.
"""

import string
from collections.abc import Callable, Collection, Iterable
from typing import Generic, TypeVar

from operations.domain.text.extensions import EXTENSIONS

_LONGEST_KNOWN = 200
"""Characters of a run that is remembered: longer ones hardly come twice."""
_MARKS = b".,:-+~@!?;"
"""What may stand around a word and is no part of it."""
_MARKS_BEHIND = _MARKS + b"\\"
_HEXADECIMAL = b"abcdefABCDEF"
SLASH, BACKSLASH, DOT, COMMA, DASH = b"/\\.,-"
"""Looked for as numbers: a byte that is given as bytes takes ten times as long."""
UUID_LENGTH = 36
_ENDINGS = frozenset(extension.encode() for extension in EXTENSIONS)
_WITHIN_WORDS = f"{string.ascii_letters}{string.digits}_".encode()
_WITHIN = _WITHIN_WORDS + b".,/@+~:\\-"
_WITHIN_URLS = _WITHIN + b"?#%&=!$*;"


def _blanks(kept: bytes) -> bytes:
    """A table that turns each byte of ASCII to a blank but these."""
    return bytes(one if one > 127 or one in kept else 32 for one in range(256))


_CUT, _CUT_BY_URLS = _blanks(_WITHIN), _blanks(_WITHIN_URLS)
_CUT_AT_COLONS = _blanks(_WITHIN.replace(b":", b""))
_CUT_TO_WORDS = bytes(one if one in _WITHIN_WORDS else 32 for one in range(256))


def runs_of(text: str) -> list[bytes]:
    """The runs of a text, in UTF-8 and in their order."""
    return _cut(text, _CUT_BY_URLS if "://" in text else _CUT)


def _cut(text: str, table: bytes) -> list[bytes]:
    return encoded(text).translate(table).split()


def cut_finely(texts: Iterable[str]) -> Iterable[bytes]:
    """The runs of texts together, cut at colons too where these join nothing.

    `src/app.py:12:return` is three of them, of which each comes more often.
    """
    if isinstance(texts, Texts):
        return texts.runs
    text = "\n".join(texts)
    if "://" in text or ":\\" in text:
        return runs_of(text)
    return _cut(text, _CUT_AT_COLONS)


def words_in(run: bytes) -> list[bytes]:
    """The words of a run, of letters of ASCII, digits and underscores."""
    return run.translate(_CUT_TO_WORDS).split()


def bare(run: bytes) -> bytes:
    """A run without the marks around it; a backslash is one where no letter makes it an escape."""
    return run.rstrip(_MARKS_BEHIND).lstrip(_MARKS)


def is_everyday(word: bytes) -> bool:
    """Whether a bare run is a word of everyday, which names nothing.

    Capitals within it make a name of it, and letters of hexadecimal digits alone may be a hash.
    """
    is_written_so = word.isalpha() and (word.islower() or word.istitle())
    return is_written_so and bool(word.strip(_HEXADECIMAL))


def is_of_words(run: bytes) -> bool:
    """Whether a bare run names what its words do: it has no path, file, UUID or long number."""
    return not (
        SLASH in run
        or BACKSLASH in run
        or COMMA in run
        or (DASH in run and len(run) >= UUID_LENGTH)
        or (DOT in run and not _ENDINGS.isdisjoint(words_in(run.lower())))
    )


def encoded(text: str) -> bytes:
    """A text in UTF-8, halves of pairs included."""
    return text.encode("utf-8", "surrogatepass")


def text_of(run: bytes) -> str:
    """A run as it reads."""
    return run.decode("utf-8", "surrogatepass")


Found = TypeVar("Found")


class Texts(list[str]):
    """Texts that are cut once, however often something is looked for in them.

    What is looked at once alone does better without: to keep its runs takes longer than to cut it.
    """

    __slots__ = ("runs",)

    def __init__(self, texts: Iterable[str], names: Callable[[bytes], object]) -> None:
        """`names` says what a run names: in one that names nothing, nothing can be found."""
        super().__init__(texts)
        naming = filter(names, runs_of("\n".join(self)))
        self.runs = tuple(dict.fromkeys(naming))
        """Their different runs that name something, in their order."""


def cut(texts: Iterable[str]) -> Iterable[bytes]:
    """The runs of texts together."""
    return texts.runs if isinstance(texts, Texts) else runs_of("\n".join(texts))


class Runs(dict[bytes, int], Generic[Found]):
    """What is known of runs: the place of what `look` finds in them, 0 for nothing."""

    def __init__(self, look: Callable[[bytes], Collection[Found]]) -> None:
        self.found: list[tuple[Found, ...]] = [()]
        self._look = look

    def __missing__(self, run: bytes) -> int:
        number = 0
        if found := self._look(run):
            number = len(self.found)
            self.found.append(tuple(found))
        if len(run) <= _LONGEST_KNOWN:
            self[run] = number
        return number

    def different(self, runs: Iterable[bytes]) -> set[Found]:
        """What is found in runs, once each."""
        numbers = set(map(self.__getitem__, runs))
        return set().union(*map(self.found.__getitem__, numbers))
