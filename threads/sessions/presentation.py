"""The JSON of sessions and messages, as the REST API documents it."""

from collections.abc import Mapping, Sequence
from typing import Any

from contextstudio.accounts.responses import dump
from threads.domain.formats.format import Heading
from threads.domain.formats.openai.writing import Address, blob_address, write_message
from threads.domain.message import Message as GivenMessage
from threads.domain.message import Role, encode_part
from threads.domain.part import Part
from threads.models import Session
from threads.rendering.fragments import Fragments
from threads.store import blobs
from threads.store.selectors import Original


def present_session(session: Session) -> dict[str, Any]:
    return {
        "id": str(session.pk),
        "project": session.project.slug,
        "title": session.title,
        "external_id": session.external_id,
        "format": session.format,
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
    """How an answer names images and files: with their bytes (`data:`), or where they are."""
    return Heading(blob=blobs.read).address if inline else blob_address


def present_parts(
    role: Role, parts: Sequence[Part], *, address: Address = blob_address
) -> dict[str, Any]:
    """What a message says, in OpenAI's form and as parts."""
    message = GivenMessage(role=role, parts=tuple(parts))
    form = write_message(message, address=address)
    return {**form, "parts": [encode_part(part) for part in parts]}


words = Fragments[bytes](32 * 1024 * 1024)
"""What messages say as JSON, by digest: the same in every answer."""


def originals_json(originals: Sequence[Original], *, inline: bool = False) -> bytes:
    """`{"items": […]}` of originals, as `present_original` gives each.

    What a message says is put into JSON once and kept, so that a window read again costs
    little more than its rows.
    """
    items, address = [], address_of(inline)
    for original in originals:
        key = (original.digest, inline)
        (said,) = words.get([key])
        if said is None:
            said = dump(present_parts(original.role, original.parts, address=address))
            words.keep(key, said)
        items.append(b"%b,%b" % (dump(_row(original))[:-1], said[1:]))
    return b'{"items":[%b]}' % b",".join(items)


def present_original(
    original: Original,
    *,
    parts: Sequence[Part] | None = None,
    tags: Sequence[str] = (),
    extra: Mapping[str, Any] | None = None,
    address: Address = blob_address,
) -> dict[str, Any]:
    """An original; `parts` are its words where operations have changed them."""
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
        "created_at": row.created_at.isoformat() if row.created_at else None,
    }
