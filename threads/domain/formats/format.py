"""What the detector knows about a format, and what a writer is given."""

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
"""How sure a format's test is that a file is in it: 0 (it is something else) to 1."""
Reader = Callable[[BinaryIO, str], list[Transcript]]
"""Reads a file into conversations; the second argument is the file's name, or empty."""
Gatherer = Callable[[Folder], list[Gathered]]
"""Reads conversations that consist of several files; ignores all other files."""
Blob = Callable[[str], bytes]
"""Returns the bytes of an image or a file by their SHA-256."""


@dataclass(frozen=True, slots=True)
class Format:
    """One format: its name for programs, its label for people, its test, its reader.

    A format without a reader is known by name only; `hint` says what to do instead. `gather` is
    for formats that spread a conversation over several files, or that join the contents of
    several: it is called before the files are read one by one.
    """

    name: str
    label: str
    score: Score
    read: Reader | None = None
    hint: str = ""
    gather: Gatherer | None = None
    is_general: bool = False
    """Whether other programs write it too: at equal scores, a format that isn't general wins."""


class Candidate(NamedTuple):
    """A format that a file may be in, and how sure that is."""

    format: str
    score: float
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """What an exported file says besides its messages, and where it gets their images."""

    title: str = ""
    model: str = ""
    external_id: str | None = None
    strategy: str = ""
    blob: Blob | None = None
    first_changed: int | None = None
    """Index of the first message that an operation changed; only before it are signatures valid."""
    export_id: uuid.UUID = field(default_factory=uuid.uuid4)
    """The conversation's id in formats whose tool would otherwise confuse it with the source."""
    system: int | None = None
    """How many messages at the top form the system prompt; None: all with a system role."""

    render: "Callable[[Message, Heading], str] | None" = None
    """Renders a message's body as safe HTML, for a page; None: bodies are plain text."""
    tools: JSON = None
    """Tool definitions, as in the request that the messages are from."""
    styles: str = ""
    """The style sheet for a page."""

    def data(self, part: Image | File) -> bytes | None:
        """The bytes of an image or a file; None if only its address is known."""
        if part.data is None and part.sha256 is not None and self.blob is not None:
            return self.blob(part.sha256)
        return part.data

    def address(self, part: Image | File) -> str:
        """The bytes as a `data:` URI, so that the file is self-contained; else their address."""
        data = self.data(part)
        if data is not None:
            return base64_text.data_uri(part.media_type, data)
        return part.url or f"/api/blobs/{part.sha256}"


class Writer(NamedTuple):
    """How a format is written: turns messages into the pieces of one file."""

    label: str
    """The name of the format that people see."""
    suffix: str
    media_type: str
    write: Callable[[Iterable[Message], Heading], Iterator[bytes]]
    file_name: Callable[[Heading], str] | None = None
    """The name that the file needs for its tool to find it; None: any name will do."""
