"""A client's request as bytes: what is read of it, and what takes the place of its messages.

Everything that the session's operations don't touch goes out as the bytes that came in: where
nothing is, the whole body; else every member but the conversation's.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

import msgspec

from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.responses import dump, read_json
from operations.forwarding.alignment import Inbound
from operations.forwarding.raw import RawRequest
from operations.forwarding.toolbox import RECALL
from threads.domain.formats.requests import Form

from .replies.gemini import joined_parts

_RECALL = re.compile(rf"(?:^|[^A-Za-z]){RECALL}$")
"""Clients put the name of a server before that of its tool."""
_NULL = msgspec.Raw(b"null")
_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_list = msgspec.json.Decoder(list[msgspec.Raw]).decode


class Members(NamedTuple):
    """What a form of requests calls the parts of a conversation."""

    messages: str
    system: str


FORMS: Mapping[str, Members] = {
    "openai": Members("messages", ""),
    "openai-responses": Members("input", "instructions"),
    "anthropic": Members("messages", "system"),
    "gemini": Members("contents", "systemInstruction"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardedBody:
    """A request's body, its conversation found in it."""

    form: str
    raw: bytes
    members: Mapping[str, msgspec.Raw]
    value: Mapping[str, Any]
    messages: list[msgspec.Raw]

    @property
    def names(self) -> Members:
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
    def continues(self) -> str | None:
        """The response that it goes on from, whose conversation its provider keeps.

        Empty where it goes on from something else that isn't in it; None where all is in it.
        """
        if self.form != "openai-responses":
            return None
        if before := self.value.get("previous_response_id"):
            return before if isinstance(before, str) else ""
        kinds = [one.get("type") for one in self.value["input"]]
        is_kept = "item_reference" in kinds or self.value.get("conversation")
        return "" if is_kept else None

    @property
    def tools(self) -> list[Form]:
        """The tools that it offers; Gemini's stand in lists of declarations."""
        given = [one for one in self.value.get("tools") or () if isinstance(one, dict)]
        if self.form != "gemini":
            return given
        lists = (one.get("functionDeclarations") or () for one in given)
        return [one for found in lists for one in found if isinstance(one, dict)]

    @property
    def has_recall(self) -> bool:
        """Whether one of its tools is our `recall`, whatever a client puts before its name."""
        named = ((one.get("function") or one).get("name") for one in self.tools)
        return any(_RECALL.search(str(name)) for name in named)

    def inbound(
        self,
        tags: frozenset[str] | None,
        *,
        append: bool,
        can_recall: bool,
        model: str = "",
        client: str = "",
    ) -> Inbound:
        """The conversation as `apply` takes it."""
        system = self.members.get(self.names.system, _NULL)
        marks = f"{self.form} {append} {sorted(tags) if tags is not None else tags} "
        return Inbound(
            messages=self.value[self.names.messages],
            format=self.form,
            system=self.value.get(self.names.system),
            active_tags=tags,
            append=append,
            model=model or self.model,
            door="proxy",
            client=client,
            can_recall=can_recall,
            tools=self.tools,
            raw=RawRequest(
                # Another form, or other tags, are another request.
                body=marks.encode() + self.raw,
                messages=[bytes(memoryview(one)) for one in self.messages],
                system=bytes(memoryview(system)),
                active_tags=tags,
                append=append,
            ),
        )

    def written(self, changes: Mapping[str, bytes | None]) -> bytes:
        """The body with other values for some of its members; as it came in where there is none.

        A member without a value is left out.
        """
        if not changes:
            return self.raw
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


def read_body(form: str, raw: bytes) -> ForwardedBody:
    """The body of a request that holds a conversation. Raises Invalid where it holds none."""
    value, words = read_json(raw), None
    if not isinstance(value, dict):
        raise Invalid("The body is no JSON object.", code="json_invalid")
    name = FORMS[form].messages
    if form == "openai-responses" and isinstance(value.get(name), str):
        said = {"role": "user", "content": value[name]}
        value, words = value | {name: [said]}, msgspec.Raw(dump([said]))
    if not isinstance(value.get(name), list):
        raise Invalid(f"{name} is a list.", at=[name])
    if not all(isinstance(one, dict) for one in value[name]):
        raise Invalid(f"{name} is a list of objects.", at=[name])
    try:
        members = _members(raw)
        messages = _list(members[name] if words is None else words)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise Invalid(
            "The body is JSON that is no UTF-8, or holds lone surrogates; it can't be forwarded.",
            code="json_invalid",
        ) from None
    if form == "gemini":
        messages = _whole_answers(value[name], messages)
        value = value | {name: [read_json(bytes(memoryview(one))) for one in messages]}
    return ForwardedBody(
        form=form, raw=raw, members=members, value=value, messages=messages
    )


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
        if role != "model" or len(answers) == 1:
            found += [raw for _, raw in answers]
            continue
        parts = (part for content, _ in answers for part in content.get("parts") or ())
        whole = {"role": role, "parts": joined_parts(parts)}
        found.append(msgspec.Raw(dump(whole)))
    return found


class _Answer(msgspec.Struct):
    """What of the answer of `apply` is of use here."""

    messages: list[msgspec.Raw]
    system: msgspec.Raw = msgspec.Raw()
    applied: list[str] = msgspec.field(default_factory=list)


_answer = msgspec.json.Decoder(_Answer).decode


class Rewritten(NamedTuple):
    """What goes out in place of a body."""

    changes: dict[str, bytes | None]
    applied: int


def rewritten(body: ForwardedBody, answer: bytes) -> Rewritten:
    """What the answer of `apply` changes in a body; nothing where it says the same."""
    found = _answer(answer)
    changes: dict[str, bytes | None] = {}
    if found.messages != body.messages:
        sent = [bytes(memoryview(one)) for one in found.messages]
        if body.form == "openai-responses":
            sent = _without_lost_ids(body, sent)
        changes[body.names.messages] = b"[" + b",".join(sent) + b"]"
    system = bytes(memoryview(found.system))
    if body.names.system and not _is_same(body, system):
        changes[body.names.system] = system or None
    return Rewritten(changes, len(found.applied))


def _without_lost_ids(body: ForwardedBody, sent: Sequence[bytes]) -> list[bytes]:
    """The items to send; where reasoning is gone, what followed it has no id any more.

    By its id the provider would look it up, and ask for the reasoning that it belongs to.
    """
    left, nameless = set(sent), set[bytes]()
    is_lost = False
    for raw, item in zip(body.messages, body.value[body.names.messages], strict=True):
        kind, one = item.get("type"), bytes(memoryview(raw))
        if kind == "reasoning":
            is_lost = one not in left
        elif item.get("role", "assistant") != "assistant" or str(kind).endswith(
            "_output"
        ):
            is_lost = False
        elif is_lost:
            nameless.add(one)
    if not nameless:
        return [*sent]
    return [_without_id(one) if one in nameless else one for one in sent]


def _without_id(raw: bytes) -> bytes:
    item = read_json(raw)
    return dump({name: value for name, value in item.items() if name != "id"})


def _is_same(body: ForwardedBody, system: bytes) -> bool:
    given = body.value.get(body.names.system)
    return given is None if not system else bool(read_json(system) == given)
