"""The versions of an operation's words, each with its difference from the one before.

The contract stands in `templates/operations/editor/dialogs/versions.html`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.utils.safestring import SafeString

from operations.domain.log.operation import Amend, Control, Edit, messages_of
from operations.domain.text.wording import words_of
from operations.domain.tree.key import Key
from operations.editor.rows.operation import Author, Operations, author_of
from threads.rendering import render_difference


@dataclass(frozen=True, slots=True)
class VersionItem:
    """One version; the first stands whole, for it differs from nothing."""

    number: int
    author: Author
    time: datetime
    html: SafeString


def versions_of(operations: Operations, key: Key) -> list[VersionItem]:
    """The versions that are in force, newest first."""
    versions, before = [], ""
    for number, (entry, edit) in enumerate(_wordings(operations, key), start=1):
        row = operations.history.rows[entry]
        text = "\n\n".join(words_of(message.parts) for message in messages_of(edit))
        html = render_difference(before if number > 1 else text, text)
        before = text
        versions.append(VersionItem(number, author_of(row), row.created_at, html))
    return versions[::-1]


def _wordings(operations: Operations, key: Key) -> Iterator[tuple[int, Edit]]:
    log = operations.thread.log
    number = int(key[1:])
    for entry in (number, *operations.amends(number)):
        operation = log.at(entry).operation
        if isinstance(operation, Amend):
            yield entry, log.masks.edit(number, operation.edit)
        elif not isinstance(operation, Control):
            yield entry, log.masks.edit(number, operation)
