"""Writes a session's snapshots and lenses to a transfer document, and reads them from one."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Conflict, Invalid, Place
from operations.domain.log.entry import EditState, RecordedEdit
from operations.domain.log.log import Log, fold
from operations.domain.log.operation import Redact
from operations.domain.tree.key import entry_key, entry_number
from operations.edits.arguments import ActiveTags
from operations.edits.lenses import list_lenses, put_lens
from operations.snapshots.selectors import list_snapshots
from operations.snapshots.services import put_snapshot
from threads.models import Session

from .members import list_of, text_of


def write_snapshots(
    session: Session, log: Log, operations: Collection[int]
) -> Iterator[dict[str, Any]]:
    """Yield the snapshots, oldest first, each with the last of these operations before it.

    Only snapshots at which the operations applied as they do now: the document doesn't say how
    they applied at others.
    """
    then = fold(())
    for point in reversed(list_snapshots(session)):
        then = then.extended(log.entries[then.head : point.head])
        if _applies_alike(then, log):
            last = max((one for one in operations if one <= point.head), default=0)
            yield {
                "name": point.name,
                "after": entry_key(last) if last else None,
                "message_count": point.message_count,
            }


def _applies_alike(then: Log, log: Log) -> bool:
    """Whether the edits of a log's prefix applied at its end as they do now."""
    return then.active_tags == log.active_tags and all(
        _is_alike(one, log.edits[number]) for number, one in then.edits.items()
    )


def _is_alike(then: RecordedEdit, now: RecordedEdit) -> bool:
    if isinstance(then.edit, Redact):  # its text is masked in the document anyway
        return True
    was_on, is_on = then.state is EditState.ON, now.state is EditState.ON
    return was_on == is_on and (not is_on or then.edit == now.edit)


def write_lenses(session: Session) -> list[dict[str, Any]]:
    """The lenses of a session, with their tags."""
    return [{"name": one.name, "tags": one.tags} for one in list_lenses(session)]


def read_snapshots(
    caller: Caller,
    session: Session,
    document: Mapping[str, Any],
    numbers: Mapping[int, int],
    *,
    first: int,
) -> int:
    """Create the snapshots of a document; returns their number.

    `numbers` maps the old number of each operation to its number here. `first` is the head before
    all of them.
    """
    given = _objects(document, "snapshots")
    for at, one in given:
        after, count = one.get("after"), one.get("message_count")
        last = entry_number(after) if isinstance(after, str) else None
        if after is not None and last not in numbers:
            raise Invalid(
                "after must be the key of an operation in this file.", at=[*at, "after"]
            )
        if type(count) is not int or not 0 <= count <= session.message_count:
            raise Invalid(
                f"message_count must be a number from 0 to {session.message_count}.",
                at=[*at, "message_count"],
            )
        head = numbers[last] if last else first
        try:
            put_snapshot(
                caller, session, text_of(one, "name"), head=head, message_count=count
            )
        except (Conflict, Invalid) as error:
            raise Invalid(error.message, at=[*at, *error.at]) from error
    return len(given)


def read_lenses(session: Session, document: Mapping[str, Any]) -> int:
    """Create the lenses of a document; returns their number."""
    given = _objects(document, "lenses")
    for at, one in given:
        try:
            tags = ActiveTags(tags=one.get("tags")).tags
            put_lens(session, text_of(one, "name"), tags)
        except ValidationError as error:
            raise Invalid("tags must be a list of tags.", at=[*at, "tags"]) from error
        except Invalid as error:
            raise Invalid(error.message, at=[*at, *error.at]) from error
    return len(given)


def _objects(document: Mapping[str, Any], name: str) -> list[tuple[Place, Any]]:
    """The objects of a list member, with their places. Raises Invalid."""
    given = list_of(document, name)
    for place, one in enumerate(given):
        if not isinstance(one, dict):
            raise Invalid(f"Each of {name} must be an object.", at=[name, place])
    return [((name, place), one) for place, one in enumerate(given)]
