"""Pictures and files of a message: stored pictures are shown, all else is named."""

import re

from threads.domain.part import File, Image

from .cut import readable
from .safe import escape
from .text.markdown import allowed, remote_picture

SHOWN_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""What a browser only paints. SVG is a document that can hold scripts, and isn't shown."""

_SHA256 = re.compile(r"[0-9a-f]{64}")


def render_image(image: Image) -> str:
    """The stored picture, or a chip that says which picture isn't shown."""
    kind = image.media_type.lower()
    if image.sha256 and _SHA256.fullmatch(image.sha256) and kind in SHOWN_TYPES:
        return (
            f'<div class="picture"><img src="/api/blobs/{image.sha256}"'
            f' alt="Picture in the message, {escape(kind)}" loading="lazy" decoding="async"></div>'
        )
    if image.url and allowed(image.url):
        return f'<div class="picture">{remote_picture(image.url)}</div>'
    return _chip("picture not shown", _described(None, image.media_type, image.data))


def render_file(file: File) -> str:
    """A chip with the name, type and size of a file."""
    return _chip("file", _described(file.name, file.media_type, file.data))


def _described(name: str | None, media_type: str, data: bytes | None) -> str:
    size = readable(len(data)) if data is not None else None
    return ", ".join(word for word in (name, media_type, size) if word)


def _chip(kind: str, what: str) -> str:
    shown = escape(what[:300])
    return f'<div class="picture"><span class="chip">{kind}: <bdi>{shown}</bdi></span></div>'
