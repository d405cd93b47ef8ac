"""What exports of chat services have in common: conversations that branch, in well-known files.

They differ in how a conversation's messages are found and read, so that each is an
`ExportFormat`, a row of a table. What they have in common is read here: the objects of a file,
the branches of each, the other files of the export's folder.
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
from threads.domain.formats.kit.graph.branches import branches, left_over
from threads.domain.formats.kit.items import Item, Opener, items_in, opened
from threads.domain.formats.kit.transcripts import at_least_one, warn_first
from threads.domain.formats.sample import HEAD, Sample
from threads.domain.transcript import Transcript, Warning

FILES = re.compile(r"conversations(?:-\d+)?\.json")
"""How the files of conversations are named: large accounts get several."""
Nodes = Sequence[int]
"""Messages of a conversation by their places in it, on the way to one of its leaves."""


class ConversationTree(NamedTuple):
    """A conversation before it is read: what names it, and its messages as a tree."""

    id: str
    title: str
    model: str
    ids: Sequence[str]
    parents: Sequence[int]
    """Each message's parent, or -1."""
    leaf: int
    """The message that the conversation ends with; other leaves end branches."""
    spoken: Callable[[Nodes], Sequence[object]]
    """The messages on a branch, by whatever tells them apart."""
    read: Callable[[Nodes, Nodes, BinaryIO, list[Warning]], Iterator[Item]]
    """The items of a branch; what lies on none is given behind it, as events."""


Index = Callable[
    [BinaryIO, ByteSpan, dict[str, Any], Any, list[Warning]], ConversationTree | None
]
"""Finds the conversation of an object, whose place and value it is given; None where it says
nothing. What lies beside the file is as `ExportFormat.beside` gives it."""


def _nothing(_own: dict[str, Member]) -> None:
    """What conversations refer to that stand alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportFormat:
    """How one service's export holds its conversations."""

    name: str
    label: str
    score: Score
    index: Index
    untitled: str
    strategy: str
    own: re.Pattern[str] = re.compile(r"(?!)")
    """The export's other files, by their paths in it; most have none."""
    beside: Callable[[dict[str, Member]], Any] = _nothing
    """What of them the conversations refer to."""

    @property
    def format(self) -> Format:
        """The format of such files."""
        return Format(self.name, self.label, self.score, self.read, gather=self.gather)

    def read(self, file: BinaryIO, _name: str) -> list[Transcript]:
        """The conversations of conversations.json, or of one conversation saved alone."""
        return self._read(file, opened(file), "", self.beside({}))

    def gather(self, folder: Folder) -> list[Gathered]:
        """Each export of the folder, with the files that are its own.

        What can't be read is left alone, so that it is refused by its own name.
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
        return warn_first(at_least_one(found, skipped, self.label), skipped)

    def _transcripts(
        self, known: ConversationTree, opener: Opener, member: str
    ) -> Iterator[Transcript]:
        """The conversation, and its branches: regenerated answers, edited questions."""
        title = fields.one_line(known.title) or self.untitled
        found = branches(known.parents, known.leaf, known.spoken)
        for branch in found:
            items = items_in(opener, partial(known.read, branch.nodes, branch.left))
            items.given.extend(left_over(branch.beyond))
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
