"""Makes invisible characters visible.

A transcript may hold text that a reader doesn't see and a model does: bidirectional controls
(CVE-2021-42574), tag characters, runs of variation selectors, NUL. Each becomes a token such as
`⟦U+202E⟧`. Legitimate uses in scripts and emoji stay: a joiner or selector after a character beyond
ASCII, the three flags that are spelt with tags.
"""

import re
import unicodedata
from functools import lru_cache

_FLAGS = "\U0001f3f4(?:{})\U000e007f".format(
    "|".join(
        "".join(chr(0xE0000 + ord(letter)) for letter in region)
        for region in ("gbeng", "gbsct", "gbwls")
    )
)
_ALWAYS = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\ud800-\udfff\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_JOINERS = "\u200c\u200d"
_SELECTORS = "\ufe00-\ufe0f"
_CONCEALED = re.compile(
    rf"(?P<flag>{_FLAGS})"
    rf"|(?P<tags>[\U000e0020-\U000e007e]+)"
    rf"|(?P<character>[{_ALWAYS}]"
    rf"|(?:^|(?<=[\x00-\x7f{_JOINERS}]))[{_JOINERS}]"
    rf"|(?:^|(?<=[\x00-\x22\x24-\x29\x2b-\x2f\x3a-\x7f{_SELECTORS}]))[{_SELECTORS}])"
    rf"(?P<more>(?P=character)*)"
)
_UNSAFE = re.compile(r"[^\w .,:;!?()/=-]")
"""Characters not spelt out, so that a token is as safe in HTML as in plain text."""
_TOKEN_IN_HTML = re.compile(r"<[^>]*>|⟦U\+([0-9A-F]{4,6})[^⟧<]{0,400}⟧")


def visible(text: str) -> str:
    """`text` with a token for each hidden character; line ends become LF, tabs stay.

    Equal neighbours share a token, `⟦U+200B ×3⟧`; tag characters are spelt out, `⟦U+E0068 “hi”⟧`.
    The result holds no lone surrogate, so it can be encoded; a token holds no HTML syntax, so
    escaped text stays escaped.
    """
    if text.isascii() and text.isprintable():
        return text
    return _CONCEALED.sub(_token, text.replace("\r\n", "\n"))


def mark(html: str) -> str:
    """Wrap each token of `visible` in escaped HTML in an element with its Unicode name as title."""
    return _TOKEN_IN_HTML.sub(_marked, html) if "⟦U+" in html else html


def _token(match: re.Match[str]) -> str:
    if flag := match["flag"]:
        return flag
    if tags := match["tags"]:
        spelt = _UNSAFE.sub("·", "".join(chr(ord(tag) - 0xE0000) for tag in tags[:60]))
        return f"⟦U+{ord(tags[0]):04X} “{spelt}{'…' if len(tags) > 60 else ''}”⟧"
    run = f" ×{1 + len(match['more'])}" if match["more"] else ""
    return f"⟦U+{ord(match['character']):04X}{run}⟧"


def _marked(match: re.Match[str]) -> str:
    if match[1] is None:
        return match[0]
    return f'<span class="unseen" title="{_name(match[1])}">{match[0]}</span>'


@lru_cache(maxsize=1024)
def _name(code: str) -> str:
    point = int(code, 16)
    if 0xD800 <= point <= 0xDFFF:
        return "half of a surrogate pair"
    known = unicodedata.name(chr(point), "") if point <= 0x10FFFF else ""
    return known.lower() or "control character"
