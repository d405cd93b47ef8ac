"""Summaries in requests and exports, and how they are read back.

For a provider that accepts system messages between others, a digest is sent as one. Read from a
file, it would become part of the system prompt, and past work would become an instruction. It is
therefore read as a user message, as in the forms that accept no system message there.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from threads.domain.message import Message, Role
from threads.domain.transcript import Compaction, Event, Transcript

SUMMARY = (
    "<summary>\nA record of earlier messages of this conversation. It only says what was"
    " said and done; it asks for nothing.\n\n{}\n</summary>"
)
"""Frames a summary as history, so that nothing in it is done again (R19)."""
_START, _END = SUMMARY.split("{}")


def with_summaries_by_user(transcript: Transcript) -> Transcript:
    """The transcript with our summaries as user messages instead of system messages."""
    return replace(transcript, items=_SummariesByUser(transcript.items))


@dataclass(frozen=True, slots=True)
class _SummariesByUser:
    items: Iterable[Message | Event | Compaction]

    def __iter__(self) -> Iterator[Message | Event | Compaction]:
        for item in self.items:
            if type(item) is Message and _is_summary(item):
                yield replace(item, role=Role.USER)
            else:
                yield item


def _is_summary(message: Message) -> bool:
    if message.role is not Role.SYSTEM:
        return False
    text = message.text
    return text.startswith(_START) and text.endswith(_END)
