"""Texts in letters alone, so that PostgreSQL's trigrams are those of all characters.

pg_trgm takes what is no letter or digit for a gap between words, and fills the words up with
blanks: punctuation is in no trigram, nor is what stands on both sides of it. With a letter in
the place of every such character a text is one word to it, and three characters of any kind
are a trigram. A stand-in that a text has itself makes a candidate too many, never one too few.
"""

import string
from collections.abc import Iterable

_FIRST, _COUNT = 0x0780, 38
"""Thaana: letters of two bytes without capitals, in a script that few texts are written in."""
_OFTEN = "\n " + string.punctuation
_KEPT = 0x10000


class _StandIns(dict[int, int]):
    """By code point what stands for it, kept for the characters of most scripts."""

    def __missing__(self, code: int) -> int:
        letter = code if chr(code).isalnum() else _FIRST + code % _COUNT
        if code < _KEPT:
            self[code] = letter
        return letter


_stand_ins = _StandIns({ord(one): _FIRST + at for at, one in enumerate(_OFTEN)})


def letters(text: str) -> str:
    """A text, as long as it was, with a letter for each character that is none."""
    return text.translate(_stand_ins)


def pairs(texts: Iterable[str]) -> str:
    """The pairs of neighbours in some texts of letters, each once, with blanks between."""
    found: set[str] = set()
    for text in texts:
        found.update(map(str.__add__, text, text[1:]))
    return " ".join(sorted(found))
