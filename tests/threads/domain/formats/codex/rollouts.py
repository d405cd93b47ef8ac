"""Rollouts of Codex, read by tests."""

import io
from typing import Any

from tests.threads.support.readings import messages
from tests.threads.support.rollouts import as_file
from threads.domain import formats
from threads.domain.message import Message
from threads.domain.transcript import Compaction, Event, Transcript

Items = list[Message | Event | Compaction]


def read(*found: Any, name: str = "") -> tuple[Transcript, Items]:
    raw = found[0] if found and isinstance(found[0], bytes) else as_file(*found)
    transcript, *_ = formats.read(io.BytesIO(raw), "codex", name=name)
    return transcript, list(transcript.items)


def spoken(items: Items) -> list[tuple[str, str]]:
    return [(str(message.role), message.text) for message in messages(items)]
