"""ATIF trajectories in several files: continuations, sub-agents, pictures.

A trajectory names the file that continues it (`continued_trajectory_ref`), or the file's name says
so (`trajectory.cont-1.json`); together they are one conversation. The steps that a continuation
copied from before are what the model saw from then on: a compaction, if they differ from what was
said. Sub-agents in files of their own (`trajectory_path`) are conversations of their own.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from posixpath import dirname, join, normpath

from threads.domain.body import digest
from threads.domain.formats.io import fields, json_file
from threads.domain.formats.io.folder import Folder, Gathered, Member
from threads.domain.formats.io.source import MAX_PIECE, ByteSpan
from threads.domain.formats.kit.context_view import ContextView
from threads.domain.formats.kit.items import Item
from threads.domain.formats.sample import HEAD, Sample
from threads.domain.message import Message
from threads.domain.part import File, Image
from threads.domain.transcript import Compaction, Event, Parent, Transcript, Warning

from . import trajectory


def gather(folder: Folder) -> list[Gathered]:
    """The trajectories of a folder, each with the files that belong to it."""
    files: dict[str, _Links] = {}
    for member in folder.named(".json"):
        with member.open() as file:
            head = Sample(file.read(HEAD))
        if trajectory.is_trajectory(head.object):
            files[member.name] = _Links(folder, member)
    inner = {links.next for links in files.values()}
    inner.update(path for links in files.values() for path in links.subagents)
    family = _Trajectories(folder, files)
    found = [family.of(name) for name in files if name not in inner]
    # Files that refer to one another in a cycle have no first file: start at whichever comes first.
    return found + [family.of(name) for name in files if name not in family.seen]


class _Links:
    """The references of a trajectory's file, as names of files in the folder."""

    def __init__(self, folder: Folder, member: Member) -> None:
        self.next = ""
        self.subagents: dict[str, str] = {}
        with member.open() as file:
            steps = trajectory.open_steps(file, json_file.whole(file))
            self.own_id, _ = trajectory.identity(steps, member.name)
            named = steps.get("continued_trajectory_ref")
            if isinstance(named, str):
                self.next = resolve_name(member.name, named)
            for call_id, ref in steps.calls_of_subagents():
                if path := fields.text(ref, "trajectory_path"):
                    self.subagents[resolve_name(member.name, path)] = call_id
        if self.next not in folder.members:
            match = trajectory.CONTINUED.search(member.name)
            number = int(match[1][:9]) + 1 if match else 1
            stem = trajectory.CONTINUED.sub("", member.name).removesuffix(".json")
            self.next = f"{stem}.cont-{number}.json"
        if self.next == member.name or self.next not in folder.members:
            self.next = ""


def resolve_name(name: str, path: str) -> str:
    """The name in the folder of a file that the file `name` refers to by a relative path."""
    return normpath(join(dirname(name), path))


@dataclass(frozen=True)
class _Trajectories:
    folder: Folder
    files: dict[str, _Links]
    seen: set[str] = field(default_factory=set)

    def of(self, name: str, parent: Parent | None = None) -> Gathered:
        """The conversation that begins in a file, and those of its sub-agents."""
        names = [name]
        while after := self.files[names[-1]].next:
            if after not in self.files or after in names:
                break
            names.append(after)
        self.seen.update(names)
        external_id = self.files[name].own_id
        found: list[Transcript] = []
        members = set(names)
        for one, items in self._conversations(names, external_id, parent):
            deque(items, maxlen=0)  # iterate once, to find the media it uses
            members |= items.used
            found.append(
                replace(
                    one, items=items, warnings=items.warnings, member=items.names[0]
                )
            )
        for part in names:
            for path, call_id in self.files[part].subagents.items():
                if path in self.files and path not in self.seen:
                    inner = self.of(path, trajectory.subagent_of(external_id, call_id))
                    found += inner.transcripts
                    members |= inner.members
        return Gathered(found, frozenset(members))

    def _conversations(
        self, names: list[str], external_id: str, parent: Parent | None
    ) -> Iterator[tuple[Transcript, "ContinuedTrajectory"]]:
        """The conversation of consecutive files, and the trajectories embedded in them."""
        for name in names:
            with self.folder.members[name].open() as file:
                steps = trajectory.open_steps(file, json_file.whole(file))
                if name == names[0] and (
                    own := trajectory.transcript(steps, external_id, parent)
                ):
                    yield own, ContinuedTrajectory(self.folder, tuple(names))
                for inner in trajectory.embedded(steps, external_id):
                    span = inner.items.span  # type: ignore[attr-defined]  # they are Steps
                    yield inner, ContinuedTrajectory(self.folder, (name,), span)


@dataclass(frozen=True)
class ContinuedTrajectory:
    """A trajectory and the files that continue it, each opened while it is read.

    With a span, it is the trajectory at that place of the only file.
    """

    folder: Folder
    names: tuple[str, ...]
    span: ByteSpan | None = None
    used: set[str] = field(default_factory=set)
    """The pictures and recordings that were found in the folder."""
    warnings: list[Warning] = field(default_factory=list)

    def __iter__(self) -> Iterator[Item]:
        self.warnings.clear()
        view = ContextView()
        for name in self.names:
            with self.folder.members[name].open() as file:
                span = self.span or json_file.whole(file)
                steps = trajectory.open_steps(file, span, partial(self._resolve, name))
                mark = f"{name}#" if name != self.names[0] else ""
                yield from _continue(steps, view, mark)
                self.warnings.extend(steps.warnings)

    def _resolve(self, name: str, part: Image | File) -> Image | File:
        """The picture or recording with its bytes, if its file is in the folder."""
        member = self.folder.members.get(resolve_name(name, part.url or ""))
        if member is None or member.size > MAX_PIECE:
            return part
        self.used.add(member.name)
        with member.open() as file:
            return replace(part, url=None, data=file.read(MAX_PIECE))


def _continue(steps: trajectory.Steps, view: ContextView, mark: str) -> Iterator[Item]:
    """The items of a trajectory; with a mark, it continues the conversation in the view.

    The mark is the prefix of records in a file other than the conversation's first.
    """
    steps.warnings[:] = steps.given
    copied: list[Message] = []
    for is_copied, item in steps.entries():
        if isinstance(item, Message):
            item = replace(item, records=tuple(mark + one for one in item.records))
        else:
            item = replace(item, record=mark + item.record)
        if mark and is_copied:
            if isinstance(item, Message):
                copied.append(item)
            continue
        yield from _compact(copied, view)
        copied = []
        if isinstance(item, Message):
            view.add(_key(item))
        yield item
    yield from _compact(copied, view)


def _compact(copied: list[Message], view: ContextView) -> Iterator[Item]:
    """The compactions and events for copied steps, which the model sees from then on."""
    changes = list(view.become([_key(message) for message in copied])) if copied else []
    added = next((change.start for change in changes if not change.hidden), len(copied))
    for message in copied[:added]:
        yield Event(f"copied/{message.role}", message.records[0], message.created_at)
    for change in changes:
        messages = copied[change.start : change.end]
        if change.hidden:
            first = messages[0]
            yield Compaction(
                replaces=change.hidden,
                messages=tuple(messages),
                record=first.records[0],
                created_at=first.created_at,
            )
            continue
        for message in messages:
            view.add(_key(message))
            yield message


def _key(message: Message) -> bytes:
    return digest(message.role, message.parts)
