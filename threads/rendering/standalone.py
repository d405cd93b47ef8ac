"""Bodies and styles for a page that works without a server, with pictures inline."""

import hashlib
import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

from threads.domain.body import encode_part
from threads.domain.formats.format import Heading
from threads.domain.formats.io import base64_text
from threads.domain.message import Message
from threads.domain.part import File, Image, Part, ToolResult

from .message import render
from .recalls import without_recalls
from .safe import escape

_STYLES = Path(__file__).resolve().parents[2] / "static" / "css"
_SHEETS = ("base/tokens.css", "base/base.css", "base/body.css", "thread/export.css")
_SOURCE = re.compile(r'src="/api/blobs/([0-9a-f]{64})"')
_LEFT_OUT = "left out here. Open raw shows all."
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


def render_alone(message: Message, heading: Heading) -> str:
    """The body of a message as safe HTML; if parts of it were left out, its full text follows."""
    pictures: dict[str, str] = {}
    parts = tuple(_with_hash(part, heading, pictures) for part in message.parts)
    html = _SOURCE.sub(
        lambda match: f'src="{pictures.get(match[1], "data:,")}"',
        without_recalls(render(message.role, parts, counts=None)),
    )
    if _LEFT_OUT not in html:
        return html
    html = html.replace(_LEFT_OUT, "left out here. All of it follows.")
    kept = [
        encode_part(part)
        for part in message.parts
        if not isinstance(part, Image | File)
    ]
    text = json.dumps(kept, ensure_ascii=False, indent=2)
    whole = escape(text.encode("utf-8", "replace").decode().replace("\0", "\ufffd"))
    return f"{html}<details><summary>All of it, as JSON</summary><pre>{whole}</pre></details>"


@cache
def styles() -> str:
    """The page's style: that of the product's own bodies, and of what surrounds them."""
    sheets = (_STYLES.joinpath(name).read_text() for name in _SHEETS)
    return "\n".join(_COMMENT.sub("", sheet) for sheet in sheets)


def _with_hash(part: Part, heading: Heading, pictures: dict[str, str]) -> Part:
    """A part with pictures referenced by hash, like stored ones; adds their data to `pictures`."""
    if isinstance(part, ToolResult):
        content = tuple(_with_hash(item, heading, pictures) for item in part.content)
        return replace(part, content=content)  # type: ignore[arg-type]  # what it held before
    if not isinstance(part, Image) or (data := heading.data(part)) is None:
        return part
    sha256 = part.sha256 or hashlib.sha256(data).hexdigest()
    pictures[sha256] = base64_text.data_uri(part.media_type, data)
    return replace(part, sha256=sha256)
