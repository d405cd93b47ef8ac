"""pi's sessions: JSON Lines with a header first; every other line is an entry of a tree.

Version 1 is a plain sequence. Versions 2 and 3 link entries by `id` and `parentId`, so a session
may have branches; the last entry is its current position. Documented by the tool itself
(github.com/badlogic/pi-mono, `packages/coding-agent/docs/session.md`).
"""

import re
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, BinaryIO

from threads.domain.formats.format import Format
from threads.domain.formats.io import fields, source, windows
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.io.source import ByteSpan, Line
from threads.domain.formats.kit.graph.branches import branches_left_warning
from threads.domain.formats.kit.items import Item, Items, attempt
from threads.domain.formats.kit.transcripts import require_transcripts, transcript_of
from threads.domain.formats.sample import Sample
from threads.domain.message import Message
from threads.domain.transcript import (
    Compaction,
    Event,
    Parent,
    Relation,
    Transcript,
    Warning,
)

from .pi_items import (
    agent_messages,
    agents_in,
    read_agent_message,
    read_entry,
    read_summary,
)

NAME = "pi"
LABEL = "a pi session (JSONL)"
SAID = frozenset({"message", "custom_message", "branch_summary"})
"""Types of entries that are messages to the model."""
ASIDE = SAID | {"compaction"}
"""Types of entries that change what the model sees, unless they are on no branch."""
MAX_BRANCHES = 100
"""The most branches of one file that become sessions, the latest first: reading each includes all
that it shares. The messages of other branches stay with the session as events."""
MAX_AGENTS = 1000
"""The most sub-agents of one file that become sessions."""
_SESSION = re.compile(r"([0-9a-fA-F-]{36})\.jsonl$")
"""The end of the path of the session that another was forked from."""


@dataclass(slots=True)
class EntryTree:
    """The places of a file's entries, and their parents."""

    file: BinaryIO
    header: dict[str, Any] = field(default_factory=dict)
    title: str = ""
    model: str = ""
    spans: "array[int]" = field(default_factory=lambda: array("q"))
    """Number, start and end of each line."""
    parents: "array[int]" = field(default_factory=lambda: array("q"))
    """The index of each entry's parent; -1 for none."""
    said: bytearray = field(default_factory=bytearray)
    places: dict[str, int] = field(default_factory=dict)
    agents: list[tuple[int, int]] = field(default_factory=list)
    """For each sub-agent, the place of its result, and its number in that."""
    warnings: list[Warning] = field(default_factory=list)

    def add(self, line: Line, value: Any) -> None:
        """Take the next line; without a known parent, its parent is the line before."""
        place, parent = len(self.parents), len(self.parents) - 1
        entry = fields.mapping(value)
        if "parentId" in entry:
            parent = self.places.get(str(entry["parentId"]), parent)
            if entry["parentId"] is None:
                parent = -1
        type_ = fields.text(entry, "type")
        if type_ == "session" and not self.header:
            self.header = entry
        elif id_ := fields.text(entry, "id"):
            self.places.setdefault(id_, place)
        if type_ == "session_info":
            self.title = fields.text(entry, "name") or self.title
        said = fields.word(fields.mapping(entry, "message"), "model")
        self.model = said or fields.word(entry, "modelId") or self.model
        for number in range(len(agents_in(entry))):
            self.agents.append((place, number))
        self.spans.extend((line.number, *line.span))
        self.parents.append(parent)
        self.said.append(type_ in SAID)

    def path(self, place: int) -> list[int]:
        """The entries from the root to this one."""
        found = []
        while place >= 0:
            found.append(place)
            place = self.parents[place]
        return found[::-1]

    def row(self, place: int, warnings: list[Warning]) -> Element:
        """The element of an entry; its value is `BROKEN`, with a warning, if it can't be read."""
        number, start, end = self.spans[3 * place : 3 * place + 3]
        span = ByteSpan(start, end)
        value = windows.read_again(self.file, number, span, warnings)
        return Element(value, span, number)


def read(file: BinaryIO, _name: str) -> list[Transcript]:
    """The session of a file and its branches. Raises Invalid if it holds no message."""
    tree = EntryTree(file)
    for line, value in source.records(file, tree.warnings):
        tree.add(line, value)
    main = tree.path(len(tree.parents) - 1)
    ways = list(_branches(tree, main))
    told = ways[:MAX_BRANCHES]
    branches = [(place, tree.path(leaf)) for leaf, place in told]
    held = set(main)
    aside = set(range(len(tree.parents))) - held
    aside -= {place for _, path in branches for place in path}
    session_id = fields.word(tree.header, "id") or ""
    fork = _SESSION.search(fields.text(tree.header, "parentSession"))
    origin = Parent(external_id=fork[1], relation=Relation.BRANCH) if fork else None
    transcript = partial(
        transcript_of,
        format=NAME,
        title=tree.title,
        strategy="anthropic",
        model=tree.model,
    )
    reading = Items(
        partial(_items, tree, sorted(aside | held), aside),
        given=[
            *branches_left_warning(len(ways) - len(told)),
            *_agents_left_warning(tree),
        ],
    )
    found = [transcript(reading, external_id=session_id or None, parent=origin)]
    homes = dict.fromkeys(main, session_id)
    named: dict[str, Any] = {}
    for first, path in branches:
        at = sum(tree.said[place] for place in path if place in held)
        parent = Parent(external_id=session_id, relation=Relation.BRANCH, at=at)
        row = tree.row(first, [])
        id_ = f"{session_id}/{fields.word(row.value, 'id') or f'@{row.span.start}'}"
        reading = Items(partial(_items, tree, path, set()))
        if session_id:
            named = {"external_id": id_, "parent": parent}
        for place in path:
            homes.setdefault(place, id_)
        found.append(transcript(reading, **named))
    if session_id:
        found += _agents(tree, homes)
    return require_transcripts(found, tree.warnings, LABEL)


