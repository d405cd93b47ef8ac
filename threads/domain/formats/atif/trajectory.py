"""An ATIF trajectory in a file, with the embedded trajectories of its sub-agents."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any, BinaryIO

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.io import fields, json_file
from threads.domain.formats.io.json_file import Members
from threads.domain.formats.io.source import BROKEN, ByteSpan
from threads.domain.formats.kit.items import Conversation
from threads.domain.formats.kit.transcripts import first_messages, title_of
from threads.domain.message import Message
from threads.domain.part import File, Image, Part, ToolResult
from threads.domain.transcript import Event, Parent, Relation, Transcript, Warning

from .steps import AtifStep

NAME = "atif"
CONTINUED = re.compile(r"\.cont-(\d+)\.json$")
"""The end of the name of a file that continues another: `trajectory.cont-1.json`."""

Resolve = Callable[[Image | File], Image | File]
"""Finds the bytes of a picture or a recording, to which a path refers."""


def is_trajectory(value: Any) -> bool:
    """Whether a value is a trajectory, judged by the version it names."""
    return fields.text(value, "schema_version").startswith("ATIF-v")


@dataclass(frozen=True, slots=True)
class Steps(Conversation):
    """The messages of one trajectory, step by step."""

    file: BinaryIO
    span: ByteSpan
    members: Members
    resolve: Resolve | None = None

    def items(self) -> Iterator[Message | Event]:
        """The items of all steps."""
        for _, item in self.entries():
            yield item

    def entries(self) -> Iterator[tuple[bool, Message | Event]]:
        """Each item, and whether its step was copied from the trajectory before."""
        if "steps" not in self.members:
            return
        span = self.members["steps"]
        for piece in json_file.named_elements(
            self.file, span, ("steps",), self.warnings
        ):
            record = piece.span.record
            if piece.value is BROKEN:
                yield False, Event("unreadable", record)
                continue
            try:
                step = AtifStep(piece.value, piece.at)
                found = list(step.messages())
            except Invalid as error:
                self.warnings.append(json_file.warning(error, piece.at))
                yield False, Event("unreadable", record)
                continue
            for message in found:
                parts = resolve_parts(message.parts, self._resolve)
                yield step.is_copied, replace(message, parts=parts, records=(record,))
            if not found:
                event = Event(f"step/{step.source}", record, step.created_at)
                yield step.is_copied, event

    def _resolve(self, part: Image | File) -> Image | File:
        """A picture or recording with its bytes; a warning if its file is missing."""
        found = self.resolve(part) if self.resolve else part
        if found.data is None and "://" not in (found.url or ""):
            words = f"{found.url} did not come with this file. Import its folder, or an archive."
            self.warnings.append(Warning("media_missing", words))
        return found

    def get(self, name: str) -> Any:
        """A member of the trajectory beside its steps; None if there is none."""
        return json_file.get(self.file, self.members, name)

    def calls_of_subagents(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Each reference to a sub-agent, with the id of the call that started it (or empty)."""
        if "steps" not in self.members:
            return
        span = self.members["steps"]
        for piece in json_file.named_elements(self.file, span, ("steps",), []):
            observation = fields.mapping(piece.value, "observation")
            for result in fields.items(observation, "results"):
                held = fields.mapping(result).get("subagent_trajectory_ref")
                for ref in held if isinstance(held, list) else [held]:
                    if isinstance(ref, dict):
                        yield fields.text(result, "source_call_id"), ref


def resolve_parts(parts: tuple[Part, ...], resolve: Resolve) -> tuple[Part, ...]:
    """The parts with their pictures and recordings resolved."""

    def found(part: Part) -> Part:
        if isinstance(part, Image | File):
            return resolve(part)
        if isinstance(part, ToolResult):
            content = resolve_parts(part.content, resolve)
            return replace(part, content=content)  # type: ignore[arg-type]  # kinds are kept
        return part

    return tuple(found(part) for part in parts)


def open_steps(file: BinaryIO, span: ByteSpan, resolve: Resolve | None = None) -> Steps:
    """The trajectory in the document at a place."""
    warnings: list[Warning] = []
    members = json_file.places(file, span, warnings)
    return Steps(file, span, members, resolve, given=warnings)


def identity(steps: Steps, name: str) -> tuple[str, Parent | None]:
    """The id of a trajectory, and its parent if the file continues another.

    The id is that of its session, which sub-agents may share, or its own.
    """
    said = {name: steps.get(name) for name in ("session_id", "trajectory_id")}
    own = fields.word(said, *said, limit=200)
    if match := CONTINUED.search(PurePath(name).name):
        number = int(match[1][:9])
    else:
        extra = fields.mapping(steps.get("agent"), "extra")
        number = fields.count(extra, "continuation_index")
    if not own or not number:
        return own, None
    before = f"{own}/cont-{number - 1}" if number > 1 else own
    parent = Parent(external_id=before, relation=Relation.CONTINUATION)
    return f"{own}/cont-{number}", parent


def subagent_of(external_id: str, call_id: str) -> Parent | None:
    """The parent of a sub-agent's trajectory; None if the parent has no id."""
    if not external_id:
        return None
    return Parent(
        external_id=external_id, relation=Relation.SUBAGENT, call_id=call_id or None
    )


def embedded(steps: Steps, external_id: str) -> Iterator[Transcript]:
    """The embedded trajectories of sub-agents, recursively."""
    if "subagent_trajectories" not in steps.members:
        return
    # Map of the id of each referenced sub-agent to the call that started it.
    calls = {
        id_: call_id
        for call_id, ref in steps.calls_of_subagents()
        for name in ("session_id", "trajectory_id")
        if (id_ := fields.word(ref, name, limit=200))
    }
    span = steps.members["subagent_trajectories"]
    for child in json_file.children(steps.file, span.start, steps.given):
        inner = open_steps(steps.file, child.span, steps.resolve)
        said = {name: inner.get(name) for name in ("trajectory_id", "session_id")}
        names = [fields.word(said, name, limit=200) for name in said]
        inner_id = fields.first(names) or child.key
        own = f"{external_id}/{inner_id}" if external_id else ""
        call_id = fields.first(calls.get(name, "") for name in names if name)
        if found := transcript(inner, own, subagent_of(external_id, call_id)):
            yield found
        yield from embedded(inner, own)


def transcript(
    steps: Steps, external_id: str, parent: Parent | None = None
) -> Transcript | None:
    """The conversation of a trajectory; None if it holds no message."""
    opening = first_messages(steps)
    if not opening:
        return None
    agent = steps.get("agent")
    title = fields.text(fields.mapping(steps.get("extra")), "title")
    models = (message.model for message in opening if message.model)
    return Transcript(
        format=NAME,
        title=fields.one_line(title) or title_of(opening) or fields.text(agent, "name"),
        items=steps,
        external_id=external_id or None,
        model=fields.word(agent, "model_name") or next(models, ""),
        parent=parent,
        warnings=steps.warnings,
    )
