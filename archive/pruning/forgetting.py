"""Empties the pruner's lines about messages that are purged.

A condensed line quotes the first words of its message, so a purge must remove those too. What
people and agents wrote about a message is theirs and stays (`docs/decisions/0050`). The pruner's
lines are recognised by the recall reference at their end.
"""

from collections.abc import Sequence
from dataclasses import replace

from operations.context.inputs import counter_of
from operations.domain.log.operation import Amend, Condense
from operations.domain.tree.key import original_key
from operations.domain.tree.leaf import MadeMessage
from operations.log.codec import decode, encode
from operations.models import LogEntry
from threads.domain.body import encode_parts
from threads.domain.part import Part, Text, Thinking, ToolCall, ToolResult
from threads.models import Session

PURGED = "[purged]"
_REFERENCE = b"[recall:"


def forget_lines(session: Session, indexes: Sequence[int] | None) -> None:
    """Remove the words of these originals from the pruner's lines, in the caller's transaction.

    Does nothing if `indexes` is None: an erased session takes its log with it.
    """
    if indexes is None:
        return
    keys = set(map(original_key, indexes))
    rows = LogEntry.objects.filter(
        session=session, kind__in=(Condense.kind, Amend.kind)
    )
    for number, kind, payload in rows.values_list("number", "kind", "payload"):
        operation = decode(kind, bytes(payload))
        edit = operation.edit if isinstance(operation, Amend) else operation
        if not isinstance(edit, Condense) or keys.isdisjoint(edit.targets):
            continue
        shown = tuple(_without_words(session, one) for one in edit.messages)
        emptied = replace(edit, messages=shown)
        if isinstance(operation, Amend):
            _, payload = encode(replace(operation, edit=emptied))
        else:
            _, payload = encode(emptied)
        rows.filter(number=number).update(payload=payload)


def _without_words(session: Session, message: MadeMessage) -> MadeMessage:
    """A message of the pruner without the words it quotes; other messages are unchanged."""
    if _REFERENCE not in encode_parts(message.parts):
        return message
    parts = tuple(
        _emptied(part) for part in message.parts if not isinstance(part, Thinking)
    )
    return MadeMessage(message.role, parts, counter_of(session.encoding)(parts))


def _emptied(part: Part) -> Part:
    """The purged form of a part; calls keep their ids and names, so that pairs stay intact."""
    match part:
        case ToolCall():
            return ToolCall(part.id, part.name, {})
        case ToolResult():
            return replace(part, content=(Text(PURGED),))
        case _:
            return Text(PURGED)
