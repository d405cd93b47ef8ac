"""An operation as the thread, the drawer and the dialogs print it.

The template `operations/editor/rows/operation.html` documents the contract.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, ClassVar, NamedTuple
from weakref import ref

from operations.domain.ledger.saving import hidden_in, saved_in_thread
from operations.domain.log.entry import CLIENT, EditState, RecordedEdit
from operations.domain.log.history import is_staged
from operations.domain.log.operation import (
    Amend,
    Condition,
    Edit,
    Fold,
    Insert,
    Resequence,
    Tag,
    messages_of,
    named_keys,
    spans_of,
)
from operations.domain.thread.moving import destination
from operations.domain.thread.node import FoldNode
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, entry_key, original_index
from operations.domain.tree.status import Report, Status
from operations.domain.tree.tree import longest_increasing_subsequence
from operations.log.selectors import History, LogRow
from operations.messages.names import extent_of, name_of, names_of, range_of, word_for
from threads.rendering.hidden import visible

FOLDS = frozenset({"digest", "revise", "snip", "condense"})
_NOT_PLAIN = (Status.UNMET, Status.SUSPENDED, Status.VOID, Status.CONFLICT)


@dataclass(frozen=True, slots=True)
class Author:
    """The author of an operation: a person, or an agent with a key."""

    name: str
    initials: str
    is_agent: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Op:
    """One operation: see `operation.html`. `tags` are those it gives or depends on."""

    members: ClassVar[Sequence["Op"]] = ()
    """Always empty; bundles, which appear in the same lists, have members."""

    key: Key
    name: str
    word: str
    verb: str
    """The label of its kind: `move`, `compaction`, otherwise the same as `word`."""
    status: str
    on: bool
    first: Key
    last: Key
    range: str
    where: str
    count: int
    before: int | None
    """For a fold, the tokens of what it replaces, as that would be shown."""
    after: int | None
    delta: int | None
    """Tokens that it alone adds to the thread; None if it only moves or tags, or is void."""
    author: Author
    time: datetime
    version: int
    amends: tuple[int, ...]
    reason: str
    hidden_by: str
    """The fold that it is in, or would be in if it applied."""
    tags: tuple[str, ...]
    title: str
    staged: bool
    """Whether its author has staged it, to commit it together with others."""
    goes: "MoveTarget | None" = None
    """For a waiting move, where it would put its messages; None if they would not be together."""
    by_client: bool = False
    """Whether it records what the client did to its own messages."""
    reaches: str = ""
    """When the model sees it in its current form; empty if no client sends the session."""

    @property
    def range_words(self) -> str:
        """`messages #2 to #57` or `message #58`."""
        if not self.range:
            return self.where
        many = "" if self.first == self.last else "s"
        return f"message{many} {self.range.replace('–', ' to ')}"

    @property
    def headline(self) -> str:
        """The heading of its marker: its name, or what the client did."""
        if self.by_client and self.title:
            return visible(self.title)
        return f"{self.name[:1].upper()}{self.name[1:]}"

    @property
    def note(self) -> str:
        """Its status and the reason, if it isn't plainly on or off."""
        why = f"{self.reason[:1].lower()}{self.reason[1:].rstrip('.')}"
        return f"{self.status} ({why})" if self.status in _NOT_PLAIN else ""


class MoveTarget(NamedTuple):
    """Where a move would put its nodes: after the node `behind`, or first if that is empty."""

    moved: tuple[Key, ...]
    behind: Key
    words: str
    """`after #9` or `to the top`."""


def members_of(op: Op) -> dict[str, Any]:
    return {field.name: getattr(op, field.name) for field in fields(Op)}


class Extent(NamedTuple):
    """The messages that an operation acts on: first, last, number, and the range in words."""

    first: Key
    last: Key
    messages: int
    words: str


class OperationHeading(NamedTuple):
    """What the outline shows of an operation; `place` is where it acts."""

    key: Key
    word: str
    verb: str
    status: Status | None
    staged: bool
    first: Key
    behind: Key
    """For an insert, the message that it follows, or the first original."""
    place: str


