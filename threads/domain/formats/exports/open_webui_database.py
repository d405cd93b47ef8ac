"""Open WebUI's database (`webui.db`): the table `chat`, with each chat as JSON like in the export.

Source: github.com/open-webui/open-webui, `backend/open_webui/models/chats.py`.
"""

import io
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.format import Format
from threads.domain.formats.io import json_file, json_text, sqlite_file
from threads.domain.formats.io.folder import Folder, Gathered
from threads.domain.formats.io.source import BROKEN
from threads.domain.formats.io.sqlite_file import SqliteFile
from threads.domain.formats.kit.database_format import DatabaseFormat
from threads.domain.formats.kit.items import Item, Items
from threads.domain.transcript import Compaction, Event, Transcript, Warning

from .open_webui import EXPORT, score

_CHATS = "SELECT rowid FROM chat ORDER BY created_at, rowid"
_CHAT = "SELECT id, user_id, title, chat FROM chat WHERE rowid = ?"


def _sessions(database: SqliteFile, member: str) -> Iterator[Transcript | None]:
    with database.opened() as connection:
        places = [place for (place,) in connection.execute(_CHATS)]
    for place in places:
        with database.opened() as connection:
            held = _branches(connection, place, [])
        for number, one in enumerate(held):
            items = Items(partial(_items, database, place, number))
            yield replace(one, items=items, warnings=items.warnings, member=member)


def _items(
    database: SqliteFile, place: int, number: int, warnings: list[Warning]
) -> Iterator[Item]:
    """The items of a chat, or of a branch of it, all with the record of its row."""
    record = f"row:chat/{place}"
    try:
        with database.opened() as connection:
            held = _branches(connection, place, warnings)[number : number + 1]
        for one in held:
            for item in one.items:
                if isinstance(item, Event | Compaction):
                    yield replace(item, record=record)
                else:
                    yield replace(item, records=(record,))
            warnings += one.warnings
    except Invalid as error:
        warnings.append(json_file.warning(error))


def _branches(
    connection: sqlite3.Connection, place: int, warnings: list[Warning]
) -> list[Transcript]:
    """The transcripts of a chat, read like its export; none if it holds no message."""
    [row] = connection.execute(_CHAT, [place]).fetchall()
    chat = sqlite_file.parsed(row[3], ("chat", place), warnings)
    if chat is BROKEN:
        return []
    names = ("id", "user_id", "title")
    told = {
        name: sqlite_file.text(value) for name, value in zip(names, row, strict=False)
    }
    try:
        return EXPORT.read(io.BytesIO(json_text.dump([{**told, "chat": chat}])), "")
    except Invalid as error:
        warnings.append(json_file.warning(error, ("chat", place)))
        return []


_DATABASE = DatabaseFormat(
    name=EXPORT.name,
    label="an Open WebUI database",
    tables=frozenset({"chat"}),
    columns=(b"share_id",),
    sessions=_sessions,
    alone=EXPORT.read,
    told=score,
)


def _gather(folder: Folder) -> list[Gathered]:
    return [*_DATABASE.gather(folder), *EXPORT.gather(folder)]


FORMAT = Format(
    EXPORT.name, EXPORT.label, _DATABASE.score, _DATABASE.read, gather=_gather
)
