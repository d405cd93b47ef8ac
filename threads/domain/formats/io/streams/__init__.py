"""Streamed replies: server-sent events, and the complete response assembled from them.

The result is the response as it would have been without streaming, in its provider's own form,
which the readers of messages know. The proxy uses this for passing replies, and imports for
recorded ones.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from threads.domain.formats.io import fields, json_text
from threads.domain.part import JSON
from threads.domain.transcript import Warning

from . import anthropic, chat, gemini, responses
from .stream import Assembler, data_of, parse

FORMS: Mapping[str, type[Assembler]] = {
    "openai": chat.ChatAssembler,
    "openai-responses": responses.ResponsesAssembler,
    "anthropic": anthropic.AnthropicAssembler,
    "gemini": gemini.GeminiAssembler,
}
"""Map of the form of a reply, named as for requests, to its assembler."""
_OF_ANTHROPIC = frozenset(
    {"message_start", "message_delta", "message_stop"}
    | {"content_block_start", "content_block_delta", "content_block_stop"}
)

_HOLDERS = {"anthropic": "message", "openai-responses": "response"}
"""Map of form to the member of an event that identifies the reply it belongs to."""


def form_of(event: JSON) -> str:
    """The form of an event; empty if it isn't an event, or doesn't tell."""
    if not isinstance(event, dict):
        return ""
    kind = fields.text(event, "type")
    if kind in _OF_ANTHROPIC:
        return "anthropic"
    if kind.startswith("response.") and event.keys() & {"response", "item", "delta"}:
        return "openai-responses"
    if event.get("object") == "chat.completion.chunk":
        return "openai"
    choice = fields.mapping(next(iter(fields.items(event, "choices")), None))
    if "delta" in choice:
        return "openai"
    candidate = next(iter(fields.items(event, "candidates")), None)
    return "gemini" if "content" in fields.mapping(candidate) else ""


def begins(form: str, event: dict[str, Any], response: dict[str, Any]) -> bool:
    """Whether an event starts another reply than the one that `response` is part of."""
    holder = _HOLDERS.get(form)
    name = "responseId" if form == "gemini" else "id"
    said = fields.text(fields.mapping(event, holder) if holder else event, name)
    known = fields.text(response, name)
    if said and known:
        return said != known
    return event.get("type") in ("message_start", "response.created")


def assemble_if_streamed(form: str | None, response: JSON) -> JSON:
    """A logged response; if it is a stream, the response assembled from it.

    A stream of another form than `form` is returned as it is; None accepts any form.
    """
    if isinstance(response, str):
        events = list(events_of(response))
    elif isinstance(response, list):
        events = [json_text.dump(one) for one in response]
    else:
        return response
    theirs = {form_of(parse(event)) for event in events}
    found = next((one for one in FORMS if one in theirs and form in (one, None)), None)
    return assembled(found, events).whole() if found else response


def other_choices_warning(response: JSON) -> list[Warning]:
    """The warning for a response with several choices, of which only the first is read."""
    found = fields.items(response, "choices") or fields.items(response, "candidates")
    if len(found) < 2:
        return []
    words = f"A response holds {len(found)} choices: only the first was imported."
    return [Warning("other_choices", words)]


def assembled(form: str, events: Iterable[bytes]) -> Assembler:
    """The assembler of a reply, fed with the data of these events."""
    found = FORMS[form]()
    for event in events:
        found.take(event)
    return found


def events_of(text: str) -> Iterator[bytes]:
    """The data of events in a text, one line each: copies often lack the blank lines."""
    for line in text.encode("utf-8", "surrogatepass").splitlines():
        if data := data_of(line):
            yield data
