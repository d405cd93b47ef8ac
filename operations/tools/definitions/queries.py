"""An agent asks its own history in SQL."""

from typing import Any

from pydantic import Field

from contextstudio.accounts.domain.caller import Caller
from operations.tools.query_db import run_query
from operations.tools.tool import SessionTool


class QueryDb(SessionTool):
    """Ask the session's own history in SQL (SQLite's dialect, one SELECT, read-only).

    There is one table, one row per original message:
    `messages(id INTEGER, key, group_id, role, content, status, parsing_strategy, tool_name,
    tokens, tags, created_at)`. `id` is the 0-based index and `key` is `m<id>`; `role` is
    system, user, assistant or tool; `content` is what the message says, with names and
    arguments of its tool calls; `group_id` counts the turns from 1 (0: before the first);
    `tags` is a JSON list. `status` is `dropped` for what was snipped or destroyed, `folded`
    for what another fold stands for, else `tool_call` for calls and results, else `active`.
    Use it for what has left your context: the whole of a truncated result, or an earlier
    decision. Order by `id DESC`, since the newest is usually meant, and pass over `dropped`
    messages, for they were undone.

    At most 500 rows and 200 kB are answered (`truncated` says that there was more), within
    two seconds. No PRAGMA, no ATTACH, no recursive query, nothing that writes.

    Example: {"session_id": "…", "sql": "SELECT id, role, content FROM messages WHERE
    status != 'dropped' AND content LIKE '%refactor plan%' ORDER BY id DESC LIMIT 5"}
    """

    name = "query_db"
    reads_only = True

    sql: str = Field(min_length=1, max_length=20_000, description="One SELECT.")

    def call(self, caller: Caller) -> dict[str, Any]:
        """Columns, rows, and whether there were more."""
        session = self.open_session(caller)
        return run_query(session, self.sql)
