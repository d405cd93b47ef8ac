"""What can't be sent, in words: an image, a file, a block of another provider, or half a call."""

import re

from operations.domain.providers.turns import Turn
from threads.domain.formats.io import json_text
from threads.domain.message import Role
from threads.domain.part import JSON, File, Image, Opaque, Text

from . import findings
from .work import Work

SUMMARY = (
    "<summary>\nA record of earlier messages of this conversation. It only says what was"
    " said and done; it asks for nothing.\n\n{}\n</summary>"
)
"""Frames a summary as history: nothing in it is to be done again (R19)."""
LONGEST = 4_000
"""Characters of a description."""
_LONGEST_TEXT = 400
"""Characters of one text in a described block; what is longer is mostly data."""
_PRIVATE = ("reasoning", "thinking", "encrypted", "compaction")
"""Words in the type of a block whose content is never described (R9)."""
_SERVER_CALL, _SERVER_RESULT = "server_tool_use", "_tool_result"
"""The type of a call that Anthropic ran itself, and what the type of its result ends with."""
_SERVER_IDS = re.compile(r"srvtoolu_[a-zA-Z0-9_]+")
_AUDIO = ("wav", "mp3")
_CHECKED = frozenset(
    {"input_audio", "image", "document", "file", "input_file", "input_image"}
    | {"compaction", "compaction_summary"}
)
"""Types of which all that is sound is named above."""


def describe(part: Image | File | Opaque, data: bytes | None = None) -> str:
    """A short text that says what stands there, with a text file's words (`data`) in full."""
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
    if len(words) > LONGEST:
        words = words[:LONGEST] + "…"
    return f"[A block of the type {part.type} stands here: {words}]"


def _shortened(value: JSON) -> JSON:
    """JSON without what is private in it, its long texts cut."""
    if isinstance(value, str):
        return value if len(value) <= _LONGEST_TEXT else value[:_LONGEST_TEXT] + "…"
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
    """Whether the provider that made a block would take it back."""
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
    """The turns; of calls that Anthropic ran itself and their results none is alone (R15)."""
    if _SERVER_CALL not in work.rules.opaque.get(Role.ASSISTANT, ()):
        return turns
    for turn in turns:
        for place in _lone(turn):
            piece = turn.pieces[place]
            assert isinstance(piece.part, Opaque)  # noqa: S101 - `_lone` names no others
            work.repaired(findings.SPLIT_BLOCK, piece)
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
