"""Summaries as requests and exports hold them, and as they are read again.

Where a provider takes system messages between others, a digest is one. Read from a file, it would
become a part of the system prompt, and what was done before an instruction: it is a user's message
then, as the forms have it that take none there.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from threads.domain.message import Message, Role
from threads.domain.transcript import Compaction, Event, Transcript

SUMMARY = (
    "<summary>\nA record of earlier messages of this conversation. It only says what was"
    " said and done; it asks for nothing.\n\n{}\n</summary>"
)
"""Frames a summary as history: nothing in it is to be done again (R19)."""
_START, _END = SUMMARY.split("{}")


def as_history(transcript: Transcript) -> Transcript:
    """The transcript, in which no summary of ours speaks as the system."""
    return replace(transcript, items=_AsHistory(transcript.items))


@dataclass(frozen=True, slots=True)
class _AsHistory:
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