def _agents(tree: EntryTree, homes: dict[int, str]) -> Iterator[Transcript | None]:
    """The sub-agents of the sessions; `homes` is a map of an entry's place to its session."""
    for place, number in tree.agents[:MAX_AGENTS]:
        if (home := homes.get(place)) is None:
            continue
        entry = tree.row(place, []).value
        run = agents_in(entry)[number]
        call_id = fields.text(fields.mapping(entry, "message"), "toolCallId")
        named = (fields.text(run, name) for name in ("agent", "task"))
        yield transcript_of(
            Items(partial(_agent_items, tree, place, number)),
            format=NAME,
            title=": ".join(filter(None, named)),
            strategy="anthropic",
            model=fields.word(run, "model"),
            external_id=f"{home}/agent-{call_id}-{number + 1}",
            parent=Parent(
                external_id=home, relation=Relation.SUBAGENT, call_id=call_id or None
            ),
        )


def _agent_items(
    tree: EntryTree, place: int, number: int, warnings: list[Warning]
) -> Iterator[Item]:
    row = tree.row(place, warnings)
    for run in agents_in(row.value)[number : number + 1]:
        for given in agent_messages(run):
            yield from attempt(partial(read_agent_message, given, row), row, warnings)


def _agents_left_warning(tree: EntryTree) -> list[Warning]:
    left = len(tree.agents) - MAX_AGENTS
    if left <= 0:
        return []
    words = (
        f"Only the first {MAX_AGENTS:,} sub-agents became sessions: {left:,} more are only in the"
        " records of their results."
    )
    return [Warning("agents_left", words)]


def _branches(tree: EntryTree, main: list[int]) -> Iterator[tuple[int, int]]:
    """The leaves off the main path with messages of their own, and their first own entry.

    The latest come first.
    """
    seen = bytearray(len(tree.parents))
    for place in main:
        seen[place] = 1
    inner = set(tree.parents)
    for leaf in range(len(seen) - 2, -1, -1):  # the last entry is current
        if leaf in inner:
            continue
        own = []
        place = leaf
        while place >= 0 and not seen[place]:
            seen[place] = 2
            own.append(place)
            place = tree.parents[place]
        if any(tree.said[one] for one in own):
            yield leaf, own[-1]


def _items(
    tree: EntryTree, places: list[int], aside: set[int], warnings: list[Warning]
) -> Iterator[Item]:
    """The items of these entries, in the order of the file, since entries are only appended.

    Entries in `aside`, which are on no path that became a session, don't become messages.
    """
    given: list[int] = []
    for place in places:
        row = tree.row(place, warnings)
        made: Iterable[Item]
        kind = fields.text(row.value, "type")
        if place in aside and kind in ASIDE:
            made = [Event(f"aside/{kind}", row.record)]
        elif kind == "compaction":
            made = [_compaction(tree, row, given)]
        else:
            made = attempt(partial(read_entry, row), row, warnings)
        for item in made:
            if isinstance(item, Message):
                given.append(place)
            yield item


def _compaction(tree: EntryTree, row: Element, given: list[int]) -> Item:
    """The summary in place of the messages before the first one that was kept.

    If that entry is missing, none was kept. Version 1 names it by its index in the file.
    """
    kept = tree.places.get(fields.text(row.value, "firstKeptEntryId"))
    if kept is None and "firstKeptEntryIndex" in row.value:
        kept = fields.count(row.value, "firstKeptEntryIndex")
    hidden = tuple(
        ordinal for ordinal, place in enumerate(given) if kept is None or place < kept
    )
    message = read_summary(row)
    if message is None or not hidden:
        return message or Event("compaction", row.record)
    return Compaction(
        replaces=hidden,
        messages=(message,),
        record=row.record,
        created_at=message.created_at,
    )


def _score(sample: Sample) -> float:
    first = fields.mapping(next(iter(sample.records), None))
    if first.get("type") == "session" and ("cwd" in first or "version" in first):
        return 0.95
    spoken = [row for row in sample.records if row.get("type") == "message"]
    roles = {fields.text(fields.mapping(row, "message"), "role") for row in spoken}
    in_tree = any("parentId" in row for row in spoken)
    return 0.7 if in_tree and "toolResult" in roles else 0


FORMAT = Format(NAME, LABEL, _score, read)
