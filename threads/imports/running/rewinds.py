"""Follows a conversation that went back: the newer file's thread takes another course.

A tool that only appends to its file leaves in it what the conversation left. So each message that a
session holds is recognised by the bytes it was read from, on whichever course it lies; all other
messages are new and follow. If the file doesn't begin with its earlier versions, or somebody else
added to the session, nothing shows that it is the same conversation that went back.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from threads.domain.body import digest
from threads.domain.message import Message as GivenMessage
from threads.domain.transcript import Compaction, Transcript, Warning
from threads.imports import hooks
from threads.imports.hooks import CompactedMessages, CourseChange
from threads.models import Message, Session
from threads.store.alignment import Alignment, Diverged
from threads.store.recording import named_by_hash

from . import growth

FILE_RECORD_PREFIX = "bytes:"
"""Prefix of a record's location in the one file that a session is read from."""


@dataclass(frozen=True, slots=True)
class LinesRead:
    """Which originals of a session were read from which records of its file."""

    by_record: dict[str, int] = field(default_factory=dict)
    indexes: set[int] = field(default_factory=set)
    """The originals that were read from any record."""

    @classmethod
    def of(cls, session: Session) -> "LinesRead":
        lines = cls()
        rows = Message.objects.filter(session=session).exclude(source=None)
        for index, records in rows.values_list("index", "records").iterator():
            own = [one for one in records if one.startswith(FILE_RECORD_PREFIX)]
            lines.by_record.update(dict.fromkeys(own, index))
            if own:
                lines.indexes.add(index)
        return lines

    def holds_all(self, transcript: Transcript) -> bool:
        """Whether every message of a transcript was read; stops at the first that wasn't."""
        return all(
            any(record in self.by_record for record in one.records)
            for one in growth.whole(transcript.items)
            if isinstance(one, GivenMessage)
        )


class Course(NamedTuple):
    """The originals of a session that a transcript passes through, and the ranges that it left."""

    kept: list[int]
    left: list[range]
    compactions: list[CompactedMessages]
    """The tool's own compactions on this course."""

    @property
    def end(self) -> int:
        """The index of the last original on the course; -1 if there is none."""
        return self.kept[-1] if self.kept else -1


def course_of(
    session: Session, transcript: Transcript, digests: Sequence[bytes], lines: LinesRead
) -> Course | None:
    """The course of a transcript through its session; None if it doesn't belong to this session.

    An answer that is held back is on the course as far as the session has it.
    """
    kept = _kept(transcript, digests, lines)
    if kept is None:
        return None
    left = _runs_between(kept, len(digests))
    if not lines.indexes.issuperset(chain.from_iterable(left)):
        return None  # somebody else appended to the session
    alignment = Alignment.along(session, digests, kept)
    compactions: list[CompactedMessages] = []
    for item in growth.whole(transcript.items):
        if isinstance(item, GivenMessage):
            try:
                alignment.place(item)
            except Diverged:
                return None
        elif isinstance(item, Compaction):
            hidden = chain.from_iterable(map(alignment.indexes, item.replaces))
            compactions.append(CompactedMessages(tuple(hidden), item.messages))
    return Course(kept, left, compactions)


class Rewind(NamedTuple):
    """A course that a thread follows, and what to report if it was not on that course before."""

    course: Course | None
    warnings: Sequence[Warning] = ()


NOT_REWOUND = Rewind(None)


def follow_course(session: Session, course: Course | None) -> Rewind:
    """Make the thread of a session show a course, if there is one."""
    if course is None:
        return NOT_REWOUND
    standing = Session.objects.get(pk=session.pk)
    change = hooks.follow(standing, course.left, course.compactions)
    if not change.left and not change.shown:
        return Rewind(course)
    words = _rewind_sentence(course, change, session.title)
    return Rewind(course, [Warning("rewound", words)])


def repetition_warnings(session: Session, branches: Sequence[Session]) -> list[Warning]:
    """The warnings for branches whose messages the session now holds as well."""
    words = (
        f'"{session.title}" now has all messages ({branch.message_count:,}) of its '
        f'branch "{branch.title}"; the branch stays as it is.'
        for branch in branches
    )
    return [Warning("repeated", one) for one in words]


def _rewind_sentence(course: Course, followed: CourseChange, title: str) -> str:
    where = f"#{course.end}" if course.kept else "its beginning"
    words = f'In "{title}" the conversation went back to {where}'
    if followed.left:
        words += f"; what it left, {_ranges_in_words(followed.left)}, is folded"
    if followed.shown:
        words += (
            f"; what it came back to, {_ranges_in_words(followed.shown)}, is unfolded"
        )
    return words + "."


def _kept(
    transcript: Transcript, digests: Sequence[bytes], lines: LinesRead
) -> list[int] | None:
    """The originals that a transcript begins with, in order; None if their order differs."""
    kept: list[int] = []
    is_beyond = False
    for item in growth.whole(transcript.items):
        if not isinstance(item, GivenMessage):
            continue
        following = kept[-1] + 1 if kept else 0
        found = {lines.by_record.get(one) for one in item.records} - {None}
        if not found and not is_beyond and _is_at(item, digests, following):
            found = {following}
        indexes = sorted(index for index in found if index is not None)
        if indexes and (is_beyond or indexes[0] < following):
            return None
        kept += indexes
        is_beyond = is_beyond or not indexes
    return kept


def _is_at(item: GivenMessage, digests: Sequence[bytes], index: int) -> bool:
    """Whether the original at an index has the same content as a message."""
    if index >= len(digests):
        return False
    return digest(item.role, named_by_hash(item.parts)) == digests[index]


def _runs_between(kept: Sequence[int], count: int) -> list[range]:
    """The ranges of originals between those kept."""
    runs, start = [], 0
    for index in (*kept, count):
        if index > start:
            runs.append(range(start, index))
        start = index + 1
    return runs


def _ranges_in_words(runs: Sequence[range]) -> str:
    """Ranges of originals in words."""
    words = [
        f"#{run.start}–#{run[-1]}" if len(run) > 1 else f"#{run.start}" for run in runs
    ]
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last
