"""What exports of chat services have in common: branching conversations, in well-known files.

They differ in how a conversation's messages are found and read, so each is an `ExportFormat` that
declares this. What they have in common is here: reading the objects of a file, the branches of
each, and the other files in the export's folder.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, BinaryIO, NamedTuple

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.format import Format, Score
from threads.domain.formats.io import fields, json_file
from threads.domain.formats.io.folder import Folder, Gathered, Member
from threads.domain.formats.io.source import ByteSpan
from threads.domain.formats.kit.graph.branches import branches, branches_left_warning
from threads.domain.formats.kit.items import Item, Opener, already_open, items_in
from threads.domain.formats.kit.transcripts import (
    require_transcripts,
    with_skipped_warnings,
)
from threads.domain.formats.sample import HEAD, Sample
from threads.domain.transcript import Transcript, Warning

FILES = re.compile(r"conversations(?:-\d+)?\.json")
"""Names of the files with conversations; large accounts get several."""
Nodes = Sequence[int]
"""Indexes of a conversation's messages, on the path to one of its leaves."""


class ConversationTree(NamedTuple):
    """A conversation before it is read: its id and title, and its messages as a tree."""

    id: str
    title: str
    model: str
    ids: Sequence[str]
    parents: Sequence[int]
    """The index of each message's parent, or -1."""
    leaf: int
    """The message that the conversation ends with; other leaves end branches."""
    spoken: Callable[[Nodes], Sequence[object]]
    """Returns the messages on a branch, as any values that identify them."""
    read: Callable[[Nodes, Nodes, BinaryIO, list[Warning]], Iterator[Item]]
    """Reads the items of a branch, followed by events for the messages on no branch."""


Index = Callable[
    [BinaryIO, ByteSpan, dict[str, Any], Any, list[Warning]], ConversationTree | None
]
"""Finds the conversation of an object, given its place and value; None if it says nothing. The
fourth argument is the result of `ExportFormat.beside`."""


def _nothing(_own: dict[str, Member]) -> None:
    """The default for `ExportFormat.beside`: conversations refer to no other files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportFormat:
    """How one service's export holds conversations."""

    name: str
    label: str
    score: Score
    index: Index
    untitled: str
    strategy: str
    own: re.Pattern[str] = re.compile(r"(?!)")
    """Matches the paths of the export's other files; most exports have none."""
    beside: Callable[[dict[str, Member]], Any] = _nothing
    """Makes whatever the conversations refer to from these files."""

    @property
    def format(self) -> Format:
        """This as an entry for the detector."""
        return Format(self.name, self.label, self.score, self.read, gather=self.gather)

    def read(self, file: BinaryIO, _name: str) -> list[Transcript]:
        """The conversations of conversations.json, or a single conversation saved by itself."""
        return self._read(file, already_open(file), "", self.beside({}))

    def gather(self, folder: Folder) -> list[Gathered]:
        """Each export in the folder, with its own other files.

        An unreadable export is skipped here, so that it is refused under its own name.
        """
        places: dict[str, list[Member]] = {}
        for name, member in folder.members.items():
            place, slash, last = name.rpartition("/")
            if FILES.fullmatch(last) and self._is_known(member):
                places.setdefault(place + slash, []).append(member)
        found: list[Gathered] = []
        for root, members in places.items():
            inside = {
                name.removeprefix(root): member
                for name, member in folder.members.items()
                if name.startswith(root)
            }
            own = {name: inside[name] for name in inside if self.own.fullmatch(name)}
            beside, made = self.beside(own), list[Transcript]()
            try:
                for member in members:
                    with member.open() as file:
                        made += self._read(file, member.open, member.name, beside)
            except Invalid:
                continue
            names = frozenset(member.name for member in (*members, *own.values()))
            found.append(Gathered(made, names))
        return found

    def _is_known(self, member: Member) -> bool:
        with member.open() as file:
            return self.score(Sample(file.read(HEAD), member.name)) > 0

    def _read(
        self, file: BinaryIO, opener: Opener, member: str, beside: Any
    ) -> list[Transcript]:
        skipped: list[Warning] = []
        found: list[Transcript] = []
        for span in json_file.held_objects(file, "conversations", skipped):
            held = json_file.in_memory(file, span)
            said = fields.mapping(json_file.known_value(held, span, skipped))
            if known := self.index(held, span, said, beside, skipped):
                found += self._transcripts(known, opener, member)
        return with_skipped_warnings(
            require_transcripts(found, skipped, self.label), skipped
        )

    def _transcripts(
        self, known: ConversationTree, opener: Opener, member: str
    ) -> Iterator[Transcript]:
        """The conversation, and its branches: regenerated answers and edited questions."""
        title = fields.one_line(known.title) or self.untitled
        found = branches(known.parents, known.leaf, known.spoken)
        for branch in found:
            items = items_in(opener, partial(known.read, branch.nodes, branch.left))
            items.given.extend(branches_left_warning(branch.beyond))
            yield Transcript(
                format=self.name,
                title=branch.title(title),
                items=items,
                external_id=branch.external_id(known.id, known.ids),
                strategy=self.strategy,
                model=known.model,
                member=member,
                parent=branch.parent(known.id, known.ids, found),
                warnings=items.warnings,
            )
