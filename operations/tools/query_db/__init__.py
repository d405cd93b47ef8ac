"""`query_db`: a session's own history, asked in SQL over a private copy (docs/decisions/0040)."""

from typing import Any

from threads.models import Session

from .rows import load_rows
from .sandbox import Sandbox


def run_query(session: Session, sql: str) -> dict[str, Any]:
    """`{"columns", "rows", "truncated"}` of one SELECT over the table `messages`.

    Raises Invalid with the code `sql` (SQLite could not read it), `not_allowed`, `too_long`
    or `too_large`.
    """
    with Sandbox(load_rows(session)) as sandbox:
        return sandbox.ask(sql)._asdict()
