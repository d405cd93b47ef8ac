"""An entry of the log, and what the controls after it make of one that edits."""

from enum import StrEnum
from typing import NamedTuple

from operations.domain.tree.key import entry_number

from . import operation as op

IMPORTER = "import"
"""The actor of what an import records: the compactions of the tool that wrote the transcript."""
CLIENT = "client"
"""The actor of what a client did to the messages that it sends: see `operations/forwarding/`."""


class EditState(StrEnum):
    """What the controls after an edit made of it."""

    PROPOSED = "proposed"
    REJECTED = "rejected"
    REVERTED = "reverted"
    OFF = "off"
    ON = "on"


class Entry(NamedTuple):
    """One entry of a log, numbered from 1 without gaps.

    `bundle` is the id of what was recorded together, such as edits, or the controls that restore a
    snapshot. `staged` edits are proposals that their author is still collecting, to commit them
    together.
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


class EditCounts(NamedTuple):
    """How many edits of an actor are on, off and proposed."""

    on: int
    off: int
    proposed: int


class EditTurn(NamedTuple):
    """Where controls left an edit: what review made of it, and what switching did."""

    review: EditState
    switch: EditState

    @property
    def state(self) -> EditState:
        """What comes of both: review counts until it accepts, unless the edit is reverted."""
        if self.switch is EditState.REVERTED or self.review is EditState.ON:
            return self.switch
        return self.review


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


def first_words(entry: Entry) -> op.Edit:
    """The words that an edit was recorded with."""
    return entry.operation  # type: ignore[return-value]  # only edits are asked for


def turn_at_first(entry: Entry) -> EditTurn:
    """Where an edit stands before any control."""
    review = EditState.PROPOSED if entry.proposed else EditState.ON
    return EditTurn(review, EditState.ON)


def turned(
    control: op.Operation, turn: EditTurn, edit: op.Edit
) -> tuple[EditTurn, op.Edit]:
    """Where a control leaves an edit and its words; one that doesn't fit leaves them alone."""
    review, switch = turn
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
        case op.Amend(edit=words) if not op.retargets(edit, words):
            edit = words
    return EditTurn(review, switch), edit
