"""The conversations of Codex's rollouts: threads, branches that were rolled back, sub-agents.

A sub-agent's rollout names its parent. The call that started it is in the parent's rollout: in the
result of `spawn_agent`, or in an event about the sub-agent.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import PurePath

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.io import fields, json_text, source
from threads.domain.formats.io.folder import Folder, Gathered, Member
from threads.domain.formats.kit.graph.branches import branches_left_warning
from threads.domain.formats.kit.items import Item, Opener
from threads.domain.message import Message, Role
from threads.domain.transcript import Event, Parent, Relation, Transcript, Warning

from . import rollout
from .reading import RolloutReading
from .rollout import Range, Rollback, RolloutIndex

NAME = "codex"
ROLLOUT = re.compile(
    r"rollout-.*-(?P<id>[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl"
)
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(?=\.|$)")
HEAD = 5
"""How many lines at the top are searched for a rollout's header."""


HEADLESS = Warning(
    "history_missing",
    "This rollout continues another one, and what was said before is only in that file. Import it "
    "too, and the two sessions link to each other.",
)


@dataclass(frozen=True, slots=True)
class RolloutItems:
    """The items of a rollout, in the order of its lines, read again for each iteration.

    A branch repeats the messages that it shares with its parent, but not their events.
    """

    open: Opener
    rolled_back: tuple[Range, ...]
    branch: Rollback | None = None
    left: int = 0
    """How many branches of the thread are not conversations of their own."""
    is_headless: bool = False
    """Whether it continues a conversation in another file."""
    warnings: list[Warning] = field(default_factory=list)

    def __iter__(self) -> Iterator[Item]:
        self.warnings[:] = branches_left_warning(self.left)
        if self.is_headless:
            self.warnings.append(HEADLESS)
        with self.open() as file:
            if self.branch is None:
                yield from RolloutReading(file, self.warnings, self.rolled_back)
                return
            for item in RolloutReading(file, [], self.branch.left, self.branch.end):
                if isinstance(item, Event):
                    start, _, _ = item.record.removeprefix("bytes:").partition("-")
                    if int(start) < self.branch.offset:
                        continue
                yield item


def has_words(items: Iterable[Item]) -> bool:
    """Whether there is any message besides the instructions."""
    return any(isinstance(i, Message) and i.role is not Role.SYSTEM for i in items)


def transcripts(index: RolloutIndex, name: str, opener: Opener) -> list[Transcript]:
    """The conversations of an indexed rollout; the thread comes first."""
    external_id, parent = _identity(index, name)
    branches = index.branches if external_id else []
    left = index.left + len(index.branches) - len(branches)
    thread = RolloutItems(
        opener, index.rolled_back, left=left, is_headless=index.base is not None
    )
    found = [
        Transcript(
            format=NAME,
            title=index.title or f"Codex session {external_id[:8]}".rstrip(),
            items=thread,
            external_id=external_id or None,
            strategy="openai",
            model=index.model,
            parent=parent,
            warnings=thread.warnings,
        )
    ]
    return [*found, *(_branch(found[0], index, one, opener) for one in branches)]


def _identity(index: RolloutIndex, name: str) -> tuple[str, Parent | None]:
    """A rollout's external id, and its parent.

    A reverted thread continues in another file under the same thread id, which is the id of the
    first file. The other file's own id is in its name; the next continuation refers to it by that.
    """
    file, thread, base = PurePath(name).name, index.external_id, index.base
    if not thread:
        named = _ID.search(file)
        return named[0] if named else "", index.parent
    named = ROLLOUT.fullmatch(file)
    own = named["id"] if named else thread
    if not base or not base.rollout or own == thread != base.rollout:
        return thread, index.parent
    parent = Parent(external_id=base.rollout, relation=Relation.BRANCH)
    return (f"{thread}/from-{base.end}" if own == thread else own), parent


def _branch(
    thread: Transcript, index: RolloutIndex, branch: Rollback, opener: Opener
) -> Transcript:
    """A branch of the thread, or of the later branch that it left."""
    later = (
        f"{thread.external_id}/branch-{one.end}"
        for one in index.branches
        if one.start < branch.start and one.end > branch.end
    )
    left = next(later, thread.external_id or "")
    session = RolloutItems(opener, (), branch)
    with opener() as file:
        before = RolloutReading(file, [], branch.left, branch.start)
        shared = sum(isinstance(item, Message) for item in before)
    messages = (item for item in session if isinstance(item, Message))
    typed = (
        message.text
        for message in islice(messages, shared, None)
        if message.role is Role.USER and not rollout.CONTEXT.match(message.text)
    )
    return replace(
        thread,
        title=fields.one_line(fields.first(typed)) or thread.title,
        items=session,
        external_id=f"{thread.external_id}/branch-{branch.end}",
        parent=Parent(external_id=left, relation=Relation.BRANCH, at=shared),
        warnings=session.warnings,
    )


def gather(folder: Folder) -> list[Gathered]:
    """The sub-agents whose calls are found in the folder; other files are read one by one."""
    rollouts: dict[str, Member] = {}
    for member in folder.named(".jsonl"):
        if match := ROLLOUT.fullmatch(PurePath(member.name).name):
            rollouts[match["id"]] = member
    gathered = []
    for id_, member in rollouts.items():
        caller = rollouts.get(_caller(member))
        if caller is None or (call_id := _call(caller, id_)) is None:
            continue
        with member.open() as file:
            index = RolloutIndex(file)
        if index.parent is not None:
            index.parent = replace(index.parent, call_id=call_id)
        found = transcripts(index, member.name, member.open)
        if has_words(found[0].items):
            named = [replace(one, member=member.name) for one in found]
            gathered.append(Gathered(named, frozenset({member.name})))
    return gathered


def _caller(member: Member) -> str:
    """The id of the session that called a sub-agent; empty for any other rollout."""
    with member.open() as file:
        for line in islice(source.lines(file), HEAD):
            record = rollout.parse_record(line.data or b"")
            if record is not None and record.kind == "session_meta":
                parent = rollout.parent_of(record.payload)
                is_called = parent and parent.relation is Relation.SUBAGENT
                return parent.external_id if parent and is_called else ""
    return ""


def _call(caller: Member, id_: str) -> str | None:
    """The id of the call that started a sub-agent, from the caller's lines that name it."""
    with caller.open() as file:
        for data in rollout.lines_with(file, re.compile(re.escape(id_.encode()))):
            record = rollout.parse_record(data)
            payload = record.payload if record else {}
            if fields.text(payload, "agent_thread_id") == id_:
                return fields.text(payload, "event_id") or None
            output = fields.text(payload, "output").encode("utf-8", "replace")
            try:
                answer = json_text.parse(output)
            except Invalid:
                continue
            if fields.text(answer, "agent_id") == id_:  # started by `spawn_agent`
                return fields.text(payload, "call_id") or None
    return None
