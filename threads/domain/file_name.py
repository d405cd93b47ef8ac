"""The names of files to download."""

import unicodedata

MAX_BYTES = 80
"""Most bytes of a title in UTF-8: file systems take 255, and more than a title stands in a name."""

_LETTERS_MARKS_NUMBERS = "LMN"


def file_stem(title: str, otherwise: str) -> str:
    """The words of a title joined by hyphens, or `otherwise` if it has none.

    Neither a shell nor a file system gives any of its characters a meaning of its own.
    """
    spoken = title.replace("'", "").replace("\N{RIGHT SINGLE QUOTATION MARK}", "")
    words = "".join(
        char if unicodedata.category(char)[0] in _LETTERS_MARKS_NUMBERS else " "
        for char in unicodedata.normalize("NFC", spoken)
    ).split()
    return _shortened("-".join(words)) or otherwise


def _shortened(stem: str) -> str:
    """A stem of no more than `MAX_BYTES`, cut between words unless the first alone is longer."""
    written = stem.encode()
    if len(written) <= MAX_BYTES:
        return stem
    # The byte behind shows whether the cut is between words already.
    whole = written[: MAX_BYTES + 1].rpartition(b"-")[0] or written[:MAX_BYTES]
    return whole.decode(errors="ignore")
