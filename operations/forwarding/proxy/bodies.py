"""A client's request as bytes: what is read of it, and what takes the place of its messages.

Everything that the session's operations don't touch goes out as the bytes that came in: where
nothing is, the whole body; else every member but the conversation's.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, takewhile
from typing import Any, NamedTuple

import msgspec

from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.responses import dump, read_json
from operations.domain.forwarding.splice import GivenRun
from operations.forwarding.alignment import Inbound
from operations.forwarding.going_on import Messages
from operations.forwarding.raw import (
    Beginning,
    Members,
    RawRequest,
    Read,
    read_further,
    read_raw,
)
from operations.forwarding.services import Applied
from threads.domain.formats import READERS
from threads.domain.formats.io import json_text
from threads.domain.formats.io.streams.gemini import joined_parts
from threads.domain.formats.requests import Form

_UUID = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE
).fullmatch
_NULL = msgspec.Raw(b"null")
_TOOLS = "additional_tools"
BEFORE = "previous_response_id"
CONVERSATION = "conversation"
REFERENCE = "item_reference"
DECLARED = ("functionDeclarations", "function_declarations")
"""In which a tool of Gemini's has its list; the API takes both spellings, LiteLLM the second."""
_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_list = msgspec.json.Decoder(list[msgspec.Raw]).decode


def declared_in(tool: Mapping[str, Any]) -> list[Any]:
    """What a tool of Gemini's declares."""
    return [one for name in DECLARED for one in _listed(tool.get(name))]


def _listed(value: Any) -> list[Any]:
    """A list; none where it is something else, which is for the provider to refuse."""
    return value if isinstance(value, list) else []


class Names(NamedTuple):
    """What a form of requests calls the parts of a conversation."""

    messages: str
    system: str


FORMS: Mapping[str, Names] = {
    "openai": Names("messages", ""),
    "openai-responses": Names("input", "instructions"),
    "anthropic": Names("messages", "system"),
    "gemini": Names("contents", "systemInstruction"),
}


def _reading(names: Names) -> Read:
    """What finds the messages in a body; the rest of it is read once more."""

    class Found(Members, rename={"messages": names.messages}):
        messages: list[msgspec.Raw]  # named anew only where it is declared anew

    return msgspec.json.Decoder(Found).decode