class Operations:
    """All operations of one thread, each presented on first use.

    This is cached for as long as the thread exists, so it holds only a weak reference to it; the
    caller must hold the thread.
    """

    def __init__(self, thread: Thread, history: History) -> None:
        self._thread = ref(thread)
        self.history = history
        self._known: dict[Key, Op] = {}

    @property
    def thread(self) -> Thread:
        """The thread. Raises ReferenceError once nobody holds it any more."""
        if (thread := self._thread()) is None:
            raise ReferenceError("These are operations of a thread that is gone.")
        return thread

    def __getitem__(self, key: Key) -> Op:
        """The operation with a key. Raises KeyError if it isn't an edit."""
        if key not in self._known:
            self._known[key] = self._present(key)
        return self._known[key]

    def of(self, numbers: Iterable[int]) -> list[Op]:
        return [self[entry_key(number)] for number in numbers]

    def bundle_of(self, numbers: Sequence[int]) -> str:
        """`Prune (211 operations)`: the title of the bundle that holds all these edits, with their
        number; empty if they are not in one bundle, or it has no title."""
        bundles = {self.thread.log.at(number).bundle for number in numbers}
        if len(bundles) > 1 or None in bundles:
            return ""
        title = visible(self.history.title(numbers[0]))
        return f"{title} ({len(numbers):,} operations)" if title else ""

    def amends(self, number: int) -> tuple[int, ...]:
        """The numbers of the entries that amended an operation; they identify its version."""
        return tuple(
            control.number
            for control in self.thread.log.controls(number)
            if isinstance(control.operation, Amend)
        )

    def _present(self, key: Key) -> Op:
        recorded = self.thread.log.edit(key)
        if recorded is None:
            raise KeyError(key)
        number, edit = recorded.entry.number, recorded.edit
        report = self.thread.report(number)
        extent = self._extent(report, edit)
        saved = saved_in_thread(self.thread, number)
        after = self._shown(report, edit)
        row, amends = self.history.rows[number], self.amends(number)
        inside = hidden_in(self.thread, report)
        is_void = report.status is Status.VOID
        has_no_figure = is_void or isinstance(edit, Resequence | Tag)
        return Op(
            key=key,
            name=name_of(self.thread, key),
            word=edit.kind,
            verb=word_for(recorded),
            status=report.status,
            on=recorded.state is EditState.ON,
            first=extent.first,
            last=extent.last,
            range=extent.words,
            where=self._where(edit),
            count=extent.messages,
            before=None if after is None else after + saved,
            after=after,
            delta=None if has_no_figure else -saved,
            author=author_of(row),
            time=row.created_at,
            version=1 + len(amends),
            amends=amends,
            reason=reason_of(report, self.thread),
            title=self.history.title(number),
            hidden_by=name_of(self.thread, inside) if inside else "",
            tags=edit.tags if isinstance(edit, Tag) else edit.condition.tags,
            staged=is_staged(recorded),
            goes=self._goes(recorded),
            by_client=recorded.entry.actor == CLIENT,
        )

    def in_outline(self, number: int) -> "OperationHeading":
        """An operation as the outline shows it, without the rest, as there may be hundreds."""
        recorded, first, place = self.thread.log.edits[number], "", ""
        if not isinstance(edit := recorded.edit, Insert):
            report = self.thread.report(number)
            first, _, _, place = self._extent(report, edit)
        return OperationHeading(
            key=entry_key(number),
            word=edit.kind,
            verb=word_for(recorded),
            status=self.thread.status(number),
            staged=is_staged(recorded),
            first=first,
            behind=(edit.after or "m0") if isinstance(edit, Insert) else "",
            place=self._where(edit) or place,
        )

    def _fold(self, report: Report) -> FoldNode | None:
        """The fold of an operation that applies; None for any other."""
        if report.status is not Status.APPLIED or report.kind not in FOLDS:
            return None
        node = self.thread.node(report.key)
        return node if isinstance(node, FoldNode) else None

    def _extent(self, report: Report, edit: Edit) -> Extent:
        """The messages that an edit acts on: the leaves of its fold, or those that it names."""
        thread = self.thread
        if isinstance(edit, Insert):
            return Extent("", "", len(edit.messages), "")
        if fold := self._fold(report):
            first, last = _ends([fold.first, fold.last]) or _made(edit)
            if _is_one_run(fold):
                return Extent(first, last, fold.leaves, range_of(thread, first, last))
            words = extent_of(thread, thread.leaf_keys(report.key))
            return Extent(first, last, fold.leaves, words)
        keys = named_keys(edit)
        if isinstance(edit, Resequence):
            keys = edit.moved or tuple(moved_keys(keys))
        first, last = _ends(map(original_index, keys)) or _made(edit)
        return Extent(first, last, len(keys), extent_of(thread, keys))

    def _shown(self, report: Report, edit: Edit) -> int | None:
        """The tokens of what a fold shows now; None if the edit makes no fold."""
        if fold := self._fold(report):
            return fold.tokens_after
        if isinstance(edit, Fold):
            return sum(message.tokens for message in messages_of(edit))
        return None

    def _goes(self, recorded: RecordedEdit) -> MoveTarget | None:
        edit = recorded.edit
        if not isinstance(edit, Resequence) or recorded.state is not EditState.PROPOSED:
            return None
        moved = edit.moved or moved_keys(edit.order)
        found = destination(self.thread, edit.order, moved)
        if found is None:
            return None
        words = "to the top"
        if found.after:
            words = f"after {name_of(self.thread, found.after)}"
        elif found.within:
            words = f"to the top of {name_of(self.thread, found.within)}"
        return MoveTarget(found.moved, found.after or "", words)

    def _where(self, edit: Edit) -> str:
        if isinstance(edit, Insert):
            after = name_of(self.thread, edit.after) if edit.after else ""
            return f"after {after}" if after else "at the top"
        count = len(spans_of(edit))
        return f"{count:,} match{'es' if count > 1 else ''}" if count else ""


