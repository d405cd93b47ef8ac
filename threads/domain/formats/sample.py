"""The beginning of a file, as the tests of formats see it."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from threads.domain.part import JSON

from .io import fields, json_text
from .io.json_file import ROWS, first_record, parsed

HEAD = 64 << 10
"""The most bytes of a file that detection looks at."""
RECORDS = 50
"""The most lines of JSONL, or elements of a list, that detection looks at."""
ZIP = b"PK\x03\x04"
"""How a zip archive begins; uncompressed files in it could be read as lines."""

_TOKENS = re.compile(
    rb'(?:[^"\[\]{},]++|' + json_text.STRING + rb')*+([\[\]{},"]|\Z)', re.DOTALL
)
"""The text up to the next bracket or comma, or to the opening quote of a cut-off string."""
_CLOSER = {b"[": b"]", b"{": b"}"}


@dataclass(frozen=True)
class Sample:
    """The first bytes of a file, with their values as text and as JSON."""

    head: bytes
    name: str = ""

    @cached_property
    def text(self) -> str:
        """The head as text; bytes that are not UTF-8 are replaced."""
        return self.head.decode("utf-8-sig", "replace")

    @cached_property
    def records(self) -> list[dict[str, Any]]:
        """The objects on the first lines, if the file is JSON Lines; a cut line is completed."""
        if self.head.startswith(ZIP):
            return []
        rows = [row.strip() for row in self.head.splitlines() if row.strip()][:RECORDS]
        if len(rows) == 1 and rows[0].removeprefix(json_text.BOM).startswith(b"{"):
            rows = [json_text.dump(complete_part(rows[0]))]
        if first_record(rows[:ROWS]) is None:
            return []
        found = [parsed(row) for row in rows[:-1]] + [complete_part(rows[-1])]
        return [value for value in found if isinstance(value, dict)]

    @cached_property
    def document(self) -> JSON:
        """The head as one JSON document, completed if it is cut off; None if it isn't one."""
        return None if len(self.records) > 1 else complete_part(self.head)

    @cached_property
    def object(self) -> dict[str, Any]:
        """The document, if it is an object; else an empty one."""
        return fields.mapping(self.document)

    @cached_property
    def elements(self) -> list[dict[str, Any]]:
        """The first objects in the document, if it is a list."""
        values = self.document if isinstance(self.document, list) else []
        return [value for value in values[:RECORDS] if isinstance(value, dict)]

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """The objects of the file: its records, the elements of its list, or its one object."""
        return self.records or self.elements or ([self.object] if self.object else [])

    @property
    def shows_all(self) -> bool:
        """Whether the head is a complete JSON file and detection looks at all its records."""
        if len(self.head) >= HEAD:
            return False
        if len(self.records) > 1:
            return self.head.count(b"\n") < RECORDS and _are_few(self.records)
        return self.document is not None and _are_few(self.document)


def _are_few(value: JSON) -> bool:
    """Whether no list in a value is longer than `RECORDS`."""
    if isinstance(value, dict):
        return all(map(_are_few, value.values()))
    if isinstance(value, list):
        return len(value) <= RECORDS and all(map(_are_few, value))
    return True


def complete_part(head: bytes) -> JSON:
    """The complete part of JSON text that may break off; None if it isn't JSON."""
    stack: list[bytes] = []
    cut, closers = 0, b""
    for match in _TOKENS.finditer(head):
        token = match[1]
        if token in (b'"', b""):  # the rest is the text of a string that is cut off
            break
        if token == b",":
            cut = match.start(1)
        elif token in _CLOSER:
            stack.append(_CLOSER[token])
            cut, closers = match.end(), b"".join(reversed(stack))
        elif stack:
            stack.pop()
            cut, closers = match.end(), b"".join(reversed(stack))
        else:
            continue
        if not stack or len(stack) > json_text.MAX_DEPTH:
            break
    return parsed(head[:cut] + closers)
