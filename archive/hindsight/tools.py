"""Hindsight as a tool of agents."""

from typing import Any

from pydantic import Field

from contextstudio.accounts.domain.caller import Caller
from operations.tools.tool import SessionTool

from .schemas import present_hindsight
from .services import of_log


class CheckHindsight(SessionTool):
    """Find out what you left out and needed later: paths, names, numbers, URLs, hashes.

    Of each operation that lost something it answers the references that your later words or
    calls used, though they stood only in what it left out: where they stood (`left_out_in`) and
    where they were used (`used_in`), both keys of messages; of each bundle, as a prune run is
    one, how many. Use it before you sum up or prune more, and say in the next summary what
    turned out to matter.

    Example: {"session_id": "…", "operation": "o7"}
    """

    name = "hindsight"
    group = "log"
    reads_only = True

    operation: str = Field("", max_length=40, description="One alone, by its key.")

    def call(self, caller: Caller) -> dict[str, Any]:
        self.open_session(caller)
        found = present_hindsight(of_log(caller, self.session_id, self.operation))
        for listed in ("operations", "bundles"):
            found[listed] = [one for one in found[listed] if one["lost"]]
        return found
