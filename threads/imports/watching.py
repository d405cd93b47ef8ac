"""Follows a folder of transcripts live: what is appended to its files is imported at once.

Made for the folders that coding agents write (`~/.claude/projects`, `~/.codex/sessions`). There a
conversation is a `.jsonl` file that only grows; what belongs to it (sub-agents, their notes) is in
a folder of the same name beside it. Everything from one watched folder is one import, whose report
grows with it; only the newest version of a growing file is kept.
"""

import io
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from django.db import close_old_connections

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import DomainError
from contextstudio.accounts.models import Project
from contextstudio.database.outages import FAULTS, is_outage
from threads import imports
from threads.models import Import
from threads.store import blobs

from .running.outcome import begin_row, write_report
from .upload import keep_folder

logger = logging.getLogger(__name__)

SUFFIX = ".jsonl"
QUIET_SECONDS = 2.0
"""Seconds without a change after which an answer counts as complete. A tool writes an answer block
by block, and each block imported alone would become a message of its own."""
_CHUNK = 1 << 16


@dataclass(slots=True)
class Watcher:
    """A watched folder. Its owner calls `changed` and `import_quiet`."""

    caller: Caller
    project: Project
    folder: Path
    tell: Callable[[str], object] = lambda _: None
    """Called with one line for each file from which messages were imported, and of outages."""
    clock: Callable[[], float] = time.monotonic
    row: Import | None = None
    _waiting: dict[Path, float] = field(default_factory=dict)
    """Conversations whose last answer may continue, with the time of their last change."""
    _sizes: dict[Path, int] = field(default_factory=dict)
    _is_away: bool = False
    """Whether the database or the disk can't be used, as the last try found."""
    _is_unreported: bool = False

    @property
    def name(self) -> str:
        """The name of its import; a later run on the same folder continues that import."""
        return f"{self.folder} (watched)"

    def begin(self) -> None:
        known = Import.objects.filter(project=self.project, name=self.name[:255])
        self.row = known.order_by("-created_at").first()
        if self.row is not None:
            imports.publish_staged(self.caller, self.project, self.row)
        for path in sorted(self.folder.rglob(f"*{SUFFIX}")):
            if self._main_of(path) != path:
                continue
            if time.time() - _changed_at(path) < QUIET_SECONDS:
                self.changed([path])
            else:
                self._import(path)
        self._write_report()

    def changed(self, paths: Iterable[Path]) -> None:
        """Import what was written; the last answer waits until it is complete."""
        mains = {self._main_of(path): None for path in sorted(paths)}
        for main in mains:
            if main is not None and main.is_file():
                self._waiting[main] = self.clock()
                self._import(main, hold_back=True)

    def import_quiet(self) -> None:
        """Import the last answers of files that have not changed for `QUIET_SECONDS`."""
        now = self.clock()
        quiet = [
            path for path, at in self._waiting.items() if now - at >= QUIET_SECONDS
        ]
        for path in quiet:
            del self._waiting[path]
            self._import(path)
        if quiet or self._is_unreported:
            self._write_report()

    def end(self) -> None:
        for path in list(self._waiting):
            self._import(path)
        self._waiting.clear()
        self._write_report()

    def _main_of(self, path: Path) -> Path | None:
        """The conversation that a file belongs to: itself, or the one its folder is named after.

        None for the watched folder itself, which is reported when it is moved or removed.
        """
        if self.folder not in path.parents:
            return None
        for parent in path.parents:
            if parent == self.folder:
                break
            beside = parent.with_name(parent.name + SUFFIX)
            if beside.is_file():
                return beside
        return path if path.suffix == SUFFIX else None

    def _import(self, main: Path, *, hold_back: bool = False) -> None:
        """Import a conversation and the files that belong to it, as far as they are written."""
        try:
            sizes = {path: _written(path) for path in self._family(main)}
        except OSError as error:
            logger.warning("%s can't be read: %s.", main, error.strerror)
            return
        if not hold_back and sizes.items() <= self._sizes.items():
            return
        try:
            recorded = self._take(sizes, hold_back=hold_back)
        except (
            FileNotFoundError,
            DomainError,
        ):  # a file was removed since it was measured
            return
        except FAULTS as fault:
            self._meet(fault)
            self._waiting[main] = self.clock()
            return
        self._is_away = False
        if not hold_back:
            self._sizes.update(sizes)
        if recorded:
            count = "1 message" if recorded == 1 else f"{recorded:,} messages"
            self.tell(f"{main.relative_to(self.folder)}: {count}")

    def _take(self, sizes: dict[Path, int], *, hold_back: bool) -> int:
        """Import files, up to their sizes, into the watch's row; returns how many messages came."""
        kept = [
            (
                path.relative_to(self.folder).as_posix(),
                partial(blobs.store_beginning, path, size),
            )
            for path, size in sizes.items()
            if size
        ]
        if not kept:
            return 0
        if self.row is None:
            self.row = begin_row(self.caller, self.project, self.name)
        upload = keep_folder(kept, name=self.name, hold_back=hold_back)
        return imports.import_growth(self.caller, self.project, upload, self.row)

    def _family(self, main: Path) -> Iterator[Path]:
        """A conversation's file and those in its folder; links are not followed.

        An agent may write to the folder, and could have any file read by linking to it.
        """
        beside = main.with_suffix("")
        held = sorted(beside.rglob("*")) if self._is_own(beside) else []
        yield from (
            path for path in (main, *held) if path.is_file() and self._is_own(path)
        )

    def _is_own(self, path: Path) -> bool:
        """Whether no part of a path is a link."""
        own = self.folder.resolve() / path.relative_to(self.folder)
        return path.resolve() == own

    def _write_report(self) -> None:
        if self.row is None:
            return
        self._is_unreported = False
        try:
            write_report(self.row)
        except FAULTS as fault:
            self._meet(fault)
            self._is_unreported = True

    def _meet(self, fault: Exception) -> None:
        """Go on after an outage, which is told once; raises what is none."""
        if not is_outage(fault):
            raise fault
        close_old_connections()
        if not self._is_away:
            cause = " ".join(str(fault).split())
            self.tell(
                f"Nothing can be imported at the moment, so it is tried again: {cause}"
            )
        self._is_away = True


def _changed_at(path: Path) -> float:
    """When a file last changed, in seconds since the epoch; 0 if it is gone."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0


def _written(path: Path) -> int:
    """How many bytes of a file are complete: for a `.jsonl` file, up to the last line end."""
    with path.open("rb") as file:
        end = file.seek(0, io.SEEK_END)
        if path.suffix != SUFFIX:
            return end
        while end:
            start = max(0, end - _CHUNK)
            file.seek(start)
            place = file.read(end - start).rfind(b"\n")
            if place >= 0:
                return start + place + 1
            end = start
    return 0
