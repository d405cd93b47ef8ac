"""Images and files as a provider takes them: their bytes at hand, their kind true (R15)."""

from collections.abc import Sequence
from dataclasses import replace

from operations.domain.providers.turns import Piece, Turn
from threads.domain.message import Role
from threads.domain.part import File, Image, Text, ToolResult

from . import findings
from .work import Work

_MAGIC = {
    b"\x89PNG\r\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"%PDF": "application/pdf",
}
_HOLDERS = (Role.USER, Role.TOOL)
"""Who may send media everywhere."""
_NAME = {"application/pdf": "document.pdf"}
"""What a file is called that has no name, where the provider asks for one."""
LEAD = "[What the tools above brought:]"
_SAME = {"image/jpg": "image/jpeg", "application/x-pdf": "application/pdf"}


def sendable(
    part: Image | File, role: Role, work: Work
) -> tuple[Image | File | None, bytes | None]:
    """The part with its bytes or its address, None where it can't be sent there; the bytes."""
    rules = work.rules
    try:
        data = work.draft.heading.data(part)
    except (OSError, LookupError):  # they are nowhere, or kept no longer
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
    """Whether the provider fetches it itself, from an address that is not ours."""
    if not (part.url or "").startswith(("http://", "https://")):
        return False
    if isinstance(part, File):
        return part.media_type in work.rules.file_urls
    return work.rules.image_urls


def _true_type(media_type: str, data: bytes) -> str:
    """What bytes are: providers compare, and transcripts are often wrong about it."""
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    for magic, found in _MAGIC.items():
        if data.startswith(magic):
            return found
    kind = media_type.partition(";")[0].strip().casefold()
    return _SAME.get(kind, kind)


def without_media(turns: Sequence[Turn], work: Work) -> list[Turn]:
    """The turns with what results may not hold in a user's turn behind them (R15)."""
    kept: list[Turn] = []
    for turn in turns:
        kept.append(turn)
        if turn.role is Role.TOOL and (media := _taken_out(turn, work)):
            kept.append(Turn(Role.USER, [Piece(Text(LEAD)), *media]))
    return kept


def _taken_out(turn: Turn, work: Work) -> list[Piece]:
    """Takes images and files out of a turn's results."""
    rules = work.rules
    taken: list[Piece] = []
    for place, piece in enumerate(turn.pieces):
        part = piece.part
        assert isinstance(part, ToolResult)  # noqa: S101 - a tool's turn holds nothing else
        if rules.result_media and (rules.error_media or not part.is_error):
            continue
        media = [item for item in part.content if isinstance(item, Image | File)]
        if media:
            work.repaired(findings.MOVED_MEDIA, piece)
            texts = tuple(item for item in part.content if item not in media)
            turn.pieces[place] = piece._replace(part=replace(part, content=texts))
            taken += [piece._replace(part=item) for item in media]
    return taken
