"""References such as `[recall:msg-1a2b3c4d]` in finished HTML, as links that unfold in place.

The link is relative to the page of a session, so that the same body may stand in any: who follows
it is asked for their rights there.
"""

import re
from urllib.parse import quote

_TAG = r'<[^>"]*(?:"[^"]*"[^>"]*)*>'
"""Attributes of finished HTML stand in double quotes, and may hold `>`."""
_REFERENCE = (
    r"(?:nexora://[\w.-]{1,64}/[\w-]{1,36}/)?"
    r"(?:msg-[0-9a-f]{4,8}|m\d{1,9}|o\d{1,9}\.\d{1,9})"
    r"(?::(?:L\d{1,9}(?:-\d{1,9})?|(?:match|tool)-\d{1,9}))?"
)
_FOUND = re.compile(
    rf"<a\b{_TAG[1:]}.*?</a>|{_TAG}|\[recall:(?P<reference>{_REFERENCE})\]",
    re.DOTALL | re.ASCII,
)
_LINK = re.compile(r'<a class="recall" href="recall\?ref=[^"]*">(.*?)</a>')


def with_recalls(html: str) -> str:
    """Finished HTML with a link on each reference in its text; none in a link or an attribute."""
    return _FOUND.sub(_linked, html) if "[recall:" in html else html


def without_recalls(html: str) -> str:
    """The same without these links, for a page that has nobody to ask."""
    return _LINK.sub(r"\1", html)


def _linked(match: re.Match[str]) -> str:
    reference = match["reference"]
    if reference is None:
        return match[0]
    address = f"recall?ref={quote(reference, safe='')}"
    return f'<a class="recall" href="{address}">{match[0]}</a>'
