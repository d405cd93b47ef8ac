"""An entry of the log, and the state of an edit after the controls that follow it."""

from enum import StrEnum
from typing import NamedTuple

from operations.domain.tree.key import entry_number

from . import operation as op

IMPORTER = "import"
"""The actor of entries that an import records: compactions by the tool that wrote the
transcript."""
CLIENT = "client"
"""The actor of changes that a client made to the messages it sends: see
`operations/forwarding/`."""


class EditState(StrEnum):
    """The state of an edit after the controls that follow it."""

    PROPOSED = "proposed"
    REJECTED = "rejected"
    REVERTED = "reverted"
    OFF = "off"
    ON = "on"


class Entry(NamedTuple):
    """One entry of a log, numbered from 1 without gaps.

    `bundle` is the id shared by entries recorded together, such as edits, or the controls that
    restore a snapshot. `staged` edits are proposals that their author is still collecting, to
    commit them together.
    """

    number: int
    operation: op.Operation
    actor: str
    bundle: str | None = None
    proposed: bool = False
    staged: bool = False


class RecordedEdit(NamedTuple):
    """An edit in the log: its entry, its current state and its current words."""

    entry: Entry
    state: EditState
    edit: op.Edit

    @property
    def is_withdrawn(self) -> bool:
        """Whether it is reverted or rejected, and so only kept for the record."""
        return self.state in (EditState.REVERTED, EditState.REJECTED)


class EditCounts(NamedTuple):
    """How many edits of an actor are on, off and proposed."""

    on: int
    off: int
    proposed: int


class ControlState(NamedTuple):
    """An edit's state of review and its switch, as the controls left them."""

    review: EditState
    switch: EditState

    @property
    def state(self) -> EditState:
        """The resulting state: review decides until it accepts, unless the edit is reverted."""
        if self.switch is EditState.REVERTED or self.review is EditState.ON:
            return self.switch
        return self.review


def controlled_entries(operation: op.Operation) -> tuple[int, ...]:
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


def initial_edit(entry: Entry) -> op.Edit:
    """The edit as it was first recorded."""
    return entry.operation  # type: ignore[return-value]  # only edits are asked for


def initial_control_state(entry: Entry) -> ControlState:
    """The state of an edit before any control."""
    review = EditState.PROPOSED if entry.proposed else EditState.ON
    return ControlState(review, EditState.ON)


def apply_control(
    control: op.Operation, control_state: ControlState, edit: op.Edit
) -> tuple[ControlState, op.Edit]:
    """The state and words of an edit after a control; one that doesn't fit changes nothing."""
    review, switch = control_state
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
    return ControlState(review, switch), edit
