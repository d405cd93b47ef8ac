"""Stores calls that were answered here, with their answers, which the client doesn't know.

The client sends its own messages each time. Calls that were answered for it are reinserted after
the message at which they were made, as if it had sent them, or into the reply in which they were
made beside calls of its own. So the session holds them, operations act on them, and the model knows
what it did.
"""

import hashlib
import uuid
import zlib
from collections.abc import Iterator, Mapping, Sequence
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
from .forms import FORMS
from .joining import PartedReply, joined
from .responses import is_output


def keep(
    session_id: uuid.UUID,
    body: ForwardedBody,
    place: int,
    index: int,
    answered: Sequence[JSONObject] | JSONObject,
) -> None:
    """Store calls with their answers, made at the end of a body as its client sent it.

    `answered` are messages, or a `PartedReply` as it is stored. `place` is how many messages come
    before them, including those of a response that is continued. `index` is the first original
    that they become. If something is already stored at it, that stays.
    """
    if AnsweredCalls.objects.filter(session_id=session_id, index=index).exists():
        return
    AnsweredCalls.objects.create(
        session_id=session_id,
        form=body.form,
        place=place,
        after=_mark(body, -1),
        index=index,
        content=zlib.compress(dump(answered)),
    )


def with_answered(session: Session, body: ForwardedBody) -> ForwardedBody:
    """A client's body with the calls that were answered for it."""
    found = AnsweredCalls.objects.filter(session=session, form=body.form)
    rows = list(found.order_by("pk"))
    given = body.value[body.names.messages]
    instead: dict[int, list[JSONObject]] = {}
    after: dict[int, list[bytes]] = {}
    for place, row in _placed(body, rows):
        content = zlib.decompress(bytes(row.content))
        if reply := _parted(content):
            sent = joined(FORMS[body.form], reply, given[place:]) or ()
            instead.update(enumerate(sent, start=place + 1))
        else:
            raws = [bytes(memoryview(one)) for one in list_of_raws(content)]
            after.setdefault(place, []).extend(raws)
    after.update(_awaited(body, rows))
    if not instead and not after:
        return body
    messages: list[bytes] = []
    values: list[Any] = []
    for place, (raw, value) in enumerate(
        zip(body.messages, given, strict=True), start=1
    ):
        sent = instead.get(place, [value])
        answered = after.get(place, ())
        messages += [*(raw if one == value else dump(one) for one in sent), *answered]
        values += [*sent, *map(read_json, answered)]
    return _with_messages(body, messages, values)


def _with_messages(
    body: ForwardedBody, messages: Sequence[bytes], values: Sequence[Any]
) -> ForwardedBody:
    """The body with other messages after those of the continued response."""
    name, request = body.names.messages, body.request
    listed = body.listed(messages[body.before :])
    raw = body.written({name: listed})
    return replace(
        body,
        raw=raw,
        members={**body.members, name: msgspec.Raw(listed)},
        value={**body.value, name: values},
        request=replace(request, body=raw, messages=messages, known_beginning=None),
    )


def _awaited(
    body: ForwardedBody, rows: Sequence[AnsweredCalls]
) -> Mapping[int, list[bytes]]:
    """The results of our calls that the continued response has, to be sent before the client's."""
    given = body.value[body.names.messages]
    called = {call.id for call in FORMS[body.form].calls(given[: body.before])}
    known = {one.get("call_id") for one in given if is_output(one)}
    for row in reversed(rows if called else ()):
        if reply := _parted(zlib.decompress(bytes(row.content))):
            ids = {one["call_id"] for one in reply.results}
            if ids <= called and not ids & known:
                return {body.before: [dump(one) for one in reply.results]}
    return {}


def _parted(content: bytes) -> PartedReply | None:
    """The reply that was stored with calls of both sides; None if whole messages were stored."""
    return PartedReply.read(read_json(content)) if content.startswith(b"{") else None


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
