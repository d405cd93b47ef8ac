"""Finds what messages were read from: the exact records of the source file."""

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any, NamedTuple

from threads.models import Message, Session, Source

from . import blobs

MAX_PARSED_BYTES = 64 * 1024 * 1024
"""The largest JSON document that is parsed to find a record in it, in bytes."""
MAX_SHOWN = 2 * 1024 * 1024
"""How much of one record is shown, in bytes."""
MAX_STEPS = 10_000
"""How many thousand virtual machine steps of SQLite finding a row may take."""
_PIECE = 1 << 20
_SPAN = re.compile(r"(\d{1,18})-(\d{1,18})")


class SourceRecord(NamedTuple):
    """A range of the source, or a value in it: its location and its text."""

    locator: str
    text: str
    is_cut: bool = False
    """Whether `text` is only the beginning; `open_record` gives all of it."""


def load_records(session: Session, index: int) -> list[SourceRecord]:
    """The records of an original, in order; empty if its source is gone.

    A record in another file of the folder names that file (`<member>#bytes:…`).
    """
    row = Message.objects.select_related("source").filter(session=session, index=index)
    message = row.first()
    if message is None or message.source is None:
        return []
    return list(_records(message.source, message.records))


def open_record(session: Session, index: int, locator: str) -> Iterator[bytes] | None:
    """The bytes of a range that an original was read from, in pieces; None if there are none."""
    row = Message.objects.select_related("source").filter(session=session, index=index)
    message = row.first()
    if message is None or message.source is None or locator not in message.records:
        return None
    member, _, place = locator.rpartition("#")
    sha256 = _file_of(message.source, member)
    span = _SPAN.fullmatch(place.removeprefix("bytes:"))
    if span is None or not sha256 or not blobs.path_of(sha256).exists():
        return None
    return _pieces(sha256, int(span[1]), int(span[2]))


def _pieces(sha256: str, start: int, end: int) -> Iterator[bytes]:
    with blobs.open_blob(sha256) as stream:
        stream.seek(start)
        while start < end and (piece := stream.read(min(_PIECE, end - start))):
            start += len(piece)
            yield piece


def _file_of(source: Source, member: str) -> str:
    """The hash of a source's file, or of a file imported with it; empty if it is gone."""
    if not member:
        return source.sha256
    beside = Source.objects.filter(
        brought_by=source.brought_by_id, brought_by__isnull=False, name=member
    )
    return beside.values_list("sha256", flat=True).first() or ""


def load_record(source: Source, locator: str) -> SourceRecord | None:
    """One record of a source, given an event's locator; None if it is gone."""
    return next(_records(source, [locator]), None)


def _records(source: Source, locators: list[str]) -> Iterator[SourceRecord]:
    for locator in locators:
        member, _, place = locator.rpartition("#")
        sha256 = _file_of(source, member)
        if sha256 and blobs.path_of(sha256).exists():
            span = _SPAN.fullmatch(place.removeprefix("bytes:"))
            is_cut = span is not None and int(span[2]) - int(span[1]) > MAX_SHOWN
            yield SourceRecord(locator, _read(sha256, place), is_cut)


def _read(sha256: str, locator: str) -> str:
    kind, _, place = locator.partition(":")
    if kind == "bytes" and (span := _SPAN.fullmatch(place)):
        start, end = int(span[1]), int(span[2])
        with blobs.open_blob(sha256) as stream:
            stream.seek(start)
            data = stream.read(max(0, min(end - start, MAX_SHOWN + 1)))
        return _shortened(data.decode("utf-8", "replace"), of=end - start)
    if kind == "row":
        return _row(sha256, place)
    if blobs.path_of(sha256).stat().st_size > MAX_PARSED_BYTES:
        return "This document is too large to show one value of it; export the session."
    value = _at(json.loads(blobs.read(sha256)), place)
    return _shortened(json.dumps(value, ensure_ascii=False, indent=2))


def _row(sha256: str, place: str) -> str:
    """A row of a SQLite database, `<table>/<rowid>`, as JSON."""
    table, _, rowid = place.rpartition("/")
    address = f"file:{blobs.path_of(sha256)}?mode=ro&immutable=1"
    with closing(sqlite3.connect(address, uri=True)) as database:
        database.row_factory = sqlite3.Row
        steps = iter(range(MAX_STEPS))
        database.set_progress_handler(lambda: next(steps, None) is None, 1000)
        database.execute("PRAGMA trusted_schema = OFF")
        try:
            known = database.execute(
                "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", [table]
            )
            if known.fetchone() is None or not rowid.lstrip("-").isdecimal():
                return "This row is not in the database."
            name = table.replace('"', '""')
            query = f'SELECT * FROM "{name}" WHERE rowid = ?'  # noqa: S608  # a known table
            row = database.execute(query, [int(rowid)]).fetchone()
        except (sqlite3.Error, OverflowError, UnicodeError) as error:
            return f"This row can't be read: {error}."
    if row is None:
        return "This row is not in the database."
    values = {name: _unfolded(row[name]) for name in row.keys()}  # noqa: SIM118  # a Row is no dict
    return _shortened(json.dumps(values, ensure_ascii=False, indent=2, default=repr))


def _unfolded(value: Any) -> Any:
    """The value of a column that holds JSON as text."""
    if not isinstance(value, str) or not value.startswith(("{", "[")):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _shortened(text: str, *, of: int | None = None) -> str:
    """A text cut to what a page can show."""
    size = len(text) if of is None else of
    if size <= MAX_SHOWN:
        return text
    return f"{text[:MAX_SHOWN]}\n… ({size:,} bytes in all)"


def _at(document: Any, pointer: str) -> Any:
    """The value at an RFC 6901 pointer, or None."""
    for token in pointer.split("/")[1:]:
        name = token.replace("~1", "/").replace("~0", "~")
        if isinstance(document, list):
            place = int(name) if name.isdecimal() else len(document)
            document = document[place] if place < len(document) else None
        elif isinstance(document, dict):
            document = document.get(name)
        else:
            return None
    return document
