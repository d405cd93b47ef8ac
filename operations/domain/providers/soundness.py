"""Whether a typed block is whole enough for its own provider (R15).

Blocks of media that could be read became images and files: one that is still a block holds an
id of the provider's, or nothing that it would take.
"""

import re

from threads.domain.part import Opaque

_SERVER_IDS = re.compile(r"srvtoolu_[a-zA-Z0-9_]+")
_AUDIO = ("wav", "mp3")


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


_CHECKED = frozenset(
    {"input_audio", "image", "document", "file", "input_file", "input_image"}
    | {"compaction", "compaction_summary"}
)
"""Types of which all that is sound is named above."""
