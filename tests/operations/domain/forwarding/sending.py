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
    outgoings,
    untouched,
)
from operations.domain.forwarding.alignment import Given
from operations.domain.forwarding.finding import find
from operations.domain.forwarding.passthrough import Passed, with_own
from operations.domain.forwarding.plan import RequestPlan, plan
from operations.domain.log.entry import CLIENT, Entry
from operations.domain.log.log import fold
from operations.domain.log.operation import Tag
from operations.domain.providers import PROVIDERS, compile_request
from operations.domain.providers.plain import Unread, plain_of
from operations.domain.providers.request import Compiled, Draft
from operations.domain.thread.replay import replay
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, original_index, original_key
from operations.domain.tree.leaf import Leaf
from operations.domain.tree.span import read_changed
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
    """What is made of a thread."""

    assembly: Assembly
    compiled: Compiled


@dataclass
class Conversation:
    """Originals as a session holds them, with a log; `blobs` are their images and files."""

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
        masked = self.log.masks.read(original_key(index), message.parts)
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
        index, made = original_index(key), thread.made(key)
        if made is not None:
            message = Message(role=Role(made.role), parts=made.parts)
        else:
            known = [*self.messages[: thread.message_count - len(more)], *more]
            message = known[index or 0]
        return replace(message, parts=read_changed(message.parts, thread.spans(key)))

    def context(
        self, thread: Thread, provider: str, more: Sequence[Message] = ()
    ) -> Sent:
        """What the pipeline makes of a thread for a provider, its policy being `replay`."""
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
        """The same before it is compiled; `reads`: with the words of what is plain, too."""
        keys = [one.key for one in thread.effective()]
        said = {
            key: Read(message.parts, provider, message.name)
            for key, message in self.words(thread, keys, more).items()
        }
        plan = Plan(count=len, strategy=provider)
        held = self.messages[: thread.message_count - len(more)]
        plain = [
            found and Unread.of(found, index, thread.leaves[index])
            for index, one in enumerate([] if reads else [*held, *more])
            for found in (plain_of(one, provider),)
        ]
        messages = outgoings(
            thread, said, len, known=untouched(thread, plain, thread.keys)
        )
        assembly = assemble(thread, messages, plan)
        draft = Draft(
            layers=assembly.layers,
            messages=assembly.messages,
            model="",
            heading=self.heading,
            intact=assembly.intact,
        )
        return assembly, draft

    def export(self, format: str, view: str) -> dict[str, Any]:
        """The body of a request that the export of a view is."""
        thread = self.thread()
        if view == "effective":
            return self.context(thread, format).compiled.request
        found = [self.readings(index)[1] for index in range(len(self.messages))]
        pieces = formats.write(
            format, found, formats.Heading(blob=self.blobs.__getitem__)
        )
        body: dict[str, Any] = json.loads(b"".join(pieces))
        return body

    def apply(self, format: str, body: dict[str, Any]) -> Passed:
        """What goes out for a request; what is new in it is not recorded."""
        thread, made, more, beside = self.aligned(format, body)
        if not changes(thread):
            return Passed(body["messages"], frozenset(), [], body.get("system"))
        sent = self.context(thread, format, more)
        return with_own(
            sent.compiled,
            sent.assembly.layers,
            sent.assembly.messages,
            thread,
            made.units,
            [*([None] * beside), *body["messages"]],
            body.get("system"),
            takes_system=PROVIDERS[format].rules.system_anywhere,
        )

    def aligned(
        self, format: str, body: dict[str, Any]
    ) -> tuple[Thread, RequestPlan, Sequence[Message], int]:
        """The thread that a request makes, how it stands to it, what of it is new, and how many
        prompts stand beside its messages."""
        form = formats.REQUESTS[format]
        prompt = list(anthropic.read_system(body.get("system")))
        messages = [*prompt, *map(form.read, body["messages"])]
        given = Given(messages, lambda place: digest_of(messages[place]), bool(prompt))
        roles = [message.role for message in self.messages]
        units = find(given, self, form, self.heading)
        made = plan(given, roles, self.log, units)
        numbered = enumerate(made.operations, start=self.log.head + 1)
        log = self.log.extended(Entry(n, one, CLIENT) for n, one in numbered)
        more = [messages[place] for place in made.appended]
        thread = replay(self.leaves(more), log, self.tags)
        return thread, made, more, len(prompt)


def changes(thread: Thread) -> bool:
    """Whether any operation applies that changes what is sent."""
    edits = thread.log.edits
    return any(
        one.status is Status.APPLIED
        and not isinstance(edits[one.number].edit, Tag)
        and edits[one.number].entry.actor != CLIENT
        for one in thread.operations
    )


def digest_of(message: Message) -> bytes:
    return digest(message.role, named(message, {}).parts)


def named(message: Message, blobs: dict[str, bytes]) -> Message:
    """A message whose images and files are kept under their hashes."""
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
    """The effective export. What `apply` makes of the original one is its messages, in their
    order, but for those that are the client's own; that these say the same as what stands in
    their place in the export, `test_one_request` asks of whole sessions.
    """
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
    """What messages say, however they are cut: those of one speaker in a row as one.

    Of OpenAI's without the reasoning, for which its form has no place, and with their texts as
    one in front of the calls.
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
            whole = "\n\n".join(texts)  # what is blank may be left out
            parts = [*([Text(whole)] if whole else []), *rest]
        found += [(role, part) for part in parts]
    return found


def _speaker(message: Message) -> Role:
    is_system = message.role is Role.DEVELOPER  # as which a prompt may be sent, too
    return Role.SYSTEM if is_system else message.role


def message(role: Role, *parts: Part) -> Message:
    return Message(role=role, parts=parts)


def result(id_: str, text: str = "ok") -> ToolResult:
    return ToolResult(id_, (Text(text),))


def block(id_: str, text: str = "ok", **members: Any) -> dict[str, Any]:
    """A result as Anthropic takes it."""
    return {"type": "tool_result", "tool_use_id": id_, "content": text, **members}


def tool(id_: str, text: str = "ok", **members: Any) -> dict[str, Any]:
    """A result as OpenAI takes it."""
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
