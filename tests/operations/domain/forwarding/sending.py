"""Sessions and requests for tests of what is sent, without a database."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, takewhile
from typing import Any, NamedTuple

from operations.domain.context.assembly import (
    Assembly,
    Plan,
    assemble,
    outgoing_messages,
    untouched_originals,
)
from operations.domain.forwarding.alignment import GivenMessages
from operations.domain.forwarding.finding import find_units
from operations.domain.forwarding.passthrough import PassedRequest, with_client_messages
from operations.domain.forwarding.plan import RequestPlan, plan
from operations.domain.log.entry import CLIENT, Entry
from operations.domain.log.log import fold
from operations.domain.log.operation import Tag
from operations.domain.providers import PROVIDERS, compile_request
from operations.domain.providers.plain import UnreadMessage, plain_message
from operations.domain.providers.request import Compiled, Draft
from operations.domain.providers.signed_places import SignedPlaces
from operations.domain.thread.replay import replay
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, original_index, original_key
from operations.domain.tree.leaf import Leaf
from operations.domain.tree.span import apply_span_changes
from operations.domain.tree.status import Status
from tests.operations.support.reading import Read
from threads.domain import formats
from threads.domain.body import digest
from threads.domain.formats.anthropic import messages as anthropic
from threads.domain.formats.format import Heading
from threads.domain.formats.requests import SYSTEM
from threads.domain.message import Message, Role
from threads.domain.part import File, Image, Part, Text, Thinking, ToolCall, ToolResult


class Sent(NamedTuple):
    """The pipeline's results for a thread."""

    assembly: Assembly
    compiled: Compiled


