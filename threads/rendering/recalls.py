"""Links references such as `[recall:msg-1a2b3c4d]` in finished HTML; a link unfolds in place.

The link is relative to the page of a session, so that the same body can be shown in any session;
rights are checked there when a link is followed.
"""

import re
from urllib.parse import quote

_TAG = r'<[^>"]*(?:"[^"]*"[^>"]*)*>'
"""Attributes in finished HTML are in double quotes, and may hold `>`."""
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
    """Link the references in the text of finished HTML, but none inside links or attributes."""
    return _FOUND.sub(_linked, html) if "[recall:" in html else html


def without_recalls(html: str) -> str:
    """Finished HTML with these links removed, for a page without a server."""
    return _LINK.sub(r"\1", html)


def _linked(match: re.Match[str]) -> str:
    reference = match["reference"]
    if reference is None:
        return match[0]
    address = f"recall?ref={quote(reference, safe='')}"
    return f'<a class="recall" href="{address}">{match[0]}</a>'
