"""What a message is made of."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar

JSON = Any
"""What the standard library's `json` reads: dict, list, str, int, float, bool, None."""


@dataclass(frozen=True, slots=True, init=False)
class Text:
    """Text, read as Markdown if a person or a model wrote it."""

    text: str
    kind: ClassVar[str] = "text"

    def __init__(self, text: str) -> None:  # as in `Usage`
        _set_text(self, text)


@dataclass(frozen=True, slots=True, init=False)
class Thinking:
    """A model's reasoning, with the provider's signature where there is one.

    `signature` (Anthropic, Gemini) is valid only for the exact text. `data` is reasoning that
    only the provider can read (`redacted_thinking`, `encrypted_content`); `text` is then empty.
    `signer` is the parsing strategy of the provider that signed or encrypted it, if the block
    itself said so; it is not part of what was said.
    """

    text: str
    signature: str | None = None
    data: str | None = None
    signer: str | None = field(default=None, compare=False)
    kind: ClassVar[str] = "thinking"

    def __init__(
        self,
        text: str,
        signature: str | None = None,
        data: str | None = None,
        signer: str | None = None,
    ) -> None:
        _set_thought(self, text)
        _set_signature(self, signature)
        _set_data(self, data)
        _set_signer(self, signer)


@dataclass(frozen=True, slots=True, init=False)
class ToolCall:
    """A model's request to run a tool. `arguments` is parsed JSON, or a str if it isn't JSON.

    `text` is the arguments as the model wrote them, if they came as text that differs from what
    we would write for them: see `threads.domain.formats.arguments`. It says nothing that
    `arguments` doesn't, so two calls that differ only in it are equal.

    `namespace` is the beginning of `name`, if the provider keeps the two apart (OpenAI's Responses
    API). It isn't part of what was said either.
    """

    id: str
    name: str
    arguments: JSON
    text: str | None = field(default=None, compare=False)
    namespace: str | None = field(default=None, compare=False)
    kind: ClassVar[str] = "tool_call"

    def __init__(
        self,
        id: str,
        name: str,
        arguments: JSON,
        text: str | None = None,
        namespace: str | None = None,
    ) -> None:
        _set_id(self, id)
        _set_name(self, name)
        _set_arguments(self, arguments)
        _set_arguments_text(self, text)
        _set_namespace(self, namespace)


@dataclass(frozen=True, slots=True, init=False)
class ToolResult:
    """A tool's result; `content` holds only text, images, files and opaque blocks."""

    call_id: str
    content: tuple["Text | Image | File | Opaque", ...]
    name: str | None = None
    is_error: bool = False
    kind: ClassVar[str] = "tool_result"

    def __init__(
        self,
        call_id: str,
        content: tuple["Text | Image | File | Opaque", ...],
        name: str | None = None,
        is_error: bool = False,
    ) -> None:
        _set_call_id(self, call_id)
        _set_content(self, content)
        _set_result_name(self, name)
        _set_is_error(self, is_error)


(_set_text,) = (getattr(Text, member.name).__set__ for member in fields(Text))
_set_thought, _set_signature, _set_data, _set_signer = (
    getattr(Thinking, member.name).__set__ for member in fields(Thinking)
)
_set_id, _set_name, _set_arguments, _set_arguments_text, _set_namespace = (
    getattr(ToolCall, member.name).__set__ for member in fields(ToolCall)
)
_set_call_id, _set_content, _set_result_name, _set_is_error = (
    getattr(ToolResult, member.name).__set__ for member in fields(ToolResult)
)


@dataclass(frozen=True, slots=True)
class Image:
    """A picture: bytes stored under their SHA-256 (`sha256`), or an address elsewhere (`url`).

    A parser that finds bytes inline puts them in `data`; storing them sets `sha256`.
    """

    media_type: str
    sha256: str | None = None
    url: str | None = None
    data: bytes | None = None
    kind: ClassVar[str] = "image"


@dataclass(frozen=True, slots=True)
class File:
    """A document or other file; like `Image`, with a name.

    `members` are what else Anthropic's block of a document says: its `context`, and whether it is
    cited. They are not part of what was said.
    """

    media_type: str
    name: str | None = None
    sha256: str | None = None
    url: str | None = None
    data: bytes | None = None
    members: JSON = field(default=None, compare=False)
    kind: ClassVar[str] = "file"


@dataclass(frozen=True, slots=True)
class Opaque:
    """A block this product doesn't interpret, kept whole: its `type` and its JSON."""

    type: str
    data: JSON
    kind: ClassVar[str] = "opaque"


SIGNING = frozenset({"anthropic", "bedrock", "gemini", "gemini_gca"})
"""Parsing strategies of providers that sign readable reasoning; the others only encrypt it."""


def signer_of(part: Thinking, strategy: str) -> str:
    """The parsing strategy of the provider whose signature or data a reasoning part holds.

    The block usually says it. For blocks that don't, `strategy`, the message's parsing strategy,
    decides: if its providers sign nothing, a signature can only have come in Anthropic's form.
    """
    if part.signer is not None:
        return part.signer
    is_foreign = bool(strategy and part.signature) and strategy not in SIGNING
    return "anthropic" if is_foreign else strategy


Part = Text | Thinking | ToolCall | ToolResult | Image | File | Opaque

Name = Callable[[Image | File, bytes], str]
"""Returns the SHA-256 of an image's or a file's bytes, in hex."""


def replace_bytes(parts: tuple[Part, ...], name: Name) -> tuple[Part, ...]:
    """The parts with hashes in place of bytes; the same tuple if no part holds bytes."""
    for part in parts:
        kind = type(part)  # a quick check: most parts can't hold bytes
        if kind is not Text and kind is not ToolCall and _holds_bytes(part):
            return tuple(_named_part(part, name) for part in parts)
    return parts


def _holds_bytes(part: Part) -> bool:
    if isinstance(part, ToolResult):
        for item in part.content:  # noqa: SIM110  # a generator takes twice as long
            if type(item) is not Text and _holds_bytes(item):
                return True
        return False
    return isinstance(part, Image | File) and part.data is not None


def _named_part(part: Part, name: Name) -> Part:
    match part:
        case ToolResult():
            content = tuple(_named_part(item, name) for item in part.content)
            return replace(part, content=content)  # type: ignore[arg-type]  # kinds are kept
        case Image(data=bytes() as data) | File(data=bytes() as data):
            return replace(part, sha256=name(part, data), data=None)
    return part
