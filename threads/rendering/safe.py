"""The last step of every rendering: an allow-list of tags, attributes, classes and addresses.

Renderers escape what they print, so this should never find anything to remove; it is the second
line of defence against scripts in transcripts. It passes no `id`, `name`, `style`, `on*`, `hx-*` or
`data-*`. Classes are those of `static/css/base/body.css`, links lead to the web or to mail,
pictures only to stored blobs.
"""

import re
from html import escape

import nh3
from django.utils.safestring import SafeString
from pygments.token import STANDARD_TYPES

from .hidden import mark, visible
from .recalls import with_recalls

__all__ = ["CODE_PREFIX", "escape", "finish", "visible"]

CODE_PREFIX = "k-"
"""Prefix of the short class names of Pygments: `k-kd` is the class of a declaring keyword."""

_TAG_NAMES = """
    a b bdi blockquote br code del details div em h4 h5 h6 hr img ins li ol p pre s span strong
    summary table tbody td th thead tr ul
"""
_CLASS_NAMES = """
    prose code output ansi json diff steps thinking tool result more note chip picture unseen size
    tool-name tool-argument tool-note arguments status is-good is-bad when-closed when-open
    todos todo-state is-done is-doing line sign add remove change context hunk file
    key string number constant at-start at-centre at-end
    a-bold a-dim a-italic a-underline a-strike
"""
_TAGS = frozenset(_TAG_NAMES.split())
_ATTRIBUTES = {
    "a": {"href", "title"},
    "img": {"src", "alt"},
    "ol": {"start"},
    "pre": {"aria-label"},
    "span": {"title"},
}
_VALUES = {
    "details": {"open": {"", "open"}},
    "div": {"dir": {"auto"}},
    "img": {"loading": {"lazy"}, "decoding": {"async"}},
    "pre": {"tabindex": {"0"}, "role": {"group"}, "dir": {"ltr"}},
}
_CLASSES = (
    frozenset(_CLASS_NAMES.split())
    | {CODE_PREFIX + short for short in STANDARD_TYPES.values() if short}
    | {f"a-{ground}{colour}" for ground in "fg" for colour in range(256)}
)
_LINK = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)
_BLOB = re.compile(r"/api/blobs/[0-9a-f]{64}")


def finish(html: str) -> SafeString:
    """Make rendered, escaped HTML safe for a page: mark hidden characters, apply the allow-list.

    References are only linked afterwards, since these links are our own.
    """
    return SafeString(with_recalls(_CLEANER.clean(mark(visible(html)))))


def _filter(tag: str, attribute: str, value: str) -> str | None:
    if attribute == "href":
        return value if _LINK.match(value) else None
    if attribute == "src":
        return value if _BLOB.fullmatch(value) else None
    return value


_CLEANER = nh3.Cleaner(
    tags=_TAGS,
    clean_content_tags={"script", "style"},
    attributes=_ATTRIBUTES,
    attribute_filter=_filter,
    link_rel="noopener noreferrer nofollow",
    tag_attribute_values=_VALUES,
    set_tag_attribute_values={"a": {"target": "_blank"}},
    url_schemes={"http", "https", "mailto"},
    url_relative="pass_through",  # `_filter` passes no relative address but a blob's
    allowed_classes={tag: set(_CLASSES) for tag in _TAGS},
    generic_attribute_prefixes=set(),
)
