"""Stores calls that were answered here, with their answers, which the client doesn't know.

The client sends its own messages each time. Calls that were answered for it are reinserted after
the message at which they were made, as if it had sent them. So the session holds them, operations
act on them, and the model knows what it did.
"""

import hashlib
import uuid
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.responses import dump, read_json
from operations.forwarding.proxy.bodies import ForwardedBody
from operations.models import AnsweredCalls
from threads.domain.body import digest
from threads.domain.formats import READERS
from threads.models import Session
from threads.store.recording import named_by_hash

from .form import JSONObject, list_of_raws


def keep(
    session_id: uuid.UUID,
    body: ForwardedBody,
    place: int,
    index: int,
    messages: Sequence[JSONObject],
) -> None:
    """Store calls with their answers, made at the end of a body as its client sent it.

    `place` is how many messages come before them, including those of a response that is
    continued. `index` is the first original that they become. If something is already stored at
    it, that stays.
    """
    if AnsweredCalls.objects.filter(session_id=session_id, index=index).exists():
        return
    AnsweredCalls.objects.create(
        session_id=session_id,
        form=body.form,
        place=place,
        after=_mark(body, -1),
        index=index,
        content=zlib.compress(dump(messages)),
    )


def with_answered(session: Session, body: ForwardedBody) -> ForwardedBody:
    """A client's body with the calls that were answered for it."""
    found = AnsweredCalls.objects.filter(session=session, form=body.form)
    rows = list(found.order_by("pk"))
    by_place: dict[int, list[msgspec.Raw]] = {}
    for place, row in _placed(body, rows):
        raws = list_of_raws(zlib.decompress(bytes(row.content)))
        by_place.setdefault(place, []).extend(raws)
    if not by_place:
        return body
    name, request = body.names.messages, body.request
    messages: list[bytes] = []
    values: list[Any] = []
    for place, raw in enumerate(body.messages, start=1):
        answered = [bytes(memoryview(one)) for one in by_place.get(place, ())]
        messages += [raw, *answered]
        values += [body.value[name][place - 1], *map(read_json, answered)]
    # The number of messages from the continued response doesn't change.
    listed = body.listed(messages[body.before :])
    raw = body.written({name: listed})
    return replace(
        body,
        raw=raw,
        members={**body.members, name: msgspec.Raw(listed)},
        value={**body.value, name: values},
        request=replace(request, body=raw, messages=messages, known_beginning=None),
    )


def _placed(
    body: ForwardedBody, rows: Sequence[AnsweredCalls]
) -> Iterator[tuple[int, AnsweredCalls]]:
    """For each row, after how many client messages it goes; omitted if its message is gone.

    If a client cut off its start, the other messages keep their distances. What a request
    continues already contains its own calls.
    """
    marks: dict[int, bytes] = {}
    shift, first = 0, body.before + 1

    def is_at(place: int, row: AnsweredCalls) -> bool:
        if not first <= place <= len(body.messages):
            return False
        if place not in marks:
            marks[place] = _mark(body, place - 1)
        return marks[place] == bytes(row.after)

    for row in rows:
        likely = row.place + shift
        places = (likely, *range(first, min(row.place, len(body.messages)) + 1))
        found = next((place for place in places if is_at(place, row)), None)
        if found is not None:
            shift, first = found - row.place, found
            yield found, row


def _mark(body: ForwardedBody, at: int) -> bytes:
    """A digest of what a client's message says, however it is written."""
    value: Any = body.value[body.names.messages][at]
    try:
        said = READERS[body.form].read_messages([value])
    except Invalid:
        said = []
    if not said:
        return hashlib.sha256(body.messages[at]).digest()
    found = hashlib.sha256()
    for message in said:
        found.update(digest(message.role, named_by_hash(message.parts)))
    return found.digest()
