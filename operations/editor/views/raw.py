"""One message as it was recorded: its parts, and the records of the transcript."""

import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from contextstudio.accounts.domain.errors import NotFound
from operations.editor.rows.articles import changes_on
from operations.editor.rows.look import Look
from operations.messages.names import name_of
from operations.messages.reader import MessageReader, MessageText
from operations.requests import View
from threads.domain.message import encode_part
from threads.rendering.hidden import visible
from threads.store.records import load_records

from .requests import look_at


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch of the page: see `raw.html`."""

    title: str
    text: str


@require_safe
def raw(request: HttpRequest, session_id: uuid.UUID, key: str) -> HttpResponse:
    """The page of a message. What is redacted is masked here too."""
    look = look_at(request, session_id)
    words = MessageReader(look.session, look.thread).effective([key]).get(key)
    if words is None:
        raise NotFound(f"There is no message {key}.", at=["key"])
    context = {
        "session": look.session,
        "key": key,
        "name": name_of(look.thread, key),
        "role": words.role,
        "sections": list(_sections(look, words)),
    }
    return render(request, "operations/editor/raw.html", context)


def _sections(look: Look, words: MessageText) -> Iterator[Section]:
    parts = [encode_part(part) for part in words.parts]
    yield Section("Parts", visible(json.dumps(parts, ensure_ascii=False, indent=2)))
    if words.original is None:
        return
    look.view = View.ORIGINAL
    if changes_on(look, words.key):
        yield Section("Record", "Not shown, because part of it is redacted.")
        return
    for record in load_records(look.session, words.original.row.index):
        yield Section(f"Record, {record.locator}", visible(record.text))