_READ: Mapping[str, Read] = {form: _reading(names) for form, names in FORMS.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardedBody:
    """A request's body, its conversation found in it."""

    form: str
    raw: bytes
    members: Mapping[str, msgspec.Raw]
    """Of one that goes on from another, the messages only that are new."""
    value: Mapping[str, Any]
    """As `members`, but the messages without those of `ahead`."""
    request: RawRequest
    ahead: Sequence[msgspec.Raw] = ()
    """What stands before its messages and is none: it stays there, whatever becomes of them."""
    is_told: bool = False
    """Whether what it names is known: then `value` has that in full, `request` the names."""
    before: int = 0
    """How many of its messages stand in the response that it goes on from."""
    is_spelled_out: bool = False
    """Whether its messages go out in full in any case, and not what it names."""

    @property
    def messages(self) -> Sequence[bytes]:
        """Its messages as the bytes that they came in."""
        return self.request.messages

    @property
    def names(self) -> Names:
        """What its parts are called."""
        names = FORMS[self.form]
        if self.form == "gemini" and "system_instruction" in self.members:
            return names._replace(system="system_instruction")
        return names

    @property
    def model(self) -> str:
        """The model that it asks for."""
        model = self.value.get("model")
        return model if isinstance(model, str) else ""

    @property
    def goes_on(self) -> bool:
        """Whether messages that its provider keeps stand before its own."""
        is_response = self.form == "openai-responses"
        return is_response and bool(
            self.value.get(BEFORE) or self.value.get(CONVERSATION)
        )

    @property
    def is_background(self) -> bool:
        """Whether its reply may come later, by other requests."""
        is_response = self.form == "openai-responses"
        return is_response and self.value.get("background") is True

    @property
    def names_kept(self) -> str:
        """The member, or the type of items, by which it names what its provider keeps.

        Empty where all is in it, or what it names is known.
        """
        if self.form != "openai-responses" or self.is_told:
            return ""
        for member in (CONVERSATION, BEFORE):
            if self.value.get(member):
                return member
        # What goes on from another request has no such items among those that are known.
        known = self.request.goes_on_from
        new = self.value["input"][len(known.bounds) if known else 0 :]
        return REFERENCE if any(map(is_reference, new)) else ""

    @property
    def conversation(self) -> bytes:
        """What its client calls the conversation in it; empty where it doesn't say.

        The key of a provider's cache is one where it is a UUID; else it may be that of a prompt,
        which conversations share.
        """
        given = self.value.get("prompt_cache_key")
        return given.encode() if isinstance(given, str) and _UUID(given) else b""

    @property
    def tools(self) -> list[Form]:
        """The tools that it offers; Gemini's stand in lists of declarations."""
        tools = _listed(self.value.get("tools"))
        given = [one for one in tools if isinstance(one, dict)]
        if self.form != "gemini":
            return [*given, *(tool for one in self.ahead for tool in _tools_in(one))]
        found = (tool for one in given for tool in declared_in(one))
        return [tool for tool in found if isinstance(tool, dict)]

    def listed(self, messages: Iterable[bytes]) -> bytes:
        """The member for these messages."""
        ahead = (bytes(memoryview(one)) for one in self.ahead)
        return b"[" + b",".join((*ahead, *messages)) + b"]"

    def inbound(
        self,
        tags: frozenset[str] | None,
        *,
        append: bool,
        offers_recall: bool,
        model: str = "",
        client: str = "",
    ) -> Inbound:
        """The conversation as `apply` takes it."""
        system = self.members.get(self.names.system, _NULL)
        return Inbound(
            messages=self.value[self.names.messages],
            format=self.form,
            system=self.value.get(self.names.system),
            active_tags=tags,
            append=append,
            model=model or self.model,
            door="proxy",
            client=client,
            offers_recall=offers_recall,
            tools=self.tools,
            raw=replace(
                self.request,
                system=bytes(memoryview(system)),
                active_tags=tags,
                append=append,
                marks=marks_of(self.form, tags, append=append),
            ),
        )

    def written(self, changes: Mapping[str, bytes | None]) -> bytes:
        """The body with other values for some of its members; as it came in where there is none.

        A member without a value is left out.
        """
        if not changes:
            return self.raw
        if self.request.goes_on_from and self.names.messages not in changes:
            whole = b"[" + self.request.run(0, len(self.messages)) + b"]"
            changes = {self.names.messages: whole, **changes}
        members = {
            name: bytes(memoryview(value)) for name, value in self.members.items()
        }
        for name, value in changes.items():
            if value is None:
                members.pop(name, None)
            else:
                members[name] = value
        pairs = (
            msgspec.json.encode(name) + b":" + value for name, value in members.items()
        )
        return b"{" + b",".join(pairs) + b"}"


def is_reference(item: Form) -> bool:
    """Whether an item of the Responses API names another one; its type may be left out."""
    kind = item.get("type")
    return kind == REFERENCE or (kind is None and item.keys() - {"type"} == {"id"})


def marks_of(form: str, tags: frozenset[str] | None, *, append: bool) -> bytes:
    """What makes another request of a body: another form, other tags."""
    return f"{form} {append} {None if tags is None else sorted(tags)} ".encode()


def read_body(form: str, raw: bytes) -> ForwardedBody:
    """The body of a request that holds a conversation. Raises Invalid where it holds none."""
    value, members, messages, is_as_sent, ahead = _read(form, raw)
    # Gemini's contents are read from the first on: a result names its call by the function alone.
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
        ahead=ahead,
    )


def read_rest(form: str, raw: bytes, beginning: Beginning) -> ForwardedBody | None:
    """The same of a body that begins as another request did, of which only the rest is read.

    None where it is to be read whole. Raises Invalid as `read_body`.
    """
    further = read_further(beginning, raw, _READ[form])
    if further is None:
        return None
    value, members, new, is_as_sent, _ = _read(form, further.rest)
    request, known = further.request, len(beginning.bounds)
    if not is_as_sent or len(request.messages) - known != len(new):
        return None
    name = FORMS[form].messages
    value = value | {name: Messages(request, value[name])}
    return ForwardedBody(
        form=form, raw=raw, members=members, value=value, request=request
    )


