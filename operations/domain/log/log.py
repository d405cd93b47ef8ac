"""The folded log: the state of every edit, and what else the controls set.

A log only grows. Folding costs in proportion to what the entries name. `Log.extended` folds
further entries onto a log without folding the earlier ones again, and leaves the original log
unchanged.
"""

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from functools import cached_property
from operator import itemgetter

from operations.domain.tree.key import Key, entry_number, original_index
from operations.domain.tree.map import Map

from . import operation as op
from .entry import (
    CLIENT,
    ControlState,
    EditCounts,
    EditState,
    Entry,
    RecordedEdit,
    apply_control,
    controlled_entries,
    initial_control_state,
    initial_edit,
)
from .mask import Masks
from .numbered import Chain, Numbered, NumberedSequence, in_order, newest_first


class Log:
    """A folded log. It is immutable; versions share what they can."""

    def __init__(self) -> None:
        """The empty log."""
        self.active_tags: frozenset[str] = frozenset()
        self.purged: frozenset[Key] = frozenset()
        self._entries = Map[int, Entry]()
        self._edits = Map[int, RecordedEdit]()
        self._control_states = Map[int, ControlState]()
        """The state of each edit that was controlled."""
        self._controls = Map[int, Chain[Entry]]()
        self._undone_by = Map[int, Chain[int]]()
        self._activations: Chain[Entry] | None = None
        self._by_actor = Map[str, Chain[Entry]]()
        self._by_bundle = Map[str, Chain[Entry]]()
        self._conditioned = Map[int, None]()
        self._redactions = Map[int, None]()
        self._staged = Map[int, None]()
        self._first_by = Map[str, int]()
        """The number of each actor's first edit."""
        self._counts = Map[tuple[str, EditState], int]()
        """How many edits of each actor are in each state."""
        self._naming = Map[Key, Chain[int]]()
        """The edits that name a message or fold made by an operation, or text in a message."""

    @property
    def head(self) -> int:
        """The number of the last entry; 0 in an empty log."""
        return len(self._entries)

    @property
    def entries(self) -> Sequence[Entry]:
        """The entries in their order."""
        return NumberedSequence(self._entries)

    @cached_property
    def edits(self) -> Numbered[RecordedEdit]:
        """The edits by their numbers, in the order of the log."""
        return Numbered(self._edits, self.head)

    @property
    def conditional_edits(self) -> Iterable[int]:
        """The numbers of the edits that have a condition, or had one."""
        return self._conditioned

    @property
    def staged(self) -> list[int]:
        """The numbers of the edits that were staged, in order, whatever became of them."""
        return sorted(self._staged)

    def edit(self, key: Key) -> RecordedEdit | None:
        """The edit with a key `o<number>`."""
        number = entry_number(key)
        return None if number is None else self._edits.get(number)

    def entries_by(self, actor: str) -> Iterator[Entry]:
        """The entries of an actor, the newest first."""
        return newest_first(self._by_actor.get(actor))

    @property
    def counts_by_actor(self) -> dict[str, EditCounts]:
        """How many edits of each actor are on, off and proposed, in order of their first edits."""
        return {
            actor: EditCounts(
                *(
                    self._counts.get((actor, state), 0)
                    for state in (EditState.ON, EditState.OFF, EditState.PROPOSED)
                )
            )
            for actor, _ in sorted(self._first_by.items(), key=itemgetter(1))
        }

    @property
    def has_redactions(self) -> bool:
        """Whether a redaction was ever recorded."""
        return bool(self._redactions)

    def newest_by_actor(self) -> dict[str, Entry]:
        """The last entry of each actor."""
        return {actor: chain.newest for actor, chain in self._by_actor.items()}

    def bundle(self, bundle: str) -> list[Entry]:
        """The entries of a bundle, in order."""
        return in_order(self._by_bundle.get(bundle))

    def edits_naming(self, keys: Iterable[Key]) -> list[int]:
        """The edits that name, by these keys, what operations made or text in messages."""
        chains = (self._naming.get(key) for key in keys)
        return sorted({number for chain in chains for number in newest_first(chain)})

    def controls(self, number: int) -> list[Entry]:
        """The entries in force that switch, review, amend or undo an edit, in order."""
        undos = [self.at(undo) for undo in newest_first(self._undone_by.get(number))]
        controls = [
            control
            for control in newest_first(self._controls.get(number))
            if not self.is_undone(control.number)
        ]
        return sorted([*controls, *undos], key=lambda control: control.number)

    @cached_property
    def masks(self) -> Masks:
        """The masks of the redactions that are on."""
        redactions = ((number, self._edits[number]) for number in self._redactions)
        standing = (
            (number, recorded.edit)
            for number, recorded in sorted(redactions, key=itemgetter(0))
            if recorded.state is EditState.ON
        )
        return Masks(standing, self.wordings)

    @property
    def client_edits(self) -> list[RecordedEdit]:
        """The edits that a client made to its own messages, in order.

        They act before all others.
        """
        entries = in_order(self._by_actor.get(CLIENT))
        found = (self._edits.get(entry.number) for entry in entries)
        return [recorded for recorded in found if recorded is not None]

    def last_change(self, number: int) -> int:
        """The number of the newest entry that concerns an edit: its own, or that of a control."""
        control, undo = self._controls.get(number), self._undone_by.get(number)
        return max(
            number,
            control.newest.number if control else 0,
            undo.newest if undo else 0,
        )

    def wordings(self, number: int) -> Iterator[op.Edit]:
        """All versions of an edit's words, starting with those it was recorded with."""
        if number in self._edits:
            yield initial_edit(self._edits[number].entry)
        for control in in_order(self._controls.get(number)):
            if isinstance(control.operation, op.Amend):
                yield control.operation.edit

    def is_undone(self, number: int) -> bool:
        """Whether an entry is taken back by an undo in force."""
        return self._undone_by.get(number) is not None

    def still_undone(self, undo: Entry) -> tuple[int, ...]:
        """The numbers of the entries that an undo still takes back."""
        numbers = undo.operation.entries if isinstance(undo.operation, op.Undo) else ()
        return tuple(
            number
            for number in numbers
            if undo.number in newest_first(self._undone_by.get(number))
        )

    def edits_changed_since(self, head: int) -> set[int]:
        """The edits whose state or words may have changed since `head` was the last entry."""
        found: set[int] = set()
        for number in range(head + 1, self.head + 1):
            operation = self.at(number).operation
            found.update(controlled_entries(operation))
            if isinstance(operation, op.Undo | op.Redo):
                for entry in operation.entries:
                    found.add(entry)
                    if entry in self._entries:
                        found.update(controlled_entries(self.at(entry).operation))
        return {number for number in found if number in self._edits}

    def extended(self, entries: Iterable[Entry]) -> "Log":
        """The log with further entries appended."""
        log = copy(self)
        log.__dict__.pop("masks", None)
        folding = _Folding(log)
        for entry in entries:
            folding.add(entry)
        folding.finish()
        log.__dict__.pop("edits", None)
        if "masks" in self.__dict__ and not folding.masks_otherwise:
            log.__dict__["masks"] = self.masks
        return log

    def at(self, number: int) -> Entry:
        """The entry with a number."""
        return self._entries[number]