@dataclass
class Conversation:
    """Originals of a session, with a log; `blobs` are their images and files."""

    given: Sequence[Message]
    entries: Sequence[Entry] = ()
    tags: frozenset[str] | None = None
    blobs: dict[str, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.messages = [named(message, self.blobs) for message in self.given]
        self.digests = [digest_of(one) for one in self.messages]
        self.log = fold(self.entries)

    @property
    def heading(self) -> Heading:
        return Heading(blob=self.blobs.__getitem__)

    def readings(self, index: int) -> list[Message]:
        message = self.messages[index]
        masked = self.log.masks.mask_parts(original_key(index), message.parts)
        return [message, replace(message, parts=masked)]

    @property
    def lead(self) -> int:
        return len([*takewhile(lambda one: one.role in SYSTEM, self.messages)])

    def leaves(self, more: Sequence[Message] = ()) -> list[Leaf]:
        return [Leaf(str(one.role), 10, 1) for one in [*self.messages, *more]]

    def thread(self) -> Thread:
        return replay(self.leaves(), self.log, self.tags)

    def words(
        self, thread: Thread, keys: Sequence[Key], more: Sequence[Message] = ()
    ) -> Mapping[Key, Message]:
        return {key: self._word(thread, key, more) for key in keys}

    def _word(self, thread: Thread, key: Key, more: Sequence[Message]) -> Message:
        index, made = original_index(key), thread.made_message(key)
        if made is not None:
            message = Message(role=Role(made.role), parts=made.parts)
        else:
            known = [*self.messages[: thread.message_count - len(more)], *more]
            message = known[index or 0]
        return replace(
            message, parts=apply_span_changes(message.parts, thread.spans(key))
        )

    def context(
        self, thread: Thread, provider: str, more: Sequence[Message] = ()
    ) -> Sent:
        """The pipeline's output for a thread and a provider, under the policy `replay`."""
        assembly, draft = self.drafted(thread, provider, more)
        return Sent(assembly, compile_request(provider, draft))

    def drafted(
        self,
        thread: Thread,
        provider: str,
        more: Sequence[Message] = (),
        *,
        reads: bool = True,
    ) -> tuple[Assembly, Draft]:
        """The same before compiling; with `reads`, including the words of plain messages."""
        keys = [one.key for one in thread.effective()]
        said = {
            key: Read(message.parts, provider, message.name)
            for key, message in self.words(thread, keys, more).items()
        }
        plan = Plan(count=len, strategy=provider)
        held = self.messages[: thread.message_count - len(more)]
        plain = [
            found and UnreadMessage.of(found, index, thread.leaves[index])
            for index, one in enumerate([] if reads else [*held, *more])
            for found in (plain_message(one, provider),)
        ]
        messages = outgoing_messages(
            thread, said, len, known=untouched_originals(thread, plain, thread.keys)
        )
        assembly = assemble(thread, messages, plan)
        draft = Draft(
            layers=assembly.layers,
            messages=assembly.messages,
            model="",
            heading=self.heading,
            signed=SignedPlaces.first(assembly.intact),
        )
        return assembly, draft

    def export(self, format: str, view: str) -> dict[str, Any]:
        """The export of a view, as the body of a request."""
        thread = self.thread()
        if view == "effective":
            return self.context(thread, format).compiled.request
        found = [self.readings(index)[1] for index in range(len(self.messages))]
        pieces = formats.write(
            format, found, formats.Heading(blob=self.blobs.__getitem__)
        )
        body: dict[str, Any] = json.loads(b"".join(pieces))
        return body

    def apply(
        self, format: str, body: dict[str, Any], bound: str = ""
    ) -> PassedRequest:
        """What is sent for a request; its new messages are not recorded.

        `bound` is the id of a call whose two halves must be sent in one form.
        """
        thread, made, more, beside = self.aligned(format, body)
        if not changes(thread):
            return PassedRequest(body["messages"], frozenset(), [], body.get("system"))
        sent = self.context(thread, format, more)
        return with_client_messages(
            sent.compiled,
            sent.assembly.layers,
            sent.assembly.messages,
            thread,
            made.units,
            [*([None] * beside), *body["messages"]],
            body.get("system"),
            takes_system=PROVIDERS[format].rules.system_anywhere,
            bound_call=lambda own: bound if bound and bound in str(own) else "",
        )

    def aligned(
        self, format: str, body: dict[str, Any]
    ) -> tuple[Thread, RequestPlan, Sequence[Message], int]:
        """A request aligned with the session.

        Returns the thread that results, the plan of the request, its new messages, and the number
        of prompts outside its list of messages.
        """
        form = formats.REQUESTS[format]
        prompt = list(anthropic.read_system(body.get("system")))
        messages = [*prompt, *map(form.read, body["messages"])]
        given = GivenMessages(
            messages, lambda place: digest_of(messages[place]), bool(prompt)
        )
        roles = [message.role for message in self.messages]
        units = find_units(given, self, form, self.heading)
        made = plan(given, roles, self.log, units)
        numbered = enumerate(made.operations, start=self.log.head + 1)
        log = self.log.extended(Entry(n, one, CLIENT) for n, one in numbered)
        more = [messages[place] for place in made.appended]
        thread = replay(self.leaves(more), log, self.tags)
        return thread, made, more, len(prompt)


def changes(thread: Thread) -> bool:
    """Whether any applied operation changes what is sent."""
    edits = thread.log.edits
    return any(
        one.status is Status.APPLIED
        and not isinstance(edits[one.number].edit, Tag)
        and edits[one.number].entry.actor != CLIENT
        for one in thread.reports
    )


def digest_of(message: Message) -> bytes:
    return digest(message.role, named(message, {}).parts)


def named(message: Message, blobs: dict[str, bytes]) -> Message:
    """A message whose images and files are stored under their hashes."""
    return replace(message, parts=tuple(_named(part, blobs) for part in message.parts))


def _named(part: Part, blobs: dict[str, bytes]) -> Any:
    match part:
        case ToolResult():
            return replace(
                part, content=tuple(_named(item, blobs) for item in part.content)
            )
        case Image(data=bytes() as data) | File(data=bytes() as data):
            sha256 = hashlib.sha256(data).hexdigest()
            blobs[sha256] = data
            return replace(part, sha256=sha256, data=None)
    return part


def agree(conversation: Conversation, format: str) -> dict[str, Any]:
    """Check `apply` on the original export against the effective export; returns the latter."""
    body = conversation.export(format, "original")
    sent = conversation.apply(format, body)
    thread = conversation.thread()
    context = conversation.context(thread, format)
    if not changes(thread):
        assert (sent.messages, sent.system) == (body["messages"], body.get("system"))
        return body
    expected = context.compiled.request
    own = {id(message) for message in body["messages"]}
    written = iter(expected["messages"])
    assert all(one in written for one in sent.messages if id(one) not in own)
    if "system" in expected or format == "anthropic":
        assert sent.system in (expected.get("system"), body.get("system"))
    return expected


def said_in(messages: Sequence[dict[str, Any]], format: str) -> list[Any]:
    """The content of messages, regardless of how it is divided among them.

    Consecutive messages of one speaker count as one. For OpenAI's, reasoning is dropped, for which
    that form has no place, and texts are joined before the calls.
    """
    form = formats.REQUESTS[format]
    read = map(form.read, messages)
    found: list[Any] = []
    for role, said in groupby(read, key=_speaker):
        parts = [
            replace(part, name=None) if isinstance(part, ToolResult) else part
            for message in said
            for part in message.parts
            if not (isinstance(part, Text) and not part.text.strip())
        ]
        if format == "openai":
            texts = [part.text.strip() for part in parts if isinstance(part, Text)]
            rest = [part for part in parts if not isinstance(part, Text | Thinking)]
            whole = "\n\n".join(texts)  # blank text may be left out
            parts = [*([Text(whole)] if whole else []), *rest]
        found += [(role, part) for part in parts]
    return found


def _speaker(message: Message) -> Role:
    is_system = message.role is Role.DEVELOPER  # prompts may have this role too
    return Role.SYSTEM if is_system else message.role


def message(role: Role, *parts: Part) -> Message:
    return Message(role=role, parts=parts)


def result(id_: str, text: str = "ok") -> ToolResult:
    return ToolResult(id_, (Text(text),))


def block(id_: str, text: str = "ok", **members: Any) -> dict[str, Any]:
    """A result in Anthropic's form."""
    return {"type": "tool_result", "tool_use_id": id_, "content": text, **members}


def tool(id_: str, text: str = "ok", **members: Any) -> dict[str, Any]:
    """A result in OpenAI's form."""
    return {"role": "tool", "tool_call_id": id_, "content": text, **members}


def user(*content: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(content)}


ASKED = message(Role.USER, Text("Look."))
CALLED = message(Role.ASSISTANT, *(ToolCall(id_, "look", {}) for id_ in "ab"))
ONE, OTHER = message(Role.USER, result("a")), message(Role.USER, result("b"))
BOTH = message(Role.USER, result("a"), result("b"))
DONE = message(Role.ASSISTANT, Text("Done."))
USE = {
    "role": "assistant",
    "content": [
        {"type": "tool_use", "id": id_, "name": "look", "input": {}} for id_ in "ab"
    ],
}
PROMPT = message(Role.SYSTEM, Text("Be brief."))
