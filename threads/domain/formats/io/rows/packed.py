"""Rows that hold requests and responses as JSON text, or are in a page, as rows of objects.

Programs that read them from database columns write such rows: LiteLLM's spend log comes as a
list, a page or lines.

Source: docs.litellm.ai/docs/proxy/ui_logs, `/spend/logs/v2`.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

from threads.domain.formats.io import fields, json_file, json_text, source
from threads.domain.formats.io.source import ByteSpan
from threads.domain.part import JSON

from . import table

PAGE = "data"
"""The member of a page that holds its rows."""
_NAMES = ("messages", *table.BODIES)
_MARK = re.compile(
    rb'"(?:%s)"\s*:\s*"\s*[\[{]|"request_id"' % "|".join(_NAMES).encode()
)
_OPENERS = (b"{", b"[")


def may_be_packed(head: bytes) -> bool:
    """A quick check of a file's first bytes: False if its rows can't be packed."""
    is_json = head.lstrip(json_text.BOM + b" \t\r\n").startswith(_OPENERS)
    return is_json and _MARK.search(head) is not None


def are_packed(rows: Sequence[dict[str, Any]]) -> bool:
    """Whether rows are a page of LiteLLM's log, or hold JSON text to be parsed."""
    page = fields.items(rows[0], PAGE) if len(rows) == 1 else []
    listed = [*map(fields.mapping, page)] or rows
    is_log = any("request_id" in row and "response" in row for row in listed)
    return bool(page and is_log) or any(_unpacked(row) != row for row in listed)


def lines(file: BinaryIO) -> Iterator[bytes]:
    """The rows of a file, one line each; a row that can't be read stays as it is."""
    spans: Iterator[ByteSpan]
    if json_file.is_lines(file, 2):
        spans = (line.span for line in source.lines(file))
    else:
        spans = json_file.held_objects(file, PAGE, [])
    for span in spans:
        value = json_file.known_value(file, span, [])
        if isinstance(value, dict):
            yield json_text.dump(_unpacked(value)) + b"\n"
        else:
            yield (source.piece_at(file, span) or b"").replace(b"\n", b" ") + b"\n"


def _unpacked(row: dict[str, Any]) -> dict[str, Any]:
    return {name: _value(name, value) for name, value in row.items()}


def _value(name: str, value: JSON) -> JSON:
    is_text = name in _NAMES and isinstance(value, str)
    return table.value_of(name, value) if is_text else value
