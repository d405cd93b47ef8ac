"""Codex's rollouts: JSON Lines appended while the agent works, in two generations.

Since September 2025, a line is an envelope `{"timestamp", "type", "payload"}`; before that, bare
items followed a header. The items (`response_item`) are the conversation, as sent to and received
from the Responses API; events (`event_msg`) repeat them for the screen. This was written from
versions of 2025 and 2026 and from Codex's own reader; `docs/formats.md` says what is read.
"""

from typing import BinaryIO

from threads.domain.formats.format import Format
from threads.domain.formats.io import fields
from threads.domain.formats.kit.graph.branches import BRANCHES_LEFT
from threads.domain.formats.kit.items import already_open
from threads.domain.formats.kit.transcripts import refusal
from threads.domain.formats.sample import Sample
from threads.domain.transcript import Transcript

from . import exec
from .rollout import RolloutIndex
from .session import NAME, gather, has_words, transcripts
from .writing import WRITER

LABEL = "a Codex rollout (JSONL)"
KINDS = frozenset({"session_meta", "response_item", "event_msg", "turn_context"})


def read(file: BinaryIO, name: str) -> list[Transcript]:
    """The thread of a rollout, then the branches that were rolled back.

    Raises Invalid if nobody says anything.
    """
    found = transcripts(RolloutIndex(file), name, already_open(file))
    if not has_words(found[0].items):
        broken = [one for one in found[0].warnings if one.code != BRANCHES_LEFT]
        raise refusal(broken, LABEL)
    return found


def _score(sample: Sample) -> float:
    """By an envelope with a kind of Codex's, or by the header before bare items."""
    if any(
        fields.text(row, "type") in KINDS and isinstance(row.get("payload"), dict)
        for row in sample.records
    ):
        return 0.95
    first, *later = sample.records or [{}]
    is_header = (
        "type" not in first and "timestamp" in first and fields.text(first, "id")
    )
    return 0.9 if is_header and later and first.keys() & {"instructions", "git"} else 0


FORMAT = Format(NAME, LABEL, _score, read, gather=gather)
FORMATS = (FORMAT, exec.FORMAT)
WRITERS = {"codex": WRITER}
