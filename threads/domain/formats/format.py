"""What the detector knows of a format, and what a writer is given."""

import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, NamedTuple

from threads.domain.message import Message
from threads.domain.part import JSON, File, Image
from threads.domain.transcript import Transcript

from .io import base64_text
from .io.folder import Folder, Gathered
from .sample import Sample

Score = Callable[[Sample], float]
"""How sure a format's test is of a file: 0 (it is something else) to 1."""
Reader = Callable[[BinaryIO, str], list[Transcript]]
"""Reads a file (its second argument is the file's name, or empty) into conversations."""
Gatherer = Callable[[Folder], list[Gathered]]
"""Reads conversations that several files make together; leaves all others alone."""
Blob = Callable[[str], bytes]
"""The bytes of an image or a file by their SHA-256."""


@dataclass(frozen=True, slots=True)
class Format:
    """One format: its name for programs, its label for people, its test, its reader.

    A format without a reader is known by name only; `hint` says what to do instead. `gather`
    is for formats that spread a conversation over several files, or join what lies in
    several: it is asked before the files are read one by one.
    """

    name: str
    label: str
    score: Score
    read: Reader | None = None
    hint: str = ""
    gather: Gatherer | None = None
    is_general: bool = False
    """Whether other programs write it too: of two formats as sure of a file, the other is meant."""


class Candidate(NamedTuple):
    """What a file may be, and how sure that is."""

    format: str
    score: float
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """What an exported file says beside its messages, and where it gets their images."""

    title: str = ""
    model: str = ""
    external_id: str | None = None
    strategy: str = ""
    blob: Blob | None = None
    first_changed: int | None = None
    """The first message, from 0, that an operation changed: signatures hold before it alone."""
    export_id: uuid.UUID = field(default_factory=uuid.uuid4)
    """What the file calls the conversation, where its tool would confuse it with the source."""
    system: int | None = None
    """How many messages at the top are the system prompt; None: all that are the system's."""

    render: "Callable[[Message, Heading], str] | None" = None
    """Makes the safe HTML of a message's body, for a page; None: bodies are plain text."""
    tools: JSON = None
    """Definitions of tools, as the request had them that the messages are of."""
    styles: str = ""
    """The style sheet of a page."""

    def data(self, part: Image | File) -> bytes | None:
        """The bytes of an image or a file; None where it is only known by its address."""
        if part.data is None and part.sha256 is not None and self.blob is not None:
            return self.blob(part.sha256)
        return part.data

    def address(self, part: Image | File) -> str:
        """The bytes as a `data:` address, so that the file stands alone; else where they are."""
        data = self.data(part)
        if data is not None:
            return base64_text.data_uri(part.media_type, data)
        return part.url or f"/api/blobs/{part.sha256}"


class Writer(NamedTuple):
    """How a format is written: messages to the pieces of one file."""

    label: str
    """What people call the file."""
    suffix: str
    media_type: str
    write: Callable[[Iterable[Message], Heading], Iterator[bytes]]
    file_name: Callable[[Heading], str] | None = None
    """What the file must be called for its tool to find it; None: it may have any name."""
