"""The conversations of one Codex rollout: its thread, and the branches that were rolled back."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

from threads.domain.formats.io import fields
from threads.domain.formats.kit.items import Item, Opener
from threads.domain.message import Message, Role
from threads.domain.transcript import Event, Parent, Relation, Transcript, Warning

from .index import RolloutIndex
from .reading import RolloutReading
from .record import CONTEXT
from .rollbacks import Range, Rollback

NAME = "codex"


@dataclass(frozen=True, slots=True)
class RolloutItems:
    """What a rollout holds, in the order of its lines, read anew by each iteration.

    A branch gives the messages again that it shares with its parent, and no events of theirs.
    """

    open: Opener
    rolled_back: tuple[Range, ...]
    branch: Rollback | None = None
    warnings: list[Warning] = field(default_factory=list)

    def __iter__(self) -> Iterator[Item]:
        self.warnings.clear()
        with self.open() as file:
            if self.branch is None:
                yield from RolloutReading(file, self.warnings, self.rolled_back)
                return
            for item in RolloutReading(file, [], self.branch.left, self.branch.end):
                if not isinstance(item, Event) or _offset(item) >= self.branch.offset:
                    yield item


def has_words(items: Iterable[Item]) -> bool:
    """Whether anybody says anything beside the instructions."""
    return any(isinstance(i, Message) and i.role is not Role.SYSTEM for i in items)


def transcripts(
    index: RolloutIndex, external_id: str, opener: Opener
) -> list[Transcript]:
    """The conversations of a rollout that was indexed; the thread comes first."""
    thread = RolloutItems(opener, index.rolled_back)
    found = [
        Transcript(
            format=NAME,
            title=index.title or f"Codex session {external_id[:8]}".rstrip(),
            items=thread,
            external_id=external_id or None,
            strategy="openai",
            model=index.model,
            parent=index.parent,
            warnings=thread.warnings,
        )
    ]
    if external_id:
        found += (_branch(found[0], index, one, opener) for one in index.branches)
    return found


def _branch(
    thread: Transcript, index: RolloutIndex, branch: Rollback, opener: Opener
) -> Transcript:
    """A branch of the thread, or of the later branch that it was left from."""
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
    words = (
        message.text for message in islice(messages, shared, None) if _is_typed(message)
    )
    return replace(
        thread,
        title=fields.one_line(fields.first(words)) or thread.title,
        items=session,
        external_id=f"{thread.external_id}/branch-{branch.end}",
        parent=Parent(external_id=left, relation=Relation.BRANCH, at=shared),
        warnings=session.warnings,
    )


def _is_typed(message: Message) -> bool:
    return message.role is Role.USER and not CONTEXT.match(message.text)


def _offset(event: Event) -> int:
    return int(event.record.removeprefix("bytes:").partition("-")[0])