def author_of(row: LogRow) -> Author:
    name = visible(row.actor_name)
    words = name.split()
    initials = "".join(word[0] for word in words[:2]).upper() if len(words) > 1 else ""
    return Author(
        name=name,
        initials=initials or name[:2].upper(),
        is_agent=not row.actor.startswith("user:"),
    )


def reason_of(report: Report, thread: Thread) -> str:
    """Why an operation is not plainly on, in one sentence that names what is in its way."""
    reason = visible(report.reason)  # it may contain names of tags
    if not report.operations:
        return reason
    named = names_of(thread, report.operations)
    if report.needs:
        return f"It would cut through {named}."
    return f"{reason.rstrip('.')}: {named}."


def condition_words(condition: Condition) -> str:
    """When an operation applies: `while brief and short are active`; empty if always."""
    named = [*condition.tags, *(f'objective "{one}"' for one in condition.objectives)]
    named = list(map(visible, named))
    match condition.match if named else "":
        case "all":
            return f"while {' and '.join(named)} {'is' if len(named) == 1 else 'are'} active"
        case "any":
            return f"while {' or '.join(named)} is active"
        case "none":
            return f"unless {' or '.join(named)} is active"
    return ""


def moved_keys(order: Sequence[Key]) -> list[Key]:
    """The originals in a resequence that do not keep their relative order; if none, all keys."""
    known = (original_index(key) for key in dict.fromkeys(order))
    indexes = [index for index in known if index is not None]
    still = set(longest_increasing_subsequence(indexes))
    moved = [f"m{index}" for place, index in enumerate(indexes) if place not in still]
    return moved or list(order)


def leaves_of(thread: Thread, keys: Iterable[Key]) -> list[Key]:
    """The leaves that keys of messages and folds mean; keys not in the thread are left out."""
    present = (key for key in keys if thread.holds(key))
    return list(
        dict.fromkeys(leaf for key in present for leaf in thread.leaf_keys(key))
    )


def tokens_of(thread: Thread, keys: Iterable[Key]) -> int:
    """The tokens of leaves as recorded; unknown keys count as 0."""
    total = 0
    for key in keys:
        index = original_index(key)
        if index is not None and index < thread.message_count:
            total += thread.leaves[index].tokens
        elif index is None and (made := thread.made_message(key)) is not None:
            total += made.tokens
    return total


def _made(edit: Edit) -> tuple[Key, Key]:
    """The first and the last key that an edit names, for one that names no original."""
    keys = named_keys(edit)
    return (keys[0], keys[-1]) if keys else ("", "")


def _is_one_run(fold: FoldNode) -> bool:
    """Whether a fold holds all originals between its ends, and nothing else."""
    if fold.first is None or fold.last is None:
        return False
    return fold.leaves == fold.count == fold.last - fold.first + 1


def _ends(indexes: Iterable[int | None]) -> tuple[Key, Key] | None:
    known = [index for index in indexes if index is not None]
    return (f"m{min(known)}", f"m{max(known)}") if known else None
