"""Reads messages of a request: those from a place on, its opening, or its last replies."""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any

from operations.domain.forwarding.alignment import GivenMessages
from threads.domain.body import digest
from threads.domain.formats import READERS
from threads.domain.formats.openai import forms
from threads.domain.message import Message
from threads.models import Session
from threads.store.originals import find_holding, load_recorded_at
from threads.store.recording import named_by_hash
from threads.store.selectors import find_blobs

from .inbound import Inbound


def read_given(session: Session, inbound: Inbound, start: int) -> GivenMessages:
    """The messages of a request from a place on; if that is the first, also the `system`."""
    given = _spoken(session, _given(inbound, slice(start, None)))
    if not (named := forms.hashes_of(given.messages)):
        return given
    kept = find_blobs(session.project_id, named)
    messages = [forms.identify_media(message, kept) for message in given.messages]
    return _digested(messages, system=given.system)


def _spoken(session: Session, given: GivenMessages) -> GivenMessages:
    """Replace messages that only name a recorded reply by that reply, if the session holds it.

    OpenAI's audio models are sent their own replies in this form.
    """
    said: dict[int, Message] = {}
    for place, message in enumerate(given.messages):
        if (named := forms.recording_id(message)) is None:
            continue
        holding = find_holding(session, named.encode("utf-8", "surrogatepass"))
        for one in load_recorded_at(session, holding).values():
            if one.role is message.role and forms.has_recording(one.parts, named):
                said[place] = Message(role=one.role, parts=one.parts)
    if not said:
        return given
    messages = [said.get(at, one) for at, one in enumerate(given.messages)]
    return _digested(messages, system=given.system)


def _given(inbound: Inbound, some: slice) -> GivenMessages:
    reader = READERS[inbound.format]
    system = [] if some.start else [*reader.read_system(inbound.system)]
    messages = reader.read(inbound.messages, some)
    return _digested([*system, *messages], system=bool(system))


def _digested(messages: Sequence[Message], *, system: bool) -> GivenMessages:
    @cache
    def digest_at(place: int) -> bytes:
        message = messages[place]
        return digest(message.role, named_by_hash(message.parts))

    return GivenMessages(messages, digest_at, system=system)


def read_opening(inbound: Inbound) -> GivenMessages:
    """The messages of a request up to the first user message that is more than results."""
    asks = (at for at, one in enumerate(inbound.messages) if _asks(one))
    return _given(inbound, slice(next(asks, len(inbound.messages) - 1) + 1))


def _asks(message: Mapping[str, Any]) -> bool:
    content = message.get("content")
    is_result = isinstance(content, list) and all(
        isinstance(one, dict) and one.get("type") == "tool_result" for one in content
    )
    return message.get("role") == "user" and not is_result


def read_replies(inbound: Inbound, most: int) -> list[bytes]:
    """The digests of the model's last replies in a request."""
    said = (
        one
        for one in reversed(inbound.messages)
        if one.get("role") in ("assistant", "model")
    )
    reader = READERS[inbound.format]
    return [
        digest(message.role, named_by_hash(message.parts))
        for one in islice(said, most)
        for message in reader.read_messages([one])
    ]
