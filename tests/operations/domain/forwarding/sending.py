"""Sessions and requests for tests of what is sent, without a database."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from operations.domain.forwarding.alignment import Given, Unit, align, recorded
from operations.domain.forwarding.rewriting import (
    Request,
    Rewritten,
    rewrite,
    system_length,
)
from operations.domain.log.log import Entry, fold
from operations.domain.thread.replay import replay
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, original_index, original_key
from operations.domain.tree.leaf import Leaf
from operations.domain.tree.span import read_changed
from threads.domain import formats
from threads.domain.formats.anthropic import messages as anthropic
from threads.domain.formats.format import Heading
from threads.domain.message import Message, Role, digest
from threads.domain.part import File, Image, Part, Text, ToolCall, ToolResult


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

    def thread(self, count: int | None = None, more: Sequence[Message] = ()) -> Thread:
        found = [*self.messages[:count], *more]
        leaves = [Leaf(str(message.role), 10, 1) for message in found]
        return replay(leaves, self.log, self.tags)

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

    def export(self, format: str, view: str) -> dict[str, Any]:
        """The body of a request that the export of a view is."""
        thread = self.thread()
        if view == "original":
            found = [self.readings(index)[1] for index in range(len(self.messages))]
            system = None
        else:
            keys = [one.key for one in thread.effective()]
            words = self.words(thread, keys)
            found = [words[key] for key in keys]
            system = system_length(thread)
        blob = self.blobs.__getitem__
        pieces = formats.write(format, found, blob=blob, system=system)
        body: dict[str, Any] = json.loads(b"".join(pieces))
        return body

    def apply(self, format: str, body: dict[str, Any]) -> Rewritten:
        """What goes out for a request; what is new in it is not recorded."""
        form = formats.REQUESTS[format]
        prompt = list(anthropic.read_system(body.get("system")))
        messages = [*prompt, *map(form.read, body["messages"])]
        given = Given(messages, lambda place: digest_of(messages[place]), bool(prompt))
        units, known = align(given, self, form, self.heading)
        count = units[-1].last if units else 0
        units += new_units(given, known, count)
        more = messages[known:]
        thread = self.thread(count, more)
        request = Request(
            form=form,
            heading=self.heading,
            messages=[*([None] * len(prompt)), *body["messages"]],
            system=body.get("system"),
        )
        return rewrite(
            thread, units, request, lambda keys: self.words(thread, keys, more)
        )


def new_units(given: Given, known: int, count: int) -> list[Unit]:
    places = range(known, len(given.messages))
    return [recorded(given, place, count + place - known) for place in places]


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
    """The effective export, which is what `apply` makes of the original one."""
    sent = conversation.apply(format, conversation.export(format, "original"))
    expected = conversation.export(format, "effective")
    assert sent.messages == expected["messages"]
    assert sent.system == expected.get("system")
    return expected


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
