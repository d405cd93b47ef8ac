"""Reads the content of a message in a ChatGPT export.

The format is not published; the shapes here are those that readers of real exports describe
(convoviz `docs/dev/chatgpt-spec.md` 3.0, 2026) and `docs/formats.md` lists.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from threads.domain.formats.io import fields, source
from threads.domain.formats.io.folder import Member
from threads.domain.part import JSON, File, Image, Opaque, Part, Text, Thinking

MARK = re.compile("\ue200[^\ue200\ue201]*\ue201")
"""A citation as the model writes it: its kind and sources between private-use characters."""
NO_CONTEXT = frozenset({"reasoning_recap"})
"""Contents shown only on the page, which no model reads: how long it thought."""
WORDS = ("text", "result", "summary", "output_str", "model_set_context", "content")
"""Names of the text member in contents with a single text."""
PAGES = ("tether_quote", "sonic_webpage")
MEDIA = {
    "gif": "image/gif",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "md": "text/markdown",
    "pdf": "application/pdf",
    "png": "image/png",
    "txt": "text/plain",
    "wav": "audio/wav",
    "webp": "image/webp",
}


class Asset(NamedTuple):
    """A file of the export: its media type, its bytes, and its locator."""

    media_type: str
    data: bytes
    record: str


Assets = Callable[[str], Asset | None]
"""Returns the file that a pointer or an attachment's id names; None if it isn't there."""


def assets_of(own: dict[str, Member]) -> Assets:
    """A lookup of files by the id that their names begin with; None for one too large to hold."""
    by_id: dict[str, Member] = {}
    for name, member in own.items():
        words = re.split(r"[-.]", PurePosixPath(name).name)
        # file-<id>-<name>.png, file_<hex>-sanitized.jpeg: the id may hold dashes.
        for end in range(1, len(words)):
            by_id.setdefault("-".join(words[:end]), member)

    def find(id_: str) -> Asset | None:
        member = by_id.get(id_) if id_.startswith("file") else None
        if member is None or member.size > source.MAX_PIECE:
            return None
        with member.open() as file:
            data = file.read()
        suffix = member.name.rpartition(".")[2].lower()
        type_ = MEDIA.get(suffix, "application/octet-stream")
        return Asset(type_, data, f"{member.name}#bytes:0-{len(data)}")

    return find


def read_parts(message: JSON, assets: Assets) -> tuple[tuple[Part, ...], list[str]]:
    """The parts of a message, and the locators of the files in it."""
    content = fields.mapping(message, "content")
    if fields.text(content, "content_type") in NO_CONTEXT:
        return (), []
    metadata = fields.mapping(message, "metadata")
    references = fields.items(metadata, "content_references")
    records: list[str] = []
    parts: list[Part] = []
    # The user's custom instructions, in exports before 2024.
    about = fields.mapping(metadata, "user_context_message_data")
    names = ("about_user_message", "about_model_message")
    settings = (Text(fields.text(about, name)) for name in names)
    said = (*_content(content), *settings)
    shown = {_pointer(part.data) for part in said if isinstance(part, Opaque)}
    for part in (*said, *_attached(metadata, shown)):
        match part:
            case Text(text):
                parts.append(Text(cite(text, references)))
            case Opaque(type_, data) if asset := assets(_pointer(data)):
                records.append(asset.record)
                parts.append(_file(asset, fields.text(data, "name"), type_))
            case _:
                parts.append(part)
    return tuple(p for p in parts if not isinstance(p, Text) or p.text.strip()), records


def cite(text: str, references: list[Any]) -> str:
    """The text with citations as the page shows them; one without a source is unchanged."""
    if "\ue200" not in text:
        return text
    shown = {
        fields.text(reference, "matched_text"): reference["alt"]
        for reference in references
        if isinstance(fields.mapping(reference).get("alt"), str)
    }
    return MARK.sub(lambda mark: shown.get(mark[0], mark[0]), text)


def plain_text(parts: tuple[Part, ...]) -> str:
    """The texts among the parts, joined by line breaks."""
    return "\n".join(part.text for part in parts if isinstance(part, Text))


def _content(content: dict[str, Any]) -> Iterator[Part]:
    kind = fields.text(content, "content_type")
    if kind == "thoughts":
        for thought in fields.items(content, "thoughts"):
            words = (fields.text(thought, "summary"), fields.text(thought, "content"))
            if any(words):
                yield Thinking("\n\n".join(word for word in words if word))
    elif kind == "user_editable_context":
        yield Text(fields.text(content, "user_profile"))
        yield Text(fields.text(content, "user_instructions"))
    elif kind == "computer_output" and isinstance(content.get("screenshot"), dict):
        yield Opaque("image_asset_pointer", content["screenshot"])
    elif "parts" in content:
        yield from map(_part, fields.items(content, "parts"))
    elif kind in PAGES:
        names = ("title", "url", "text")
        yield Text("\n".join(filter(None, (fields.text(content, n) for n in names))))
    else:
        yield from _words(kind, content)


def _words(kind: str, content: dict[str, Any]) -> Iterator[Part]:
    """The single text of a content, under any of its names; else the whole content."""
    held = [content[name] for name in WORDS if name in content]
    words = [value for value in held if isinstance(value, str) and value]
    if kind == "system_error":
        name = fields.text(content, "name")
        yield Text(": ".join([*([name] if name else []), *words]))
    elif words:
        yield Text(words[0])
    elif not held and len(content) > ("content_type" in content):
        yield Opaque(kind or "content", content)


def _part(part: JSON) -> Part:
    if isinstance(part, str):
        return Text(part)
    kind = fields.text(part, "content_type")
    if kind == "audio_transcription" or (not kind and fields.text(part, "text")):
        return Text(fields.text(part, "text"))
    return Opaque(kind or "part", part)


def _attached(metadata: dict[str, Any], shown: set[str]) -> Iterator[Part]:
    """The files attached to a message, except those that its content already shows (images)."""
    for file in fields.items(metadata, "attachments"):
        if isinstance(file, dict) and _pointer(file) not in shown:
            yield Opaque("attachment", file)


def _pointer(data: JSON) -> str:
    """The id of a file: `file-service://file-…`, `sediment://file_…`, or the bare id."""
    nested = fields.mapping(data, "audio_asset_pointer")
    address = fields.text(data, "asset_pointer", "id") or fields.text(
        nested, "asset_pointer"
    )
    return address.rpartition("://")[2]


def _file(asset: Asset, name: str, kind: str) -> Image | File:
    if kind == "image_asset_pointer" or asset.media_type.startswith("image/"):
        return Image(asset.media_type, data=asset.data)
    return File(asset.media_type, name or None, data=asset.data)
