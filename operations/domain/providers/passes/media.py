"""Images, files and typed blocks as a provider accepts them, or described in words (R15).

Images and files that are sent have their bytes and their true media type.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from operations.domain.providers.turns import Turn, TurnPart
from threads.domain.formats.io import json_text
from threads.domain.formats.summaries import SUMMARY
from threads.domain.message import Role
from threads.domain.part import JSON, File, Image, Opaque, Text, ToolResult

from . import findings
from .work import Work

_MAGIC = {
    b"\x89PNG\r\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"%PDF": "application/pdf",
}
_HOLDERS = (Role.USER, Role.TOOL)
"""The roles that may send media with every provider."""
_NAME = {"application/pdf": "document.pdf"}
"""The name of a file that has none, for providers that require one."""
LEAD = "[What the tools above brought:]"
_SAME = {"image/jpg": "image/jpeg", "application/x-pdf": "application/pdf"}
MAX_LENGTH = 4_000
"""The maximum length of a description, in characters."""
_MAX_TEXT_LENGTH = 400
"""The maximum length of one text in a described block, in characters; longer ones are mostly
data."""
_PRIVATE = ("reasoning", "thinking", "encrypted", "compaction")
"""Words in the type of a block that mean that its content is never described (R9)."""
_SERVER_CALL, _SERVER_RESULT = "server_tool_use", "_tool_result"
"""The type of a call that Anthropic ran itself, and the ending of the type of its result."""
_SERVER_IDS = re.compile(r"srvtoolu_[a-zA-Z0-9_]+")
_AUDIO = ("wav", "mp3")
_CHECKED = frozenset(
    {"input_audio", "image", "document", "file", "input_file", "input_image"}
    | {"compaction", "compaction_summary"}
)
"""Types of which `is_sound` names every valid form."""


def sendable(
    part: Image | File, role: Role, work: Work
) -> tuple[Image | File | None, bytes | None]:
    """The part with its bytes or address, None if it can't be sent there; and the bytes."""
    rules = work.rules
    try:
        data = work.draft.heading.data(part)
    except (OSError, LookupError):  # they were never recorded, or are no longer kept
        data = None
    if role not in _HOLDERS and not (role is Role.ASSISTANT and rules.assistant_media):
        return None, data
    if not data:
        return (part if _may_be_named(part, work) else None), data
    media_type = _true_type(part.media_type, data)
    if isinstance(part, File) and media_type.startswith("text/"):
        media_type = "text/plain"
    taken = rules.images if isinstance(part, Image) else rules.files
    if media_type not in taken:
        return None, data
    if isinstance(part, Image):
        return replace(part, media_type=media_type, data=data), data
    if media_type == "text/plain" and not data.strip():
        return None, data
    name = part.name or _NAME.get(media_type)
    return replace(part, media_type=media_type, name=name, data=data), data


def _may_be_named(part: Image | File, work: Work) -> bool:
    """Whether the provider can fetch it from its address, which must be public."""
    if not (part.url or "").startswith(("http://", "https://")):
        return False
    if isinstance(part, File):
        return part.media_type in work.rules.file_urls
    return work.rules.image_urls


def _true_type(media_type: str, data: bytes) -> str:
    """The media type of bytes: providers check it, and transcripts are often wrong about it."""
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    for magic, found in _MAGIC.items():
        if data.startswith(magic):
            return found
    kind = media_type.partition(";")[0].strip().casefold()
    return _SAME.get(kind, kind)


def without_media(turns: Sequence[Turn], work: Work) -> list[Turn]:
    """Move what results may not hold into a user turn after them (R15)."""
    kept: list[Turn] = []
    for turn in turns:
        kept.append(turn)
        if turn.role is Role.TOOL and (media := _taken_out(turn, work)):
            kept.append(Turn(Role.USER, [TurnPart(Text(LEAD)), *media]))
    return kept


def _taken_out(turn: Turn, work: Work) -> list[TurnPart]:
    """Take images and files out of a turn's results."""
    rules = work.rules
    taken: list[TurnPart] = []
    for place, piece in enumerate(turn.pieces):
        part = piece.part
        assert isinstance(part, ToolResult)  # noqa: S101 - a tool's turn holds nothing else
        if rules.result_media and (rules.error_media or not part.is_error):
            continue
        media = [item for item in part.content if isinstance(item, Image | File)]
        if media:
            work.report_repair(findings.MOVED_MEDIA, piece)
            texts = tuple(item for item in part.content if item not in media)
            turn.pieces[place] = piece._replace(part=replace(part, content=texts))
            taken += [piece._replace(part=item) for item in media]
    return taken


