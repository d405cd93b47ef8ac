"""Finding the session that a tool is to be about."""

from typing import Any

from pydantic import Field

from contextstudio.accounts.domain.caller import Caller
from operations.tools.tool import Tool
from threads.sessions.presentation import present_session
from threads.store.selectors import list_sessions


class ListSessions(Tool):
    """List the sessions that you may see, the last changed first, with their ids.

    Every other tool needs a session_id: take it from here unless you were told one. `query`
    is a part of the title, ignoring case; `project` its slug.

    Example: {"query": "night sailings"}
    """

    name = "list_sessions"
    reads_only = True

    query: str = Field("", max_length=300, description="A part of the title.")
    limit: int = Field(20, ge=1, le=500, description="How many at most.")

    def call(self, caller: Caller) -> dict[str, Any]:
        """The sessions."""
        page = list_sessions(
            caller, project=self.project, query=self.query, limit=self.limit
        )
        return {"sessions": [present_session(session) for session in page.items]}
