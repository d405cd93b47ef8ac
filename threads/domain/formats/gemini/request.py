"""Requests of the Gemini API, in which each content is a message.

Calls need no ids there. Ids made by order are valid only within the whole list, so the list is
always read from its first content on.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from contextstudio.accounts.domain.errors import Place
from threads.domain.formats.format import Heading
from threads.domain.formats.io import fields
from threads.domain.formats.kit.calls import OpenCalls
from threads.domain.formats.requests import RequestForm, RequestPiece
from threads.domain.message import Message, Role
from threads.domain.part import JSON

from .messages import read_content
from .parts import read_parts
from .writing import write_content


def read_messages(contents: JSON, *, at: Place = ("contents",)) -> list[Message]:
    """The messages of a request's contents. Raises Invalid at the place that is malformed."""
    calls = OpenCalls()
    found = fields.require(contents, list, "a list of contents", at)
    return [
        read_content(content, calls, at=(*at, place))
        for place, content in enumerate(found)
    ]


def read_system(system: JSON) -> Iterator[Message]:
    """The message of a request's `systemInstruction`; nothing if it is empty."""
    given = system.get("parts") if isinstance(system, dict) else system
    if parts := read_parts(given, ("systemInstruction",), OpenCalls()):
        yield Message(role=Role.SYSTEM, parts=parts)


def _pieces(message: Message, heading: Heading) -> Iterator[RequestPiece]:
    content = write_content(message, heading, {})
    if content["parts"]:
        yield RequestPiece(content, _is_answer(content))


def _join(pieces: Iterable[RequestPiece]) -> Iterator[dict[str, Any]]:
    """Join the results of one turn into one content."""
    held: dict[str, Any] | None = None
    for form, joins in pieces:
        if held is not None and joins and _is_answer(held):
            held = {**held, "parts": [*held["parts"], *form["parts"]]}
            continue
        if held is not None:
            yield held
        held = form
    if held is not None:
        yield held


def _is_answer(content: dict[str, Any]) -> bool:
    return all("functionResponse" in part for part in content["parts"])


REQUEST = RequestForm(
    read=lambda content: read_content(content, OpenCalls()),
    write=_pieces,
    join=_join,
    has_system=True,
    has_ids=False,
)
