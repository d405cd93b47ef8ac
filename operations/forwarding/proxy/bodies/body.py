"""A request's body with the conversation that was found in it."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import msgspec

from contextstudio.accounts.responses import read_json
from operations.forwarding.alignment import Inbound
from operations.forwarding.raw import RawRequest
from threads.domain.formats.requests import Form

_UUID = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE
).fullmatch
_NULL = msgspec.Raw(b"null")
PREVIOUS_RESPONSE = "previous_response_id"
CONVERSATION = "conversation"
REFERENCE = "item_reference"
DECLARED = ("functionDeclarations", "function_declarations")
"""The members in which a Gemini tool lists its functions: the API accepts both spellings, and
LiteLLM writes the second."""


class Names(NamedTuple):
    """The names of the members that hold a conversation in one form of request."""

    messages: str
    system: str


FORMS: Mapping[str, Names] = {
    "openai": Names("messages", ""),
    "openai-responses": Names("input", "instructions"),
    "anthropic": Names("messages", "system"),
    "gemini": Names("contents", "systemInstruction"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardedBody:
    """A request's body, and the conversation found in it."""

    form: str
    raw: bytes
    members: Mapping[str, msgspec.Raw]
    """The members as bytes; if only the rest of the body was read, with only the new messages."""
    value: Mapping[str, Any]
    """The members parsed, with the messages but without the items `leading` and `trailing`."""
    request: RawRequest
    leading: Sequence[msgspec.Raw] = ()
    """Items before the messages that aren't messages, such as tools; they always stay there."""
    trailing: Sequence[msgspec.Raw] = ()
    """Items after the messages that aren't messages: they request a compaction instead of a
    reply."""
    is_expanded: bool = False
    """Whether everything it names is known. If so, `value` has that in full, and `request` the
    references."""
    before: int = 0
    """How many of its messages come from the response that it continues."""
    is_spelled_out: bool = False
    """Whether its messages must go out in full, even if nothing in them is changed."""

    @property
    def messages(self) -> Sequence[bytes]:
        """Its messages as received bytes."""
        return self.request.messages

    @property
    def names(self) -> Names:
        """The names of its members."""
        names = FORMS[self.form]
        if self.form == "gemini" and "system_instruction" in self.members:
            return names._replace(system="system_instruction")
        return names

    @property
    def model(self) -> str:
        """The model that it requests."""
        model = self.value.get("model")
        return model if isinstance(model, str) else ""

    @property
    def is_continuation(self) -> bool:
        """Whether it continues messages that its provider keeps."""
        is_response = self.form == "openai-responses"
        is_named = self.value.get(PREVIOUS_RESPONSE) or self.value.get(CONVERSATION)
        return self.continues_thread or (is_response and bool(is_named))

    @property
    def continues_thread(self) -> bool:
        """Whether it contains only the new messages of one of Anthropic's threads."""
        thread = self.value.get("thread")
        if self.form != "anthropic" or not isinstance(thread, dict):
            return False
        return thread.get("type") == "continue"

    @property
    def says_nothing(self) -> bool:
        """Whether it has no messages anywhere; its provider will refuse it."""
        return not (self.messages or self.names_kept or self.value.get("prompt"))

    @property
    def is_background(self) -> bool:
        """Whether its reply may come later, through other requests."""
        is_response = self.form == "openai-responses"
        return is_response and self.value.get("background") is True

    @property
    def names_kept(self) -> str:
        """The member or item type by which it refers to what its provider keeps.

        Empty if it contains everything, or everything it refers to is known.
        """
        if self.form != "openai-responses" or self.is_expanded:
            return ""
        for member in (CONVERSATION, PREVIOUS_RESPONSE):
            if self.value.get(member):
                return member
        # The part shared with an earlier request is known to have no such items.
        known = self.request.known_beginning
        new = self.value["input"][len(known.bounds) if known else 0 :]
        return REFERENCE if any(map(is_reference, new)) else ""

    @property
    def conversation(self) -> bytes:
        """The client's name for its conversation; empty if it gives none.

        A provider's cache key serves as one if it is a UUID. Otherwise it may be the key of a
        prompt, which several conversations share.
        """
        given = self.value.get("prompt_cache_key")
        return given.encode() if isinstance(given, str) and _UUID(given) else b""

    @property
    def tools(self) -> list[Form]:
        """The tools that it offers; Gemini's are in lists of declarations."""
        tools = _listed(self.value.get("tools"))
        given = [one for one in tools if isinstance(one, dict)]
        if self.form != "gemini":
            return [*given, *(tool for one in self.leading for tool in _tools_in(one))]
        found = (tool for one in given for tool in declared_in(one))
        return [tool for tool in found if isinstance(tool, dict)]

    def listed(self, messages: Iterable[bytes]) -> bytes:
        """The member of the body that lists these messages, with the items around them."""
        leading, trailing = (
            [bytes(memoryview(one)) for one in some]
            for some in (self.leading, self.trailing)
        )
        return b"[" + b",".join((*leading, *messages, *trailing)) + b"]"

    def inbound(
        self,
        tags: frozenset[str] | None,
        *,
        append: bool,
        offers_recall: bool,
        model: str = "",
        client: str = "",
    ) -> Inbound:
        """The conversation in the form that `apply` takes."""
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
        """The body with some members changed; the received bytes if there are no changes.

        A member whose new value is None is removed.
        """
        if not changes:
            return self.raw
        if self.request.known_beginning and self.names.messages not in changes:
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
    """Whether an item of the Responses API refers to another one; its type may be omitted."""
    kind = item.get("type")
    return kind == REFERENCE or (kind is None and item.keys() - {"type"} == {"id"})


def marks_of(form: str, tags: frozenset[str] | None, *, append: bool) -> bytes:
    """What distinguishes requests with the same body: form, tags and `append`."""
    return f"{form} {append} {None if tags is None else sorted(tags)} ".encode()


def declared_in(tool: Mapping[str, Any]) -> list[Any]:
    """The functions that a Gemini tool declares."""
    return [one for name in DECLARED for one in _listed(tool.get(name))]


def _listed(value: Any) -> list[Any]:
    """The list, or an empty one for any other value, which the provider will refuse."""
    return value if isinstance(value, list) else []


def _tools_in(item: msgspec.Raw) -> Iterator[Form]:
    """The tools in such an item; for a namespace, those inside it."""
    given = read_json(bytes(memoryview(item))).get("tools")
    for one in given if isinstance(given, list) else ():
        if isinstance(one, dict):
            inner = one.get("tools")
            found = inner if isinstance(inner, list) else [one]
            yield from (tool for tool in found if isinstance(tool, dict))
