"""The methods for a session's snapshots."""

from abc import abstractmethod

from .exchange import Flow
from .requests import erase, get, given, send
from .shapes import Snapshot, Snapshots, Switched
from .transports import call


class SnapshotsApi:
    """The snapshots of a session: named points, to compare with and to go back to."""

    @abstractmethod
    def _path(self, *steps: object) -> Flow[str]: ...

    @call
    def snapshots(self) -> Flow[list[Snapshot]]:
        """List its snapshots, newest first. `context(snapshot=…)` shows the context at one."""
        where = yield from self._path("snapshots")
        return (yield from get(where, Snapshots)).items

    @call
    def take_snapshot(
        self, name: str, *, expected_head: int | None = None
    ) -> Flow[Snapshot]:
        """Take a snapshot of its current state. Raises Conflict (`taken`)."""
        where = yield from self._path("snapshots")
        body = given(name=name, expected_head=expected_head)
        return (yield from send("POST", where, Snapshot, body))

    @call
    def restore_snapshot(
        self, name: str, *, expected_head: int | None = None
    ) -> Flow[Switched]:
        """Restore the operations as they applied at a snapshot; one `undo` reverts this."""
        where = yield from self._path("snapshots", name, "restore")
        body = given(expected_head=expected_head)
        return (yield from send("POST", where, Switched, body))

    @call
    def delete_snapshot(self, name: str) -> Flow[None]:
        """Delete the snapshot; everything else stays."""
        return (yield from erase((yield from self._path("snapshots", name))))