class _Folding:
    """Folds entries onto a new log that isn't shared yet."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._entries = log._entries.mutate()
        self._edits = log._edits.mutate()
        self._control_states = log._control_states.mutate()
        self._controls = log._controls.mutate()
        self._undone_by = log._undone_by.mutate()
        self._by_actor = log._by_actor.mutate()
        self._by_bundle = log._by_bundle.mutate()
        self._naming = log._naming.mutate()
        self._conditioned = log._conditioned.mutate()
        self._redactions = log._redactions.mutate()
        self._staged = log._staged.mutate()
        self._first_by = log._first_by.mutate()
        self._counts = log._counts.mutate()
        self.masks_otherwise = False
        """Whether the masks may have changed."""

    def finish(self) -> None:
        log = self._log
        log._entries = self._entries.finish()
        log._edits = self._edits.finish()
        log._control_states = self._control_states.finish()
        log._controls = self._controls.finish()
        log._undone_by = self._undone_by.finish()
        log._by_actor = self._by_actor.finish()
        log._by_bundle = self._by_bundle.finish()
        log._naming = self._naming.finish()
        log._conditioned = self._conditioned.finish()
        log._redactions = self._redactions.finish()
        log._staged = self._staged.finish()
        log._first_by = self._first_by.finish()
        log._counts = self._counts.finish()

    def add(self, entry: Entry) -> None:
        number = entry.number
        self._entries[number] = entry
        self._by_actor[entry.actor] = Chain(entry, self._by_actor.get(entry.actor))
        if entry.bundle is not None:
            chain = self._by_bundle.get(entry.bundle)
            self._by_bundle[entry.bundle] = Chain(entry, chain)
        match entry.operation:
            case op.Toggle() | op.Revert() | op.Accept() | op.Reject() | op.Amend():
                self._control(entry)
            case op.ActivateTags():
                self._log._activations = Chain(entry, self._log._activations)
                self._activate()
            case op.Purge(targets=targets):
                self._log.purged |= set(targets)
            case op.Undo(entries=numbers):
                self._undo(entry, numbers)
            case op.Redo(entries=numbers):
                for undone in numbers:
                    if undos := self._undone_by.get(undone):
                        self._set_undone(undone, undos.rest)
                        self._refold(undone)
            case edit:
                self._edit(entry, edit)

    def _edit(self, entry: Entry, edit: op.Edit) -> None:
        number = entry.number
        state = EditState.PROPOSED if entry.proposed else EditState.ON
        self._edits[number] = RecordedEdit(entry, state, edit)
        self._count(entry.actor, state, 1)
        if entry.actor not in self._first_by:
            self._first_by[entry.actor] = number
        if entry.staged:
            self._staged[number] = None
        if edit.condition != op.ALWAYS:
            self._conditioned[number] = None
        if isinstance(edit, op.Redact):
            self._redactions[number] = None
            self.masks_otherwise = True
        by_text = bool(op.spans_of(edit))
        for key in op.named_keys(edit):
            if by_text or original_index(key) is None:
                self._naming[key] = Chain(number, self._naming.get(key))

    def _control(self, entry: Entry) -> None:
        """Apply a control, as the newest entry, to the edits that it names."""
        operation = entry.operation
        for number in controlled_entries(operation):
            recorded = self._edits.get(number)
            if recorded is None:
                continue
            self._controls[number] = Chain(entry, self._controls.get(number))
            self._set(
                number,
                *apply_control(operation, self._control_state(number), recorded.edit),
            )
            if isinstance(operation, op.Amend):
                self.masks_otherwise = True
                if operation.edit.condition != op.ALWAYS:
                    self._conditioned[number] = None

    def _undo(self, entry: Entry, numbers: Iterable[int]) -> None:
        for number in numbers:
            if 0 < number < entry.number and not isinstance(
                self._entries[number].operation, op.Undo | op.Redo | op.Purge
            ):
                chain = self._undone_by.get(number)
                self._set_undone(number, Chain(entry.number, chain))
                self._refold(number)

    def _set_undone(self, number: int, chain: Chain[int] | None) -> None:
        if chain is None:
            self._undone_by.pop(number)
        else:
            self._undone_by[number] = chain

    def _refold(self, number: int) -> None:
        """Fold the edits that an entry acts on again, and the entry itself if it is an edit."""
        operation = self._entries[number].operation
        if isinstance(operation, op.ActivateTags):
            self._activate()
        for edited in (number, *controlled_entries(operation)):
            if edited in self._edits:
                self._refold_edit(edited)

    def _activate(self) -> None:
        self._log.active_tags = frozenset()
        for entry in newest_first(self._log._activations):
            if isinstance(entry.operation, op.ActivateTags) and not self._undone_by.get(
                entry.number
            ):
                self._log.active_tags = frozenset(entry.operation.tags)
                return

    def _refold_edit(self, number: int) -> None:
        """Apply all controls of an edit again, because one of them was undone or redone."""
        entry = self._edits[number].entry
        control_state, edit = initial_control_state(entry), initial_edit(entry)
        undos = newest_first(self._undone_by.get(number))
        acting = [self._entries[undo] for undo in undos]
        acting += (
            control
            for control in newest_first(self._controls.get(number))
            if not self._undone_by.get(control.number)
        )
        for control in sorted(acting, key=lambda control: control.number):
            control_state, edit = apply_control(control.operation, control_state, edit)
        self._set(number, control_state, edit)

    def _control_state(self, number: int) -> ControlState:
        return self._control_states.get(number) or initial_control_state(
            self._edits[number].entry
        )

    def _set(self, number: int, control_state: ControlState, edit: op.Edit) -> None:
        self._control_states[number] = control_state
        entry, state, _ = self._edits[number]
        if control_state.state is not state:
            self._count(entry.actor, state, -1)
            self._count(entry.actor, control_state.state, 1)
        self._edits[number] = RecordedEdit(entry, control_state.state, edit)
        if number in self._redactions:
            self.masks_otherwise = True

    def _count(self, actor: str, state: EditState, more: int) -> None:
        self._counts[actor, state] = self._counts.get((actor, state), 0) + more


def fold(entries: Iterable[Entry]) -> Log:
    """The log of these entries, which must be numbered from 1 without gaps."""
    return Log().extended(entries)
