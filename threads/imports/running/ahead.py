"""What sessions hold, read before the transaction in which files are added to them.

A session may have a million messages, and reading their digests would keep all others from writing.
"""

import uuid
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field

from threads.domain.transcript import Relation, Transcript
from threads.imports.archives import KeptFile
from threads.models import Session
from threads.store.alignment import Alignment
from threads.store.originals import load_digests

from .ingest import RecordedEvents, begins_with
from .rewinds import Course, LinesRead, course_of

_Files = Sequence[tuple[int, str, str]]
"""The files that a session was read from, with what became of each."""
_FILE = ("pk", "outcome", "sha256")


@dataclass(slots=True)
class Ahead:
    """Reads what a transcript is laid beside; a second time only what came since."""

    _digests: dict[uuid.UUID, list[bytes]] = field(default_factory=dict)
    _newest: dict[tuple[str, frozenset[tuple[str, int]]], bool] = field(
        default_factory=dict
    )
    """Of a file, by its SHA-256 and others, whether it begins with them."""
    _lines: dict[uuid.UUID, tuple[int, LinesRead]] = field(default_factory=dict)
    _events: dict[tuple[uuid.UUID, str], tuple[_Files, RecordedEvents]] = field(
        default_factory=dict
    )

    def alignment_of(self, session: Session, course: Course | None = None) -> Alignment:
        """The beginning of a transcript beside a session as its row says that it is.

        Or beside the originals of one course of it.
        """
        known = self._digests_of(session)
        if course is None:
            return Alignment(session, known, len(known))
        return Alignment.along(session, known, course.kept)

    def course_of(
        self, session: Session, transcript: Transcript, one: KeptFile
    ) -> Course | None:
        """The course of a transcript through a session, if its file is that one's newest."""
        if not self._is_newest(session, transcript, one):
            return None
        lines = self._lines_of(session)
        return course_of(session, transcript, self._digests_of(session), lines)

    def course_holding(
        self, session: Session, transcript: Transcript, one: KeptFile
    ) -> Course | None:
        """The course of a transcript of which a session has every message."""
        if not self._is_newest(session, transcript, one):
            return None
        if not self._lines_of(session).hold(transcript):
            return None
        return self.course_of(session, transcript, one)

    def branches_on(self, session: Session, course: Sequence[int]) -> list[Session]:
        """The branches of a session that some of its originals begin with, all that they hold."""
        known = self._digests_of(session)
        said = [known[index] for index in course]
        own = Session.objects.filter(parent=session, relation=Relation.BRANCH)
        shown = own.filter(deleted_at=None, staged_by=None, message_count__gt=0)
        found = []
        for branch in shown.order_by("created_at", "pk"):
            its = self._digests_of(branch)
            if said[: len(its)] == its:
                found.append(branch)
        return found

    def _is_newest(
        self, session: Session, transcript: Transcript, one: KeptFile
    ) -> bool:
        """Whether a file begins with everything that a session was read from so far."""
        files = session.sources.filter(format=transcript.format)
        versions = set(files.values_list("sha256", "size"))
        others = frozenset(versions - {(one.sha256, one.size)})
        if not others:
            # What was just made of the file is on the course that it was made of.
            return bool(versions) and session.staged_by is None
        key = (one.sha256, others)
        if key not in self._newest:
            self._newest[key] = begins_with(one.sha256, *others)
        return self._newest[key]

    def _digests_of(self, session: Session) -> list[bytes]:
        """What each original says, of those that a session's row counts."""
        # Originals are only ever added. What was purged since still counts as what it was.
        known = self._digests.setdefault(session.pk, [])
        if len(known) < session.message_count:
            known += load_digests(session, len(known))
        return known[: session.message_count]

    def _lines_of(self, session: Session) -> LinesRead:
        """Which records of its file a session's originals were read from."""
        seen = self._lines.get(session.pk)
        if seen is None or seen[0] != session.message_count:
            seen = self._lines[session.pk] = (
                session.message_count,
                LinesRead.of(session),
            )
        return seen[1]

    def events_of(self, session: Session, sha256: str) -> RecordedEvents:
        """What a session has of the events of a file."""
        files = list(session.sources.order_by("pk").values_list(*_FILE))
        seen = self._events.get((session.pk, sha256))
        if seen is None or seen[0] != files:
            seen = (files, RecordedEvents.of(session, sha256))
            # Of a file that is still being read more events come without another row of it.
            if all(outcome for _, outcome, _ in files):
                self._events[session.pk, sha256] = seen
        return deepcopy(seen[1])
