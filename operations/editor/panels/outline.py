"""The outline: the groups of the thread and the operations in them.

The template `operations/editor/frame/outline.html` documents the contract.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from operations.domain.thread.node import FoldNode
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, entry_key, original_index
from operations.domain.tree.status import Status
from operations.editor.rows.look import Look, derived
from operations.editor.rows.minimap import group_starts
from operations.editor.rows.operation import FOLDS, OperationHeading
from operations.editor.rows.together import (
    PartOfBundle,
    bundle_name,
    bundle_word,
    part_of,
)
from operations.messages.names import name_of
from operations.messages.reader import MessageReader
from threads.domain.message import Role
from threads.rendering import summary
from threads.rendering.fragments import Fragments

FIRST_GROUPS, LAST_GROUPS = 50, 150
"""If there are more groups, only these are listed; most work happens at the end of a session."""
MAX_OPERATIONS = 200
"""If there are more operations, only the newest are listed."""
MAX_ONE_BY_ONE = 3
"""If a bundle made more folds than this in one group, one entry stands for all of them."""
TITLE_LENGTH = 120
_titles = Fragments[str](8 * 1024 * 1024)


@dataclass(slots=True)
class OutlineOp:
    """An operation in the outline, with the operations inside its fold."""

    word: str
    name: str
    range: str
    key: Key
    waits: str = ""
    """`proposed` or `staged` if it waits, otherwise empty."""
    children: "list[OutlineOp]" = field(default_factory=list)


@dataclass(slots=True)
class Group:
    """A group, titled by the first words of its first message."""

    key: Key
    label: str
    title: str
    operations: list[OutlineOp]


@dataclass(slots=True)
class Outline:
    """See `outline.html`. After the first `FIRST_GROUPS`, `more` groups are not listed."""

    count: int
    groups: list[Group]
    more: int
    last_before: Key
    """The group after which groups are left out; empty if all are listed."""
    has_older: bool
    """Whether there are older operations, which are not listed."""


def outline_of(look: Look) -> Outline:
    """The outline of a thread, computed once and kept, to compare it with the next one."""
    return derived(look.thread, "outline", lambda: _outline(look))


def _outline(look: Look) -> Outline:
    starts = group_starts(look)
    listed, last_before = starts, ""
    if len(starts) > FIRST_GROUPS + LAST_GROUPS:
        listed = [*starts[:FIRST_GROUPS], *starts[-LAST_GROUPS:]]
        last_before = f"m{starts[FIRST_GROUPS - 1]}"
    titles = _title(look, [f"m{index}" for index in listed])
    lines = _lines_of(look.thread)
    inside = _operations(look, lines[-MAX_OPERATIONS:])
    has_older = len(lines) > MAX_OPERATIONS
    groups = []
    for index in listed:
        key = f"m{index}"
        group = look.thread.leaves[index].group
        groups.append(
            Group(key, name_of(look.thread, key), titles[key], inside.get(group, []))
        )
    more = len(starts) - len(listed)
    return Outline(len(starts), groups, more, last_before, has_older)


def changed_groups(old: Outline, new: Outline) -> list[Group] | None:
    """The groups that changed; None if the list itself changed."""
    if [group.key for group in old.groups] != [group.key for group in new.groups]:
        return None
    if (old.more, old.has_older) != (new.more, new.has_older):
        return None
    pairs = zip(old.groups, new.groups, strict=True)
    return [now for was, now in pairs if now != was]


def _title(look: Look, keys: Sequence[Key]) -> dict[Key, str]:
    """The first words of each message, as it reads in the thread."""
    marks = {key: (look.source, key, look.thread.spans(key)) for key in keys}
    kept = dict(zip(keys, _titles.get(marks.values()), strict=True))
    missing = [key for key, title in kept.items() if title is None]
    if missing:
        words = MessageReader(look.session, look.thread).effective(missing)
        for key in missing:
            said = words.get(key)
            text = summary(Role(said.role), said.parts)[:TITLE_LENGTH] if said else ""
            kept[key] = text or (said.role if said else "").capitalize()
            _titles.keep(marks[key], kept[key] or "")
    return {key: title or "" for key, title in kept.items()}


def _lines_of(thread: Thread) -> list[list[int]]:
    """The operations in the outline, grouped by the entry they share."""
    proposed_ones = (
        number
        for number in thread.marked_edits
        if thread.status(number) is Status.PROPOSED
    )
    return _lines(thread, sorted({*thread.structural_edits, *proposed_ones}))


def _operations(
    look: Look, lines: Sequence[Sequence[int]]
) -> dict[int, list[OutlineOp]]:
    """Map of group to its operations, with the operations inside a fold below it."""
    thread = look.thread
    known: dict[Key, OutlineOp] = {}
    listed: list[OperationHeading] = []
    for numbers in lines:
        op = look.operations.in_outline(numbers[0])
        if not _is_first(part := part_of(look, op.key)):
            continue
        entry = _entry(op, part) if len(numbers) == 1 else _together(look, op, numbers)
        known |= dict.fromkeys(map(entry_key, numbers), entry)
        listed.append(op)
    leaves = thread.leaves
    inside: dict[int, list[OutlineOp]] = defaultdict(list)
    for op in listed:
        entry = known[op.key]
        is_fold = op.word in FOLDS and op.status == Status.APPLIED
        holder = thread.path(op.key)[-1:] if is_fold else []
        if holder and holder[0] in known:
            known[holder[0]].children.append(entry)
            continue
        index = original_index(op.behind or op.first) or 0
        if index < len(leaves):
            inside[leaves[index].group].append(entry)
    first_of = {op.key: original_index(op.first) or 0 for op in listed}
    for entries in (*inside.values(), *(known[op.key].children for op in listed)):
        entries.sort(key=lambda one: first_of[one.key])
    return inside


def _lines(thread: Thread, numbers: Sequence[int]) -> list[list[int]]:
    """Group the operations by the entry they share, newest last.

    Many folds that a bundle made in one group share an entry, in thread order; otherwise a prune
    run would make hundreds of entries.
    """
    alike: dict[tuple[object, ...], list[tuple[int, int]]] = defaultdict(list)
    lines: list[list[int]] = []
    for number in numbers:
        fold = _fold_of_bundle(thread, number)
        if fold is None or fold.first is None:
            lines.append([number])
            continue
        group = thread.leaves[fold.first].group
        around = thread.path(fold.key)[-1:]
        place = thread.log.at(number).bundle, group, *around
        alike[place].append((fold.first, number))
    for placed in alike.values():
        those = [number for _, number in sorted(placed)]
        lines += [those] if len(those) > MAX_ONE_BY_ONE else [[one] for one in those]
    return sorted(lines, key=max)


def _fold_of_bundle(thread: Thread, number: int) -> FoldNode | None:
    """The fold of an operation that belongs to a bundle and applies; None for any other."""
    recorded = thread.log.edits[number]
    if recorded.entry.bundle is None or recorded.edit.kind not in FOLDS:
        return None
    if thread.status(number) is not Status.APPLIED:
        return None
    node = thread.node(entry_key(number))
    return node if isinstance(node, FoldNode) else None


def _together(look: Look, first: OperationHeading, numbers: Sequence[int]) -> OutlineOp:
    """The shared entry of several operations; it links to the first of them."""
    title = look.operations.history.title(numbers[0])
    name = bundle_name(look.thread, title, numbers)
    bundle = look.thread.log.at(numbers[0]).bundle
    word = bundle_word(look.thread, bundle, first.word) if bundle else first.word
    return OutlineOp(word, name, f"{len(numbers):,} operations", first.key)


def _is_first(part: PartOfBundle | None) -> bool:
    """Whether an operation is listed; of proposals that are decided on together, only the first."""
    return part is None or part.place == 1


def _entry(op: OperationHeading, part: PartOfBundle | None) -> OutlineOp:
    """The entry of an operation, or of the proposed bundle that it represents."""
    waits = op.status == Status.PROPOSED
    word, name, place = op.word, op.verb.capitalize(), op.place
    if part is not None:
        word, name, place = part.word, part.name, f"{part.count:,} proposed"
    return OutlineOp(
        word,
        name,
        place,
        op.key,
        ("staged" if op.staged else "proposed") if waits else "",
    )
