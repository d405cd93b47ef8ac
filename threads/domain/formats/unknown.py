"""Says what a file looks like that is not a known transcript, for its refusal."""

import codecs
import json
import re
from io import BytesIO

from contextstudio.accounts.domain.errors import Invalid

from .io import json_file, json_text, source, utf_16
from .io.rows import table
from .sample import HEAD, Sample

_IMAGES = {
    b"\x89PNG": "PNG",
    b"\xff\xd8\xff": "JPEG",
    b"GIF8": "GIF",
    b"II*\0": "TIFF",
    b"MM\0*": "TIFF",
}
"""How images begin, such as a screenshot of a conversation."""
_CONTROLS = re.compile(rb"[\x01-\x06\x0e-\x1a\x1c-\x1f]")
"""Control bytes that never occur in text: neither white space nor terminal controls."""
_PRINTED = re.compile(rb"\s*[\[({]+\s*(?:\{\s*)?'")
"""How a list or dict printed by Python begins: with single quotes."""


def refusal_of(head: bytes) -> Invalid:
    """The refusal of a file that is not a known transcript; for JSON with a mistake, its line."""
    found = _appearance(head)
    if isinstance(found, str):
        return Invalid(f"This is {found}.", code="format_unknown")
    place = f"line {found.lineno}, column {found.colno}"
    return Invalid(
        f"This is JSON with a mistake in it ({place}: {found.msg}).",
        at=["line", found.lineno],
        code="format_unknown",
    )


def _appearance(head: bytes) -> str | json.JSONDecodeError:
    """What the file looks like, as the end of a sentence, or the mistake in its JSON."""
    if not head.strip():
        return "an empty file"
    if head[:4] in utf_16.UTF_32:
        return "UTF-32 text; save it as UTF-8 and import it again"
    if utf_16.encoding_of(head):
        return "UTF-16 text; save it as UTF-8 and import it again"
    byte = _not_utf_8(head)
    if image := _image(head):
        return f"an image ({image}), not a transcript"
    if b"\0" in head or (byte is not None and _CONTROLS.search(head)):
        return "a binary file, not a transcript"
    if (notation := _notation(head)) is not None:
        return notation
    if byte is not None:
        return f"text that is not UTF-8 (at byte {byte}); save it as UTF-8 and import it again"
    return "text, but not a transcript that ContextStudio knows"


def _notation(head: bytes) -> str | json.JSONDecodeError | None:
    """What a text looks like, judged by its notation: JSON, printed Python or a table."""
    if _PRINTED.match(head):
        return "a Python list or dict as printed; write it with json.dumps"
    sample = Sample(head)
    if len(sample.records) < 2 and (mistake := _mistake(head)) is not None:
        return mistake
    if sample.rows and len(head) < HEAD and source.end_of(BytesIO(head)) is None:
        return "JSON that ends before it is complete"
    if sample.rows or _are_lists(head):
        return "JSON, but not a transcript that ContextStudio knows"
    if table.first_lines(head):
        return "a table, but none whose columns ContextStudio knows; name two role and content"
    return None


def _image(head: bytes) -> str | None:
    """The kind of image, judged by the first bytes; the rest of the file may be damaged."""
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "WebP"
    return next((kind for mark, kind in _IMAGES.items() if head.startswith(mark)), None)


def _not_utf_8(head: bytes) -> int | None:
    """Index, from 0, of the first byte that is not UTF-8, if any; a cut-off end doesn't count."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head, len(head) < HEAD)
    except UnicodeDecodeError as error:
        return error.start
    return None


def _are_lists(head: bytes) -> bool:
    """Whether a file is several lines that are all lists: JSON Lines without objects."""
    lines = [line for line in head.splitlines() if line.strip()]
    whole = lines[: -1 if len(head) == HEAD else None]
    return len(lines) > 1 and all(map(_is_list, whole))


def _is_list(line: bytes) -> bool:
    """Whether a line is a JSON list; it is parsed only if it begins like one."""
    begins = line.lstrip(json_text.BOM + b" \t\r").startswith(b"[")
    return begins and isinstance(json_file.parsed(line), list)


def _mistake(head: bytes) -> json.JSONDecodeError | None:
    """The mistake in a short file that begins and ends like JSON; None if there is none."""
    text = head.decode("utf-8-sig", "replace").strip()
    if _are_lists(head):
        return None
    if len(head) < HEAD and text[:1] + text[-1:] in ("[]", "{}"):
        try:
            json.loads(text)
        except json.JSONDecodeError as mistake:
            return mistake
        except ValueError:  # an integer of more digits than Python converts
            pass
    return None
