"""Replies as providers stream them: events of the server, and the object that they come to.

What is put together is what the reply would have been had it come at once, in its provider's own
form, which the readers of messages know. The proxy reads so what goes by, and imports what somebody
has kept.
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
"""By the names that requests have too."""
_OF_ANTHROPIC = frozenset(
    {"message_start", "message_delta", "message_stop"}
    | {"content_block_start", "content_block_delta", "content_block_stop"}
)

_HOLDERS = {"anthropic": "message", "openai-responses": "response"}
"""Where events name the reply that they are of."""


def form_of(event: JSON) -> str:
    """Whose an event is; an empty text for what is none, or doesn't tell."""
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
    """Whether an event is the first of another reply than the one of which this much came."""
    holder = _HOLDERS.get(form)
    name = "responseId" if form == "gemini" else "id"
    said = fields.text(fields.mapping(event, holder) if holder else event, name)
    known = fields.text(response, name)
    if said and known:
        return said != known
    return event.get("type") in ("message_start", "response.created")


def at_once(form: str | None, response: JSON) -> JSON:
    """What a log holds as its response, a stream as the response that it comes to.

    A stream of another form stays what it is; None takes any.
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


def other_choices(response: JSON) -> list[Warning]:
    """What to say of a response with several replies, of which the first is read."""
    found = fields.items(response, "choices") or fields.items(response, "candidates")
    if len(found) < 2:
        return []
    words = f"A response holds {len(found)} choices: the first is the reply."
    return [Warning("other_choices", words)]


def assembled(form: str, events: Iterable[bytes]) -> Assembler:
    """The reply that the data of these events make."""
    found = FORMS[form]()
    for event in events:
        found.take(event)
    return found


def events_of(text: str) -> Iterator[bytes]:
    """The data of events in a text, a line each: copies often have lost the blank lines."""
    for line in text.encode("utf-8", "surrogatepass").splitlines():
        if data := data_of(line):
            yield data
