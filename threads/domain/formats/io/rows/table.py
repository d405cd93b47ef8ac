"""Text tables (CSV, TSV) as JSON Lines: each row becomes an object with a member per column.

The first row names the columns. Cells are separated by commas, semicolons or tabs, and quoted as
spreadsheets and databases do it (RFC 4180). The value of a cell is its text. JSON in a cell is
parsed if it is a list of blocks, calls or messages, or if it is a request or a response in a column
of that name. An empty cell is left out.
"""

import codecs
import csv
import re
from collections.abc import Iterable, Iterator
from io import StringIO, TextIOWrapper
from itertools import islice
from typing import Any, BinaryIO

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.io import json_text
from threads.domain.part import JSON

SEPARATORS = ",;\t"
ROWS = 50
"""How many rows detection looks at."""
MAX_CELL_LENGTH = 16 << 20
"""The most characters in a cell: an unclosed quote makes the rest of the table one cell."""
_MAX_NAME_LENGTH = 64
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_NAME = re.compile(r"[^\W\d][\w .:/#()-]*")
_TITLE = re.compile(r"[A-Z].*|.*\s.*", re.DOTALL)
_KINDS = ("type", "role", "from", "function")
"""Each block, message or call has one of these members."""
BODIES = ("request", "response", "proxy_server_request")
_SAYING = ("messages", "choices", "contents", "candidates")
"""Each request or response has one of these members."""

# Applies to the whole process, which reads no other tables; the default is 131,072.
csv.field_size_limit(MAX_CELL_LENGTH)


def first_lines(head: bytes) -> bytes:
    """The first rows of a table, from the first bytes of a file; empty if it isn't a table.

    The last row, which may be cut off, is left out if there are others.
    """
    encoding = _encoding(head)
    text = head.decode(encoding, "replace")
    separator = _separator(text)
    if not separator:
        return b""
    try:
        rows = list(islice(_rows(StringIO(text, newline=""), separator), ROWS))
    except Invalid:
        return b""
    return b"".join(rows[:-1] or rows)


def lines(file: BinaryIO, head: bytes) -> Iterator[bytes]:
    """The rows of a table, one line of JSON each; `head` is the first bytes of the file.

    Raises Invalid (`table_damaged`) that names the row that can't be read.
    """
    encoding = _encoding(head)
    separator = _separator(head.decode(encoding, "replace"))
    file.seek(0)
    text = TextIOWrapper(file, encoding, "replace", newline="")
    try:
        yield from _rows(text, separator)
    finally:
        text.detach()  # else the file would be closed with it


def _encoding(head: bytes) -> str:
    """UTF-8, UTF-16 with a byte order mark, or cp1252, which spreadsheets write on Windows."""
    for mark, encoding in _MARKS.items():
        if head.startswith(mark):
            return encoding
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _separator(text: str) -> str:
    """The separator of the column names on the first line; empty if they aren't column names."""
    line = text.partition("\n")[0]
    counts = {one: line.count(one) for one in SEPARATORS}
    most = max(SEPARATORS, key=lambda one: counts[one])
    if not counts[most]:
        return ""
    try:
        names = next(csv.reader([line], delimiter=most), [])
    except csv.Error:  # a line end inside it, which only other files have
        return ""
    # Tables written by pandas begin with an unnamed column of numbers.
    named = [name.strip() for name in names[not names[0].strip() :]] if names else []
    are_names = (len(n) <= _MAX_NAME_LENGTH and _NAME.fullmatch(n) for n in named)
    return most if named and all(are_names) else ""


def _rows(text: Iterable[str], separator: str) -> Iterator[bytes]:
    reader = csv.reader(text, delimiter=separator)
    columns = _columns(next(reader, []))
    number = 1
    try:
        for number, cells in enumerate(reader, start=2):  # noqa: B007
            while len(columns) < len(cells):
                columns.append(f"column_{len(columns) + 1}")
            named = zip(columns, cells, strict=False)
            row = {name: value_of(name, cell) for name, cell in named if cell.strip()}
            if row:
                yield json_text.WRITER.encode(row).encode() + b"\n"
    except csv.Error as error:
        sentence = f"Row {number + 1} of the table can't be read: {error}."
        raise Invalid(sentence, code="table_damaged") from None


def _columns(names: Iterable[str]) -> list[str]:
    """The column names as member names: `Conversation ID` becomes `conversation_id`."""
    found: list[str] = []
    known: set[str] = set()
    for number, name in enumerate(names, start=1):
        name = name.strip() or f"column_{number}"
        if _TITLE.fullmatch(name):
            name = re.sub(r"\W+", "_", name).strip("_").lower()
        found.append(f"{name}_{number}" if name in known else name)
        known.add(found[-1])
    return found


def value_of(name: str, cell: str) -> JSON:
    """The value of a cell: its text, unless it is one of the JSON values that are parsed."""
    if name.startswith("is") and cell.strip().lower() in ("true", "false"):
        return cell.strip().lower() == "true"
    if not cell.lstrip().startswith("{" if name in BODIES else "["):
        return cell
    try:
        found: Any = json_text.parse(cell.encode())
    except Invalid:
        return cell
    if isinstance(found, dict):
        return found if any(name in found for name in _SAYING) else cell
    return found if found and all(map(_is_kind, found)) else cell


def _is_kind(one: JSON) -> bool:
    """Whether an element is a block, a message or a call, rather than JSON that somebody said."""
    return isinstance(one, dict) and any(kind in one for kind in _KINDS)