class _Read(NamedTuple):
    """What was read of a body."""

    value: dict[str, Any]
    members: dict[str, msgspec.Raw]
    messages: list[msgspec.Raw]
    is_as_sent: bool
    """Whether these are the messages that stand in it."""
    ahead: list[msgspec.Raw]


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
    count = _count_ahead(form, value[name])
    ahead, messages = messages[:count], messages[count:]
    if count:
        value = value | {name: value[name][count:]}
    is_as_sent = words is None and not count
    return _Read(value, members, messages, is_as_sent, ahead)


def _count_ahead(form: str, items: Sequence[Form]) -> int:
    """How many items at the top are tools and no messages, as Codex gives them to some models."""
    if form != "openai-responses":
        return 0
    kinds = (one.get("type") for one in items)
    return sum(1 for _ in takewhile(lambda kind: kind == _TOOLS, kinds))


def _tools_in(item: msgspec.Raw) -> Iterator[Form]:
    """The tools that such an item brings; of a namespace those in it."""
    given = read_json(bytes(memoryview(item))).get("tools")
    for one in given if isinstance(given, list) else ():
        if isinstance(one, dict):
            inner = one.get("tools")
            found = inner if isinstance(inner, list) else [one]
            yield from (tool for tool in found if isinstance(tool, dict))


def _whole_answers(
    contents: Sequence[Form], raws: Sequence[msgspec.Raw]
) -> list[msgspec.Raw]:
    """Contents in which each answer of the model is one, as it was recorded.

    Clients that stream keep an answer in the pieces in which it came.
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
    """Whether a content's parts can be joined; what is malformed is refused when it is read."""
    parts = content.get("parts") or []
    return isinstance(parts, list) and all(isinstance(one, dict) for one in parts)


class Rewritten(NamedTuple):
    """What goes out in place of a body."""

    changes: dict[str, bytes | None]
    applied: int
    acts: bool | None = None
    """Whether its messages are others; None where it can't be said what they are."""


def rewritten(body: ForwardedBody, applied: Applied) -> Rewritten:
    """What `apply` changes in a body; nothing where it says the same."""
    changes: dict[str, bytes | None] = {}
    sent = _messages(body, applied)
    acts = sent is not None
    if sent is None and body.is_spelled_out:
        sent = body.listed(body.messages)
    if sent is not None:
        changes[body.names.messages] = sent
        if body.goes_on:
            changes[BEFORE] = None
    system, given = applied.system, body.value.get(body.names.system)
    if body.names.system and system != given:
        changes[body.names.system] = None if system is None else dump(system)
    return Rewritten(changes, applied.count, acts)


def _messages(body: ForwardedBody, applied: Applied) -> bytes | None:
    """The list of messages that goes out; None where it is the one that came in."""
    count, splice = len(body.messages), applied.made.splice
    if splice.pieces == ((GivenRun(0, count),) if count else ()):
        return None
    sent = splice.of(applied.run, before=b"[", behind=b"]")
    if count and sent == b"".join((b"[", applied.run(0, count), b"]")):
        return None
    if body.form == "openai-responses":
        listed = [bytes(memoryview(one)) for one in _list(sent)]
        return body.listed(_without_lost_ids(body, listed))
    return sent


def _without_lost_ids(body: ForwardedBody, sent: Sequence[bytes]) -> list[bytes]:
    """The items to send; where reasoning is gone, what followed it has no id any more.

    By its id the provider would look it up, and ask for the reasoning that it belongs to.
    """
    left, nameless = set(sent), dict[bytes, Form]()
    is_lost = False
    for raw, item in zip(body.messages, body.value[body.names.messages], strict=True):
        kind, one = item.get("type"), raw
        if kind == "reasoning":
            is_lost = one not in left
        elif item.get("role", "assistant") != "assistant" or str(kind).endswith(
            "_output"
        ):
            is_lost = False
        elif is_lost:
            nameless[one] = item
    return [_without_id(nameless[one]) if one in nameless else one for one in sent]


def _without_id(item: Form) -> bytes:
    return dump({name: value for name, value in item.items() if name != "id"})
