"""The log folded: the state of every edit, and what else the controls set.

A log only grows. Folding costs what the entries name; `Log.extended` folds more entries
onto a log without folding the earlier ones again, and leaves the log it starts from alone.
"""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from operations.domain.tree.key import Key, entry_number

from . import operation as op
from .mask import Masks

IMPORTER = "import"
"""The actor of what an import records: the compactions of the tool that wrote the transcript."""


class EditState(StrEnum):
    """What the controls after an edit made of it."""

    PROPOSED = "proposed"
    REJECTED = "rejected"
    REVERTED = "reverted"
    OFF = "off"
    ON = "on"


class Entry(NamedTuple):
    """One entry of a log, numbered from 1 without gaps.

    `bundle` is the id of the edits that were recorded together; controls have none. `staged`
    edits are proposals that their author is still collecting, to commit them together.
    """

    number: int
    operation: op.Operation
    actor: str
    bundle: str | None = None
    proposed: bool = False
    staged: bool = False


class Recorded(NamedTuple):
    """An edit as the log has it: its entry, its state, and its words in force."""

    entry: Entry
    state: EditState
    edit: op.Edit

    @property
    def withdrawn(self) -> bool:
        """Whether it is reverted or rejected: there for the record alone."""
        return self.state in (EditState.REVERTED, EditState.REJECTED)


class Log:
    """A folded log. Never changed once it is made."""

    def __init__(self) -> None:
        """The empty log."""
        self.entries: list[Entry] = []
        self.edits: dict[int, Recorded] = {}
        """The edits by their numbers, in the order of the log."""
        self.active_tags: frozenset[str] = frozenset()
        self.purged: frozenset[Key] = frozenset()
        self._first: dict[int, op.Edit] = {}
        """The words that edits were recorded with."""
        self._controls: dict[int, list[Entry]] = {}
        self._undone_by: dict[int, list[int]] = {}
        self._activations: list[Entry] = []

    @property
    def head(self) -> int:
        """The number of the last entry; 0 in an empty log."""
        return self.entries[-1].number if self.entries else 0

    def edit(self, key: Key) -> Recorded | None:
        """The edit with a key `o<number>`."""
        number = entry_number(key)
        return None if number is None else self.edits.get(number)

    @cached_property
    def masks(self) -> Masks:
        """What the redactions that are on mask."""
        return Masks(
            (
                (number, recorded.edit)
                for number, recorded in self.edits.items()
                if recorded.state is EditState.ON
            ),
            self.wordings,
        )

    def wordings(self, number: int) -> Iterator[op.Edit]:
        """All the words that an edit ever had, those it was recorded with first."""
        if number in self._first:
            yield self._first[number]
        for control in self._controls.get(number, ()):
            if isinstance(control.operation, op.Amend):
                yield control.operation.edit

    def is_undone(self, number: int) -> bool:
        """Whether an undo that is in force took an entry back."""
        return bool(self._undone_by.get(number))

    def kept_undone(self, undo: Entry) -> tuple[int, ...]:
        """The numbers of the entries that an undo still keeps taken back."""
        numbers = undo.operation.entries if isinstance(undo.operation, op.Undo) else ()
        return tuple(n for n in numbers if undo.number in self._undone_by.get(n, ()))

    def extended(self, entries: Iterable[Entry]) -> "Log":
        """The log with further entries at its end."""
        log = Log()
        log.entries = self.entries.copy()
        log.edits, log._first = self.edits.copy(), self._first.copy()
        log.active_tags, log.purged = self.active_tags, self.purged
        log._controls = {n: controls.copy() for n, controls in self._controls.items()}
        log._undone_by = {n: undos.copy() for n, undos in self._undone_by.items()}
        log._activations = self._activations.copy()
        for entry in entries:
            log._add(entry)
        return log

    def _add(self, entry: Entry) -> None:
        self.entries.append(entry)
        match entry.operation:
            case op.Toggle() | op.Revert() | op.Accept() | op.Reject() | op.Amend():
                self._control(entry)
            case op.ActivateTags():
                self._activations.append(entry)
                self._activate()
            case op.Purge(targets=targets):
                self.purged |= set(targets)
            case op.Undo(entries=numbers):
                for number in numbers:
                    if 0 < number < entry.number and not isinstance(
                        self.at(number).operation, op.Undo | op.Redo | op.Purge
                    ):
                        self._undone_by.setdefault(number, []).append(entry.number)
                        self._refold(number)
            case op.Redo(entries=numbers):
                for number in numbers:
                    if self.is_undone(number):
                        self._undone_by[number].pop()
                        self._refold(number)
            case edit:
                state = EditState.PROPOSED if entry.proposed else EditState.ON
                self.edits[entry.number] = Recorded(entry, state, edit)
                self._first[entry.number] = edit

    def _control(self, entry: Entry) -> None:
        for number in controlled(entry.operation):
            if number in self.edits:
                self._controls.setdefault(number, []).append(entry)
                self._refold_edit(number)

    def at(self, number: int) -> Entry:
        """The entry with a number."""
        return self.entries[number - 1]

    def _refold(self, number: int) -> None:
        """Fold again what an entry acts on, or the entry itself where it is an edit."""
        operation = self.at(number).operation
        if isinstance(operation, op.ActivateTags):
            self._activate()
        for edited in (number, *controlled(operation)):
            if edited in self.edits:
                self._refold_edit(edited)

    def _activate(self) -> None:
        self.active_tags = frozenset()
        for entry in self._activations:
            if isinstance(entry.operation, op.ActivateTags) and not self.is_undone(
                entry.number
            ):
                self.active_tags = frozenset(entry.operation.tags)

    def _refold_edit(self, number: int) -> None:
        entry = self.edits[number].entry
        undos = [self.at(undo) for undo in self._undone_by.get(number, ())]
        controls = [
            control
            for control in self._controls.get(number, ())
            if not self.is_undone(control.number)
        ]
        controls = sorted([*controls, *undos], key=lambda control: control.number)
        self.edits[number] = Recorded(
            entry, _state(entry, controls), _words(self._first[number], controls)
        )


