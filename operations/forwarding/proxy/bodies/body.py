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
BEFORE = "previous_response_id"
CONVERSATION = "conversation"
REFERENCE = "item_reference"
DECLARED = ("functionDeclarations", "function_declarations")
"""The members in which a tool of Gemini's has its list: the API takes both spellings, and LiteLLM
writes the second."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardedBody:
    """A request's body, its conversation found in it."""

    form: str
    raw: bytes
    members: Mapping[str, msgspec.Raw]
    """As bytes; where only the rest of the body was read, with the new messages alone."""
    value: Mapping[str, Any]
    """The members parsed; the messages without what is `ahead` of them or `behind`."""
    request: RawRequest
    ahead: Sequence[msgspec.Raw] = ()
    """Items before the messages that are none, such as tools: they always stay there."""
    behind: Sequence[msgspec.Raw] = ()
    """Items behind the messages that are none: they ask for a compaction in place of a reply."""
    is_told: bool = False
    """Whether all that it names is known: then `value` has that in full, `request` the names."""
    before: int = 0
    """How many of its messages stand in the response that it goes on from."""
    is_spelled_out: bool = False
    """Whether its messages must go out in full, even if nothing in them is changed."""

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
        is_named = self.value.get(BEFORE) or self.value.get(CONVERSATION)
        return self.continues_thread or (is_response and bool(is_named))

    @property
    def continues_thread(self) -> bool:
        """Whether its client says no more than what is new of one of Anthropic's threads."""
        thread = self.value.get("thread")
        if self.form != "anthropic" or not isinstance(thread, dict):
            return False
        return thread.get("type") == "continue"

    @property
    def says_nothing(self) -> bool:
        """Whether it has no messages, wherever they may stand: its provider refuses it."""
        return not (self.messages or self.names_kept or self.value.get("prompt"))

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
        """The member of the body that lists these messages."""
        ahead, behind = (
            [bytes(memoryview(one)) for one in some]
            for some in (self.ahead, self.behind)
        )
        return b"[" + b",".join((*ahead, *messages, *behind)) + b"]"

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
    """What tells apart two requests with the same body: their forms and tags."""
    return f"{form} {append} {None if tags is None else sorted(tags)} ".encode()


def declared_in(tool: Mapping[str, Any]) -> list[Any]:
    """What a tool of Gemini's declares."""
    return [one for name in DECLARED for one in _listed(tool.get(name))]


def _listed(value: Any) -> list[Any]:
    """A list; none where it is something else, which is for the provider to refuse."""
    return value if isinstance(value, list) else []


def _tools_in(item: msgspec.Raw) -> Iterator[Form]:
    """The tools that such an item brings; of a namespace those in it."""
    given = read_json(bytes(memoryview(item))).get("tools")
    for one in given if isinstance(given, list) else ():
        if isinstance(one, dict):
            inner = one.get("tools")
            found = inner if isinstance(inner, list) else [one]
            yield from (tool for tool in found if isinstance(tool, dict))
