"""Downloads of a session: its originals, or what the model would see.

The effective view is what the context shows (`operations.context.pipeline`), including policy and
layers, compiled for the provider whose format the file has. Formats that belong to no provider
(Markdown, our own) have the messages as they are before they are compiled.
"""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from time import monotonic
from typing import Any

from django.urls import reverse
from django.utils.http import content_disposition_header, urlencode

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.responses import Streamed
from contextstudio.accounts.selectors import caller_of_actor
from operations.context.services import ContextQuery, assemble_session
from operations.domain.tree.key import original_key
from operations.log.selectors import load_history
from operations.requests import View
from threads.domain import formats
from threads.domain.formats.documents import html
from threads.domain.formats.format import Heading
from threads.domain.formats.io import json_text
from threads.domain.message import Message
from threads.models import Session
from threads.rendering import standalone
from threads.sessions.downloads import download_name
from threads.store import blobs
from threads.store.originals import load_messages
from threads.store.records import load_record
from threads.store.selectors import get_session

from .effective import (
    BATCH,
    assembled_messages,
    prompt_of,
    request_body,
    with_folds,
    written_messages,
)

SECONDS_BETWEEN_CHECKS = 10.0
"""How often the right to read the session is checked while its file is being sent."""
_BODIES = {
    "openai": "openai",
    "anthropic": "anthropic",
    "gemini": "gemini",
    "openai_responses": "openai-responses",
}
"""Map of each format that is the body of a request to its provider."""
_WRITTEN_FOR = {
    "finetuning": "openai",
    "claude_code": "anthropic",
    "codex": "openai-responses",
}
"""Map of each format that a tool continues from to the provider it sends requests to."""
_GROUPS = (
    (View.EFFECTIVE, "Effective", "what the model sees"),
    (View.ORIGINAL, "Original", "as it was recorded"),
)


def write_export(
    session: Session, *, format: str, view: str, export_id: uuid.UUID | None = None
) -> Iterator[bytes]:
    """The file, piece by piece. Raises Invalid at once for a format that can't be written.

    `export_id` is the session's id in a file that a tool can resume; new for each export.
    """
    if view == "annotated":
        raise Invalid("view must be original or effective.", at=["view"])
    if view == "effective":
        provider = _BODIES.get(format) or _WRITTEN_FOR.get(format, "")
        context = assemble_session(session, ContextQuery(provider=provider))
        if format == "html":
            return html.write(with_folds(context), _page_heading(session))
        if format in _BODIES:
            return request_body(context)
        if format in _WRITTEN_FOR:
            said, prompts = (
                written_messages(context),
                int(bool(context.compiled.prompt)),
            )
        else:
            said, prompts = assembled_messages(context), len([*prompt_of(context)])
        strategy = provider.partition("-")[0] or session.parsing_strategy
        return _file(session, format, said, strategy, export_id, system=prompts)
    if format == "html":
        return html.write(_originals(session), _page_heading(session))
    return _file(
        session,
        format,
        _originals(session),
        session.parsing_strategy,
        export_id,
        first_changed=_first_masked(session),
    )


def _file(
    session: Session,
    format: str,
    messages: Iterator[Message],
    strategy: str,
    export_id: uuid.UUID | None,
    *,
    system: int | None = None,
    first_changed: int | None = None,
) -> Iterator[bytes]:
    heading = Heading(
        title=session.title,
        model=session.model,
        external_id=session.external_id,
        strategy=strategy,
        blob=blobs.read,
        export_id=export_id or uuid.uuid4(),
        tools=_tools(session) if format == "finetuning" else None,
        system=system,
        first_changed=first_changed,
    )
    return formats.write(format, messages, heading)


def export_response(
    caller: Caller, session: Session, *, format: str, view: str
) -> Streamed:
    """The file as a download, for a caller who may read the session."""
    kind = formats.WRITERS.get(format)
    export_id = uuid.uuid4()
    pieces = write_export(session, format=format, view=view, export_id=export_id)
    name = formats.file_name(format, export_id) or _name(session, format, view)
    allowed = _while_allowed(caller.actor, session.pk, pieces)
    answer = Streamed(allowed, content_type=kind.media_type if kind else "text/plain")
    answer["Content-Disposition"] = content_disposition_header(True, name)
    return answer


def _name(session: Session, format: str, view: str) -> str:
    """A name that tells the downloads of a session apart."""
    kind = formats.WRITERS.get(format)
    suffix = kind.suffix if kind else "txt"
    is_shared = [one.suffix for one in formats.WRITERS.values()].count(suffix) > 1
    about = f"-{view}-{format}" if is_shared else f"-{view}"
    return download_name(session, f"{about}.{suffix}")


def _while_allowed(
    actor: str, session_id: uuid.UUID, pieces: Iterator[bytes]
) -> Iterator[bytes]:
    """Yield the pieces of a file for as long as the caller may read the session.

    Raises NotFound once that ends, so that the download breaks off: part of a session that was
    erased in the meantime must not look complete.
    """
    looked = monotonic()
    for piece in pieces:
        if monotonic() - looked >= SECONDS_BETWEEN_CHECKS:
            get_session(caller_of_actor(actor), session_id)
            looked = monotonic()
        yield piece
    get_session(caller_of_actor(actor), session_id)


def _originals(session: Session) -> Iterator[Message]:
    for start in range(0, session.message_count, BATCH):
        for original in load_messages(session, start, start + BATCH):
            yield original.written


def _tools(session: Session) -> Any:
    """The tool definitions of the last imported request that has some; None if none has."""
    named = session.events.filter(type__in=("tools", "functions"))
    event = named.select_related("source").order_by("-before_index", "-pk").first()
    record = load_record(event.source, event.record) if event else None
    try:
        return json_text.parse(record.text.encode()) if record else None
    except Invalid:
        return None


def _first_masked(session: Session) -> int | None:
    """The index of the first original in which something is redacted; None if there is none."""
    masks = load_history(session).log.masks
    if not masks:
        return None
    keys = (original_key(index) for index in range(session.message_count))
    return next(
        (place for place, key in enumerate(keys) if masks.changes_on(key)), None
    )


def _page_heading(session: Session) -> Heading:
    return Heading(
        title=session.title,
        model=session.model,
        blob=blobs.read,
        render=standalone.render_alone,
        styles=standalone.styles(),
    )


# The menu: see `templates/operations/editor/frame/export.html`


@dataclass(frozen=True, slots=True)
class Download:
    """One entry of the menu."""

    name: str
    href: str


@dataclass(frozen=True, slots=True)
class FormatGroup:
    """The downloads of one view."""

    title: str
    hint: str
    items: list[Download]


def export_menu(session: Session) -> list[FormatGroup]:
    """Every format of both views."""
    address = reverse("operations:export", args=[session.pk])
    return [
        FormatGroup(
            title,
            hint,
            [
                Download(
                    writer.label,
                    f"{address}?{urlencode({'format': name, 'view': view})}",
                )
                for name, writer in formats.WRITERS.items()
            ],
        )
        for view, title, hint in _GROUPS
    ]
