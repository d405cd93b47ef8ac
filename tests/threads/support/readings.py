"""Transcripts read from any data by tests, and their items of one kind."""

import io
import json
from collections.abc import Iterable
from typing import Any

from threads.domain import formats
from threads.domain.message import Message
from threads.domain.part import Part
from threads.domain.transcript import Compaction, Event, Transcript

Item = Message | Event | Compaction


def encoded(data: Any) -> bytes:
    """Bytes unchanged, anything else as JSON."""
    return data if isinstance(data, bytes) else json.dumps(data).encode()


def read(data: Any, format: str = "auto", name: str = "") -> list[Transcript]:
    """The conversations of a file with this content."""
    return formats.read(io.BytesIO(encoded(data)), format, name)


def messages(found: Transcript | Iterable[Item]) -> list[Message]:
    return [item for item in _items(found) if isinstance(item, Message)]


def compactions(found: Transcript | Iterable[Item]) -> list[Compaction]:
    return [item for item in _items(found) if isinstance(item, Compaction)]


def events(found: Transcript | Iterable[Item]) -> list[str]:
    """The type of each event."""
    return [item.type for item in _items(found) if isinstance(item, Event)]


def parts(found: Transcript | Iterable[Item]) -> list[tuple[Part, ...]]:
    """The parts of each message."""
    return [message.parts for message in messages(found)]


def texts(found: Transcript | Iterable[Item]) -> list[str]:
    """The text of each message."""
    return [message.text for message in messages(found)]


def told(found: Transcript | Iterable[Item]) -> list[str]:
    """Each item as its role and text, its type, or what it hides."""
    return [_told(item) for item in _items(found)]


def _told(item: Item) -> str:
    match item:
        case Message():
            return f"{item.role}: {item.text}"
        case Event():
            return item.type
    words = ", ".join(message.text for message in item.messages)
    return f"{item.replaces} is {words}"


def _items(found: Transcript | Iterable[Item]) -> Iterable[Item]:
    return found.items if isinstance(found, Transcript) else found
