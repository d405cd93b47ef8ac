"""Reads a body: all of it, or only what follows a known beginning."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby, takewhile
from typing import Any, NamedTuple

import msgspec

from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.responses import dump, read_json
from operations.forwarding.continuation import LazyMessages
from operations.forwarding.raw import (
    Beginning,
    Members,
    RawRequest,
    Read,
    read_continued,
    read_raw,
)
from threads.domain.formats import READERS
from threads.domain.formats.io import json_text
from threads.domain.formats.io.streams.gemini import joined_parts
from threads.domain.formats.requests import Form

from .body import FORMS, ForwardedBody, Names

_TOOLS = "additional_tools"
_TRIGGER = "compaction_trigger"
_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_list = msgspec.json.Decoder(list[msgspec.Raw]).decode


def _reading(names: Names) -> Read:
    """A decoder that finds only the messages in a body."""

    class Found(Members, rename={"messages": names.messages}):
        messages: list[msgspec.Raw]  # declared again, because only then is it renamed

    return msgspec.json.Decoder(Found).decode


_READ: Mapping[str, Read] = {form: _reading(names) for form, names in FORMS.items()}


def read_body(form: str, raw: bytes) -> ForwardedBody:
    """Read the body of a request that holds a conversation. Raises Invalid if it holds none."""
    value, members, messages, is_as_sent, leading, trailing = _read(form, raw)
    # Gemini's contents are always read from the first: a result names its call only by function.
    knows_beginnings = is_as_sent and READERS[form].from_any_place
    request = read_raw(raw, _READ[form]) if knows_beginnings else None
    if request is None:
        given = [bytes(memoryview(one)) for one in messages]
        request = RawRequest(
            body=raw, messages=given, system=b"", active_tags=None, append=True
        )
    return ForwardedBody(
        form=form,
        raw=raw,
        members=members,
        value=value,
        request=request,
        leading=leading,
        trailing=trailing,
    )


def read_rest(form: str, raw: bytes, beginning: Beginning) -> ForwardedBody | None:
    """Read only the rest of a body that begins like another request.

    Returns None if it must be read whole. Raises Invalid like `read_body`.
    """
    further = read_continued(beginning, raw, _READ[form])
    if further is None:
        return None
    value, members, new, is_as_sent, *_ = _read(form, further.rest)
    request, known = further.request, len(beginning.bounds)
    if not is_as_sent or len(request.messages) - known != len(new):
        return None
    name = FORMS[form].messages
    value = value | {name: LazyMessages(request, value[name])}
    return ForwardedBody(
        form=form, raw=raw, members=members, value=value, request=request
    )


class _Read(NamedTuple):
    """The result of reading a body."""

    value: dict[str, Any]
    members: dict[str, msgspec.Raw]
    messages: list[msgspec.Raw]
    is_as_sent: bool
    """Whether the messages are exactly those in the body."""
    leading: list[msgspec.Raw]
    trailing: list[msgspec.Raw]


def _read(form: str, raw: bytes) -> _Read:
    value, words = read_json(raw), None
    if not isinstance(value, dict):
        raise Invalid("The body is not a JSON object.", code="json_invalid")
    name = FORMS[form].messages
    if form == "openai-responses" and isinstance(value.get(name), str):
        said = {"role": "user", "content": value[name]}
        value, words = value | {name: [said]}, msgspec.Raw(dump([said]))
    if form == "openai-responses" and value.get(name) is None:
        value, words = value | {name: []}, msgspec.Raw(b"[]")
    if not isinstance(value.get(name), list):
        raise Invalid(f"{name} must be a list.", at=[name])
    for place, one in enumerate(value[name]):
        if not isinstance(one, dict):
            raise Invalid(f"{name} must be a list of objects.", at=[name, place])
    try:
        members = _members(raw)
        messages = _list(members[name] if words is None else words)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise Invalid(
            "The JSON body is not UTF-8, or holds lone surrogates; it can't be forwarded.",
            at=json_text.place_without_utf8(value),
            code="json_invalid",
        ) from None
    if form == "gemini":
        messages = _whole_answers(value[name], messages)
        value = value | {name: [read_json(bytes(memoryview(one))) for one in messages]}
    start, end = _bounds(form, value[name])
    leading, messages, trailing = messages[:start], messages[start:end], messages[end:]
    if leading or trailing:
        value = value | {name: value[name][start:end]}
    is_as_sent = words is None and not leading and not trailing
    return _Read(value, members, messages, is_as_sent, leading, trailing)


def _bounds(form: str, items: Sequence[Form]) -> tuple[int, int]:
    """The bounds of the messages, excluding Codex's tools before and triggers after them."""
    if form != "openai-responses":
        return 0, len(items)
    start = _count(_TOOLS, items)
    return start, len(items) - _count(_TRIGGER, reversed(items[start:]))


def _count(kind: str, items: Iterable[Form]) -> int:
    """How many items at the start are of a kind."""
    return sum(1 for _ in takewhile(lambda item: item.get("type") == kind, items))


def _whole_answers(
    contents: Sequence[Form], raws: Sequence[msgspec.Raw]
) -> list[msgspec.Raw]:
    """Join consecutive contents of the model into one answer, as it was recorded.

    Clients that stream keep an answer in the pieces in which it arrived.
    """
    found: list[msgspec.Raw] = []
    for role, run in groupby(
        zip(contents, raws, strict=True), key=lambda pair: pair[0].get("role")
    ):
        answers = list(run)
        is_read = all(_has_parts(content) for content, _ in answers)
        if role != "model" or len(answers) == 1 or not is_read:
            found += [raw for _, raw in answers]
            continue
        parts = (part for content, _ in answers for part in content.get("parts") or ())
        whole = {"role": role, "parts": joined_parts(parts)}
        found.append(msgspec.Raw(dump(whole)))
    return found


def _has_parts(content: Form) -> bool:
    """Whether a content's parts can be joined; malformed ones are refused later, when read."""
    parts = content.get("parts") or []
    return isinstance(parts, list) and all(isinstance(one, dict) for one in parts)
