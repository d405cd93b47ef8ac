"""Switching all edits of one author at once."""

from operations.domain.tree.key import Key, entry_key

from .entry import EditState
from .log import Log
from .operation import Toggle


def switch_of(log: Log, actor: str, *, active: bool) -> Toggle:
    """The toggle that switches off all edits of an actor that are on, or switches them on again.

    Switching on restores what the newest toggle of this kind switched off and is still off. If
    there is none, it restores everything that is off. So edits that were already off stay off
    when the others come back.
    """
    keys = _edits(log, actor, EditState.ON)
    if active:
        last = next(
            (
                entry.operation
                for entry in reversed(log.entries)
                if isinstance(entry.operation, Toggle)
                and entry.operation.actor == actor
                and not log.is_undone(entry.number)
            ),
            None,
        )
        put_off = set(last.operations) if last and not last.active else set()
        off = _edits(log, actor, EditState.OFF)
        keys = [key for key in off if key in put_off] or off
    return Toggle(operations=tuple(keys), active=active, actor=actor)


def _edits(log: Log, actor: str, state: EditState) -> list[Key]:
    """The edits of an actor that are in a state, in the order of the log."""
    numbers = [entry.number for entry in log.entries_by(actor)][::-1]
    found = ((number, log.edits.get(number)) for number in numbers)
    return [entry_key(number) for number, one in found if one and one.state is state]