# In words


def describe(part: Image | File | Opaque, data: bytes | None = None) -> str:
    """A short text that describes the part; a text file (`data`) is given in full."""
    if isinstance(part, Opaque):
        return _describe_block(part)
    if isinstance(part, Image):
        return (
            f"[An image ({part.media_type}){_where(part)} stands here; it is not sent.]"
        )
    title = part.name or "file"
    if data is not None and part.media_type.startswith("text/"):
        return f"<file {title}>\n{data.decode('utf-8', 'replace')}\n</file>"
    kind = f"{part.media_type}){_where(part)}"
    return f'[The file "{title}" ({kind} stands here; it is not sent.]'


def _where(part: Image | File) -> str:
    url = part.url or ""
    return f" at {url}" if url.startswith(("http://", "https://")) else ""


def _describe_block(part: Opaque) -> str:
    match part.data:
        case {"refusal": str(words)} if words.strip():
            return words
        case {"type": "compaction", "content": str(words)} if words.strip():
            return SUMMARY.format(words)
    if any(word in part.type.casefold() for word in _PRIVATE):
        return f"[A block of the type {part.type} stands here; only its provider reads it.]"
    words = json_text.dump(_shortened(part.data)).decode()
    if len(words) > MAX_LENGTH:
        words = words[:MAX_LENGTH] + "…"
    return f"[A block of the type {part.type} stands here: {words}]"


def _shortened(value: JSON) -> JSON:
    """JSON without its private members, with long texts cut."""
    if isinstance(value, str):
        return (
            value if len(value) <= _MAX_TEXT_LENGTH else value[:_MAX_TEXT_LENGTH] + "…"
        )
    if isinstance(value, list):
        return [_shortened(item) for item in value]
    if isinstance(value, dict):
        return {
            name: _shortened(item)
            for name, item in value.items()
            if not any(word in name.casefold() for word in _PRIVATE)
        }
    return value


def is_sound(part: Opaque) -> bool:
    """Whether the provider that made a block would accept it back."""
    match part.data:
        case {
            "type": "server_tool_use",
            "id": str(id_),
            "name": str(),
            "input": dict(),
        }:
            return _SERVER_IDS.fullmatch(id_) is not None
        case {"type": "server_tool_use"}:
            return False
        case {
            "type": "input_audio",
            "input_audio": {"data": str(data), "format": kind},
        }:
            return bool(data) and kind in _AUDIO
        case {"type": "image" | "document", "source": {"type": kind}}:
            return kind in ("file", "content")
        case {"type": "file", "file": {"file_id": str(id_)}}:
            return bool(id_)
        case {"type": "input_file" | "input_image", "file_id": str(id_)}:
            return bool(id_)
        case {
            "type": "compaction" | "compaction_summary",
            "encrypted_content": str(words),
        }:
            return bool(words)
        case {"type": str(kind)}:
            return kind not in _CHECKED
        case dict():
            return True
    return False


def with_whole_blocks(turns: list[Turn], work: Work) -> list[Turn]:
    """Describe calls that Anthropic ran itself without their results, and the reverse (R15)."""
    if _SERVER_CALL not in work.rules.opaque.get(Role.ASSISTANT, ()):
        return turns
    for turn in turns:
        for place in _lone(turn):
            piece = turn.pieces[place]
            assert isinstance(piece.part, Opaque)  # noqa: S101 - `_lone` names no others
            work.report_repair(findings.SPLIT_BLOCK, piece)
            turn.pieces[place] = piece._replace(part=Text(describe(piece.part)))
    return turns


def _lone(turn: Turn) -> list[int]:
    """The places of calls without a result, and of results without a call before them."""
    waiting: dict[str, int] = {}
    lone: list[int] = []
    for place, piece in enumerate(turn.pieces):
        if not isinstance(piece.part, Opaque):
            continue
        type_, data = piece.part.type, piece.part.data
        if type_ == _SERVER_CALL:
            if waiting.setdefault(str(data.get("id")), place) != place:
                lone.append(place)
        elif type_.endswith(_SERVER_RESULT) and (
            waiting.pop(str(data.get("tool_use_id")), None) is None
        ):
            lone.append(place)
    return [*lone, *waiting.values()]
