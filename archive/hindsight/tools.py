"""Hindsight as a tool of agents."""

from typing import Any

from pydantic import Field

from contextstudio.accounts.domain.caller import Caller
from operations.tools.tool import SessionTool

from .schemas import present_hindsight
from .services import of_log


class CheckHindsight(SessionTool):
    """Find out what you left out and needed later: paths, names, numbers, URLs, hashes.

    For each operation that lost something it lists the references that your later words or
    calls used although they stood only in what it left out: where they stood (`left_out_in`)
    and where they were used (`used_in`), both as message keys. For each bundle, such as a prune
    run, it gives their number. Use it before you summarise or prune more, and include in the
    next summary what turned out to matter.

    Example: {"session_id": "…", "operation": "o7"}
    """

    name = "hindsight"
    group = "log"
    reads_only = True

    operation: str = Field(
        "", max_length=40, description="Only this operation, by its key."
    )

    def call(self, caller: Caller) -> dict[str, Any]:
        self.open_session(caller)
        found = present_hindsight(of_log(caller, self.session_id, self.operation))
        for listed in ("operations", "bundles"):
            found[listed] = [one for one in found[listed] if one["lost"]]
        return found
