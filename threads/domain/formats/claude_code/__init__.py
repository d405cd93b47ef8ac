"""Claude Code's sessions: files appended while the agent works, and its JSON output.

Each line is a record with `uuid` and `parentUuid`. An answer of the API is written as one line per
content block, all with its `message.id`. Seen in versions 2.1.7 to 2.1.219; the format is not
published, and `docs/formats.md` says what is read from it. It stores no system prompt and no tool
definitions.
"""

from functools import partial
from pathlib import PurePath
from typing import BinaryIO

from threads.domain.formats.format import Format
from threads.domain.formats.io import fields
from threads.domain.formats.kit.items import already_open
from threads.domain.formats.kit.transcripts import refusal
from threads.domain.formats.sample import Sample
from threads.domain.transcript import Transcript

from . import folder as claude_folder
from . import record as claude_record
from .conversations import NAME, transcripts
from .index import SessionIndex
from .managed import FORMAT as MANAGED_FORMAT
from .terminal import FORMAT as TERMINAL_FORMAT
from .web import FORMAT as WEB_FORMAT
from .writing import WRITER

LABEL = "a Claude Code session (JSONL)"
STREAM = "claude_code_stream"
STREAM_LABEL = "the stream-json output of Claude Code"


def read(file: BinaryIO, name: str, format_: str = NAME) -> list[Transcript]:
    """The thread of a session file or of a run's output, then its branches and sub-agents.

    Raises Invalid if it holds no message.
    """
    index = SessionIndex(file)
    if not index.notes[0].message_count:
        raise refusal(index.warnings, LABEL if format_ == NAME else STREAM_LABEL)
    return list(transcripts(index, PurePath(name).stem, already_open(file), format_))


def _score_stream(sample: Sample) -> float:
    """By the beginning of a run, or by messages that name the call they belong to."""
    for record in sample.records:
        is_own = fields.text(record, "session_id") and "parentUuid" not in record
        is_start = record.get("type") == "system" and record.get("subtype") == "init"
        is_message = "parent_tool_use_id" in record and "message" in record
        if is_own and (is_start or is_message):
            return 0.9
    return 0


FORMAT = Format(NAME, LABEL, claude_record.score, read, gather=claude_folder.gather)
STREAM_FORMAT = Format(
    STREAM, STREAM_LABEL, _score_stream, partial(read, format_=STREAM)
)
FORMATS = (FORMAT, STREAM_FORMAT, MANAGED_FORMAT, WEB_FORMAT, TERMINAL_FORMAT)
WRITERS = {"claude_code": WRITER}
