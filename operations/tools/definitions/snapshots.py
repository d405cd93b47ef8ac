"""The tool that takes snapshots of a session and restores them."""

from typing import Any, Literal

from pydantic import Field

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import DomainError, Invalid
from operations.edits.schemas import present_transaction
from operations.snapshots import services
from operations.snapshots.schemas import present_snapshot
from operations.snapshots.selectors import MAX_NAME_LENGTH, list_snapshots
from operations.tools.tool import SessionTool


class ManageSnapshots(SessionTool):
    """Name the point where a session is now, and go back to such a point later.

    Use it before a larger change. `take` gives this point the name in `snapshot`.
    `restore` lets the operations apply as they did there: what came since is reverted, all of
    it undone by one undo_operation; messages that came since stay, and so do redactions. It
    needs the right to edit. `list` shows the points, the newest first; `delete` forgets one.

    Example: {"session_id": "…", "action": "take", "snapshot": "before the rewrite"}
    """

    name = "manage_snapshots"
    group = "log"

    action: Literal["list", "take", "restore", "delete"]
    snapshot: str | None = Field(
        None,
        max_length=MAX_NAME_LENGTH,
        description="Name of the point, without a slash; not with `list`.",
    )

    def call(self, caller: Caller) -> dict[str, Any]:
        if (self.snapshot is None) != (self.action == "list"):
            raise Invalid(
                "The action list takes no snapshot."
                if self.action == "list"
                else f"The action {self.action} needs a snapshot.",
                at=["snapshot"],
            )
        if self.snapshot is None:
            points = list_snapshots(self.open_session(caller))
            return {"snapshots": list(map(present_snapshot, points))}
        try:
            return self._act(caller, self.snapshot)
        except DomainError as error:
            error.at = tuple("snapshot" if at == "name" else at for at in error.at)
            raise

    def _act(self, caller: Caller, name: str) -> dict[str, Any]:
        head = self.expected_head
        match self.action:
            case "take":
                made = services.take_snapshot(
                    caller, self.session_id, name, expected_head=head
                )
                return present_snapshot(made)
            case "restore":
                restored = services.restore(
                    caller, self.session_id, name, expected_head=head
                )
                return present_transaction(restored)
        with self.held_session(caller):
            services.delete_snapshot(caller, self.session_id, name)
        return {"success": True}
