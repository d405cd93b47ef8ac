"""Reads what sessions hold before the transaction in which files are added to them.

A session may have a million messages; reading their digests inside it would block all writers.
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
"""The files that a session was read from, with their outcomes."""
_FILE = ("pk", "outcome", "sha256")


@dataclass(slots=True)
class ComparisonCache:
    """Reads and caches what transcripts are compared with; later calls read only what is new."""

    _digests: dict[uuid.UUID, list[bytes]] = field(default_factory=dict)
    _newest: dict[tuple[str, frozenset[tuple[str, int]]], bool] = field(
        default_factory=dict
    )
    """Whether a file begins with others, by its SHA-256 and theirs."""
    _lines: dict[uuid.UUID, tuple[int, LinesRead]] = field(default_factory=dict)
    _events: dict[tuple[uuid.UUID, str], tuple[_Files, RecordedEvents]] = field(
        default_factory=dict
    )

    def alignment_of(self, session: Session, course: Course | None = None) -> Alignment:
        """Align the start of a transcript with a session, as long as its row says it is.

        With `course`, align it with the originals of that course only.
        """
        known = self._digests_of(session)
        if course is None:
            return Alignment(session, known, len(known))
        return Alignment.along(session, known, course.kept)

    def course_of(
        self, session: Session, transcript: Transcript, one: KeptFile
    ) -> Course | None:
        """The course of a transcript through a session; None unless its file is the newest one."""
        if not self._is_newest(session, transcript, one):
            return None
        lines = self._lines_of(session)
        return course_of(session, transcript, self._digests_of(session), lines)

    def course_holding(
        self, session: Session, transcript: Transcript, one: KeptFile
    ) -> Course | None:
        """The course of a transcript through a session that holds all its messages, or None."""
        if not self._is_newest(session, transcript, one):
            return None
        if not self._lines_of(session).holds_all(transcript):
            return None
        return self.course_of(session, transcript, one)

    def branches_on(self, session: Session, course: Sequence[int]) -> list[Session]:
        """The branches of a session whose messages are all a prefix of the given course."""
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
        """Whether a file begins with every file that a session was read from so far."""
        files = session.sources.filter(format=transcript.format)
        versions = set(files.values_list("sha256", "size"))
        others = frozenset(versions - {(one.sha256, one.size)})
        if not others:
            # A session just created from this file is already on the file's course.
            return bool(versions) and session.staged_by is None
        key = (one.sha256, others)
        if key not in self._newest:
            self._newest[key] = begins_with(one.sha256, *others)
        return self._newest[key]

    def _digests_of(self, session: Session) -> list[bytes]:
        """The digests of a session's originals, as many as its row counts."""
        # Originals are only ever added. One that was purged keeps the digest of its old content.
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
        """The events of a file that a session already has."""
        files = list(session.sources.order_by("pk").values_list(*_FILE))
        seen = self._events.get((session.pk, sha256))
        if seen is None or seen[0] != files:
            seen = (files, RecordedEvents.of(session, sha256))
            # A file that is still being read gains events without another row.
            if all(outcome for _, outcome, _ in files):
                self._events[session.pk, sha256] = seen
        return deepcopy(seen[1])
