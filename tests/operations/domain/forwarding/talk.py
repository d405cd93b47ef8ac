"""A conversation that a client sends requests of, and the resulting log."""

from dataclasses import dataclass, field

from operations.domain.forwarding.alignment import (
    GivenMessages,
    Unit,
    align_from_start,
    resolve_units,
)
from operations.domain.forwarding.client_entries import RequestDecision
from operations.domain.forwarding.finding import find_units
from operations.domain.forwarding.gaps import with_questions_anew
from operations.domain.forwarding.plan import RequestPlan, extension, plan
from operations.domain.log.entry import CLIENT, EditState, Entry
from operations.domain.log.log import Log
from operations.domain.log.operation import messages_of
from operations.domain.thread.replay import replay, sent_keys
from operations.domain.tree.key import original_index, parse_made_key
from operations.domain.tree.leaf import Leaf
from tests.operations.support.builders import AUTHOR
from threads.domain.body import digest
from threads.domain.formats import REQUESTS
from threads.domain.formats.format import Heading
from threads.domain.message import Message, Role
from threads.domain.part import Text

FORM = REQUESTS["openai"]


def says(text: str, role: Role | None = None) -> Message:
    """A message; its first letter determines the speaker."""
    roles = {"s": Role.SYSTEM, "a": Role.ASSISTANT}
    words = text if " " in text else f"{text} {'and so on ' * 8}"
    return Message(role=role or roles.get(text[0], Role.USER), parts=(Text(words),))


@dataclass
class HeldMessages:
    """Messages of a session, for requests to be aligned with."""

    messages: list[Message]

    @property
    def digests(self) -> list[bytes]:
        return [digest(one.role, one.parts) for one in self.messages]

    @property
    def lead(self) -> int:
        roles = [*(one.role for one in self.messages), Role.USER]
        return next(at for at, role in enumerate(roles) if role is not Role.SYSTEM)

    def readings(self, index: int) -> list[Message]:
        return [self.messages[index]]


@dataclass
class Talk:
    """A session of plain messages that a client sends requests to."""

    originals: list[Message] = field(default_factory=list)
    log: Log = field(default_factory=Log)

    def align(self, messages: list[Message]) -> tuple[GivenMessages, list[Unit]]:
        sent = GivenMessages(
            messages, lambda place: digest(messages[place].role, messages[place].parts)
        )
        count = len(self.originals)
        there = {original_index(key) for key in sent_keys(count, self.log)}
        held, left_out = HeldMessages(self.originals), set(range(count)) - there
        return sent, find_units(sent, held, FORM, Heading(), left_out=left_out)

    def send(self, *texts: str, quotes: bool = False) -> RequestPlan:
        messages = [says(text) for text in texts]
        sent, units = self.align(messages)
        held = len(self.originals)
        keys = sent_keys(held, self.log)
        last = HeldMessages([*map(self.message, keys)])
        same, known = align_from_start(sent, last, FORM, Heading(), is_last=True)
        gone = {one.text for one in self.originals} - {
            one.text for one in last.messages
        }
        rest = {one.text for one in messages[known:]}
        is_whole = sum(unit.last - unit.first for unit in same) == len(keys)
        if is_whole and rest.isdisjoint(gone):
            same = resolve_units(same, keys)
            made = extension(same, held=held, known=known, count=len(texts))
        else:
            roles = [one.role for one in self.originals]
            every = HeldMessages(self.originals)
            anew = with_questions_anew(units, sent, every, self.log)
            back = anew != units
            made = plan(sent, roles, self.log, anew, quotes=quotes, goes_back=back)
        self.originals += [messages[place] for place in made.appended]
        self.record(*made.operations, actor=CLIENT)
        return made

    def message(self, key: str) -> Message:
        index = original_index(key)
        if index is not None:
            return self.originals[index]
        number, k = parse_made_key(key)
        new = messages_of(self.log.edits[number].edit)[k]
        return Message(role=Role(new.role), parts=new.parts)

    def record(self, *operations, actor: str = AUTHOR) -> None:
        numbered = enumerate(operations, start=self.log.head + 1)
        self.log = self.log.extended(Entry(n, one, actor) for n, one in numbered)

    @property
    def leaves(self) -> list[Leaf]:
        return [Leaf(one.role, 1, 0) for one in self.originals]

    def words(self, key: str) -> str:
        return self.message(key).text.split(" and so on")[0]

    @property
    def sent(self) -> list[str]:
        """The client's last request, according to the log."""
        return [self.words(key) for key in sent_keys(len(self.originals), self.log)]

    @property
    def shown(self) -> list[str]:
        thread = replay(self.leaves, self.log)
        return [self.words(message.key) for message in thread.effective()]

    @property
    def edits(self) -> list[str]:
        """The kinds of the client's edits that are on."""
        return [
            one.edit.kind for one in self.log.client_edits if one.state is EditState.ON
        ]


def begun(*texts: str) -> Talk:
    talk = Talk()
    assert talk.send(*texts).decision is RequestDecision.FIRST
    return talk


HISTORY = ("s", "u0", "a1", "u2", "a3", "u4", "a5")
