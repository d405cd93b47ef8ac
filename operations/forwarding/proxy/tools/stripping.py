"""Removes calls that aren't the client's own from a reply."""

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from contextstudio.accounts.responses import dump
from threads.domain.formats.io.streams.stream import parse

from .form import Stripper
from .forms import FORMS

_GAP = re.compile(rb"(?:\r\n|\n|\r){2}")
_LINE = re.compile(rb"\r\n|\n|\r")


def without_calls(
    form: str, body: bytes, names: AbstractSet[str], *, events: bool
) -> bytes:
    """A reply's body without its calls of some tools. `events`: it is a stream of events."""
    stripper = FORMS[form].stripper(names)
    if events:
        return b"".join(_events(stripper, body))
    value = parse(body)
    if isinstance(value, list):  # a stream in the form of a list
        return dump([stripper.take(one) for one in value])
    return dump(stripper.take(value))


def _events(stripper: Stripper, body: bytes) -> Iterator[bytes]:
    for event in _GAP.split(body):
        lines = _LINE.split(event)
        data = [line[5:] for line in lines if line.startswith(b"data:")]
        value = parse(b"\n".join(data)) if data else None
        if not isinstance(value, dict):
            if event.strip():
                yield event + b"\n\n"
            continue
        taken = stripper.take(value)
        if taken is not None:
            others = [line for line in lines if line and not line.startswith(b"data:")]
            yield b"\n".join([*others, b"data: " + dump(taken)]) + b"\n\n"
