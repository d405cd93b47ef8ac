"""Looks at threads without a database: what rows depend on, except their text."""

import uuid
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

from operations.domain.thread.thread import Thread
from operations.editor.rows.look import Look
from operations.editor.rows.operation import Operations
from operations.log.selectors import History, LogRow
from operations.requests import View
from threads.models import Session

LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)


def history_of(thread: Thread) -> History:
    """The log of a thread, all recorded by one person long ago."""
    rows = {
        entry.number: LogRow(
            uuid.UUID(int=entry.number),
            entry.actor,
            "Second editor",
            LONG_AGO,
            None,
            "",
        )
        for entry in thread.log.entries
    }
    return History(thread.log, rows)


def look_at(thread: Thread, view: View = View.ANNOTATED, **options: Any) -> Look:
    """A look at a thread by a person who may do everything."""
    session = cast(
        Session, SimpleNamespace(pk=uuid.UUID(int=1), model="", encoding="o200k_base")
    )
    return Look(
        session=session,
        thread=thread,
        operations=Operations(thread, history_of(thread)),
        view=view,
        **{"may_propose": True, "may_edit": True, "may_decide": True, **options},
    )