def fold(entries: Iterable[Entry]) -> Log:
    """The log of these entries, which must be numbered from 1 without gaps."""
    return Log().extended(entries)


def controlled(operation: op.Operation) -> tuple[int, ...]:
    """The numbers of the entries that a control names by their keys, each once."""
    match operation:
        case op.Toggle() | op.Revert() | op.Accept() | op.Reject():
            keys = operation.operations
        case op.Amend():
            keys = (operation.operation,)
        case _:
            return ()
    numbers = dict.fromkeys(map(entry_number, keys))
    return tuple(number for number in numbers if number is not None)


def _state(entry: Entry, controls: Iterable[Entry]) -> EditState:
    review = EditState.PROPOSED if entry.proposed else EditState.ON
    switch = EditState.ON
    for control in controls:
        review, switch = _turn(control.operation, review, switch)
    if switch is EditState.REVERTED or review is EditState.ON:
        return switch
    return review


def _turn(
    control: op.Operation, review: EditState, switch: EditState
) -> tuple[EditState, EditState]:
    """Where a control leaves an edit; one that doesn't fit its state leaves it alone."""
    reverted, waits = switch is EditState.REVERTED, review is not EditState.ON
    match control:
        case op.Revert() | op.Undo():
            switch = EditState.REVERTED
        case op.Toggle(active=True):
            switch = EditState.ON
        case op.Toggle() if not reverted and not waits:
            switch = EditState.OFF
        case op.Accept() if not reverted and waits:
            review = EditState.ON
        case op.Reject() if not reverted and waits:
            review = EditState.REJECTED
    return review, switch


def _words(edit: op.Edit, controls: Iterable[Entry]) -> op.Edit:
    for control in controls:
        amend = control.operation
        if isinstance(amend, op.Amend) and not op.retargets(edit, amend.edit):
            edit = amend.edit
    return edit
