"""The schemas of sessions and messages in the API, and their JSON."""

import uuid
from collections.abc import Mapping, Sequence
from json import loads
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from contextstudio.accounts.responses import dump
from contextstudio.accounts.shape import RequestBody
from threads.domain.body import encode_part
from threads.domain.formats.format import Heading
from threads.domain.formats.openai.forms import Address, blob_address, write_message
from threads.domain.formats.sources import source_of
from threads.domain.message import Message as GivenMessage
from threads.domain.message import Role
from threads.domain.part import Part
from threads.domain.transcript import Relation
from threads.models import Session
from threads.rendering.fragments import Fragments
from threads.store import blobs
from threads.store.originals import Original

Title = Annotated[str, Field(description="Kept as one line of at most 300 characters.")]
Name = Annotated[str, Field(pattern=r"^[^\x00-\x1f]*$")]
"""A word that a column takes."""
MessageData = Annotated[
    dict[str, Any],
    Field(description="A message in the format of OpenAI chat or Anthropic."),
]


class NewSessionIn(RequestBody):
    """A session to create. The system prompt, if given, becomes message 0."""

    title: Title = ""
    project: str | None = None
    """The project's slug; needed if you may create sessions in several."""
    external_id: Name | None = Field(None, min_length=1, max_length=255)
    """The client's own id of the conversation, unique in the project."""
    parsing_strategy: Literal["openai", "anthropic", "gemini", "gemini_gca"] = "openai"
    """The provider's format that the conversation has."""
    model: Name = Field("", max_length=128)
    """The model's name at the provider."""
    system: str | None = None
    """The system prompt."""
    messages: list[MessageData] = Field(
        [], description="Each may have `created_at`, `usage` and `tags` of its own."
    )


class SessionPatch(RequestBody):
    """Changes to a session. Fields left out stay as they are."""

    title: Title | None = None
    objective: str | None = Field(None, max_length=500)
    """What the session is for."""
    model: Name | None = Field(None, max_length=128)


class MessagesIn(RequestBody):
    """Messages to append."""

    messages: list[MessageData] = Field(min_length=1)
    expected_count: int | None = Field(None, ge=0)
    """Refuse (409) if the session has another number of messages."""


class SessionOut(BaseModel):
    """A session without its messages."""

    id: uuid.UUID
    project: str
    title: str
    external_id: str | None
    parent: uuid.UUID | None
    """The session that it is a sub-agent, branch or continuation of."""
    relation: Relation | None
    """What it is to its parent, even if that was not imported."""
    format: str
    """The format that it was imported from."""
    source: str
    """The agent, service or library that it comes from, such as `Claude Code`."""
    parsing_strategy: str
    """The provider's format that the conversation has."""
    model: str
    objective: str
    """What the session is for."""
    message_count: int
    """How many originals it has."""
    head: int
    """Number of the last entry of its log."""
    tokens: int
    """Tokens of the originals."""
    encoding: str
    """The tokenizer's encoding in which they are counted."""
    created_at: str
    updated_at: str


class SessionPage(BaseModel):
    """Some sessions, the last changed first."""

    items: list[SessionOut]
    next_cursor: str | None


class MessageOut(BaseModel):
    """A message."""

    key: str
    """`m` and its index."""
    id: uuid.UUID
    short_id: str
    """`msg-` and 8 hex digits, unique in the session."""
    index: int
    """Its index in the session, from 0."""
    role: str
    content: str | list[dict[str, Any]] | None
    """The content in the form of OpenAI chat."""
    parts: list[dict[str, Any]]
    """The content in full, part by part: text, thinking, calls, results, images, files."""
    tool_calls: list[dict[str, Any]] = []
    tool_call_id: str | None = None
    tool_results: list[dict[str, Any]]
    parsing_strategy: str
    group_id: int
    """The group: the user messages are counted from 1; 0 is what precedes the first."""
    status: str
    """`complete`, or `partial` for a reply that broke off."""
    tags: list[str]
    tokens: int
    weight: int | None
    """Tokens of prompt and completion, as the provider reported them: the sum of `usage`."""
    usage: dict[str, int] | None = None
    """Tokens by kind, as the client or the transcript gave them."""
    created_at: str | None


class MessageList(BaseModel):
    """Some messages of a session."""

    items: list[MessageOut]
    end: int
    """Index of the message after the last one returned: `start` of the next request."""
    message_count: int
    """How many originals the session has."""


def present_session(session: Session) -> dict[str, Any]:
    return {
        "id": str(session.pk),
        "project": session.project.slug,
        "title": session.title,
        "external_id": session.external_id,
        "parent": str(session.parent_id) if session.parent_id else None,
        "relation": session.relation or None,
        "format": session.format,
        "source": source_of(session.format),
        "parsing_strategy": session.parsing_strategy,
        "model": session.model,
        "objective": session.objective,
        "message_count": session.message_count,
        "head": session.head,
        "tokens": session.original_tokens,
        "encoding": session.encoding,
        "created_at": session.created_at.isoformat(),
        "updated_at": session.updated_at.isoformat(),
    }


def address_of(inline: bool) -> Address:
    """How a response refers to images and files: by `data:` URI if `inline`, else by URL."""
    return Heading(blob=blobs.read).address if inline else blob_address


def present_parts(
    role: Role, parts: Sequence[Part], *, address: Address = blob_address
) -> dict[str, Any]:
    """The content of a message in OpenAI's form and as parts."""
    message = GivenMessage(role=role, parts=tuple(parts))
    form = write_message(message, address=address)
    return {**form, "parts": [encode_part(part) for part in parts]}


words = Fragments[bytes](32 * 1024 * 1024)
"""Cache of the JSON of message contents, by digest: the same in every response."""


def originals_json(
    originals: Sequence[Original],
    place: Mapping[str, int],
    *,
    inline: bool = False,
    tags: Mapping[int, Sequence[str]] = MappingProxyType({}),
) -> bytes:
    """`{"items": […]}` of originals, each as `present_original` gives it, as JSON.

    `place` adds where they end and how many there are; `tags` are by index.

    The content of a message is encoded once and cached, so that a window read again costs little
    more than its rows.
    """
    items, address = [], address_of(inline)
    for original in originals:
        key = (original.digest, inline)
        (said,) = words.get([key])
        if said is None:
            said = dump(present_parts(original.role, original.parts, address=address))
            words.keep(key, said)
        row = _row(original, tags=tags.get(original.row.index, ()))
        items.append(b"%b,%b" % (dump(row)[:-1], said[1:]))
    return b'{"items":[%b],%b' % (b",".join(items), dump(place)[1:])


def present_original(
    original: Original,
    *,
    parts: Sequence[Part] | None = None,
    tags: Sequence[str] = (),
    extra: Mapping[str, Any] | None = None,
    address: Address = blob_address,
) -> dict[str, Any]:
    """An original; `parts` is its content if operations have changed it."""
    parts = original.parts if parts is None else parts
    return {
        **_row(original, tags=tags),
        **present_parts(original.role, parts, address=address),
        **(extra or {}),
    }


def _row(original: Original, *, tags: Sequence[str] = ()) -> dict[str, Any]:
    row = original.row
    return {
        "key": original.key,
        "id": str(row.uuid),
        "short_id": row.short_id,
        "index": row.index,
        "parsing_strategy": row.parsing_strategy,
        "group_id": row.group_id,
        "status": row.status,
        "tags": list(tags),
        "tokens": row.tokens,
        "weight": row.weight,
        "usage": None if row.usage is None else loads(row.usage),
        "created_at": row.created_at.isoformat() if row.created_at else None,
    }
