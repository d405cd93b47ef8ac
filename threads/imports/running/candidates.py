"""Finds the sessions a transcript may belong to: earlier versions of it, or holders of a branch."""

import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import CharField, IntegerField, Q, QuerySet, UUIDField

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.models import Project
from contextstudio.database.prepared import Param, Prepared
from threads.domain.transcript import Relation, Transcript
from threads.imports.archives import KeptFile
from threads.imports.upload import Upload
from threads.models import Session, Source
from threads.store.selectors import get_session


def _standing(project: Any, stage: Any) -> QuerySet[Session]:
    """Sessions that a transcript may continue: published ones, and those staged by the import."""
    here = Session.objects.filter(project=project, deleted_at=None)
    if stage is None:
        return here.filter(staged_by=None)
    return here.filter(Q(staged_by=None) | Q(staged_by=stage))


def _given_standing(is_staged: bool) -> QuerySet[Session]:
    stage = Param("stage", UUIDField()) if is_staged else None
    return _standing(Param("project", IntegerField()), stage)


# Queried for each file, most of which are small: building the SQL takes longer than running it.
_FILE = Prepared(
    lambda: Source.objects.filter(
        project=Param("project", IntegerField()), sha256=Param("sha256", CharField())
    ).values_list("pk", flat=True)[:1]
)
_OWN = Prepared(
    lambda is_staged: (
        _given_standing(is_staged)
        .filter(external_id=Param("external_id", CharField()))
        .order_by("pk")[:1]
    )
)
_BRANCHES = Prepared(
    lambda is_staged: (
        _given_standing(is_staged)
        .filter(
            parent_external_id=Param("external_id", CharField()),
            relation=Relation.BRANCH,
        )
        .order_by("created_at", "pk")
    )
)


@dataclass(frozen=True, slots=True)
class Candidates:
    """The sessions to which the transcripts of one import may belong."""

    caller: Caller
    project: Project
    upload: Upload
    stage: uuid.UUID | None

    def sessions(self) -> QuerySet[Session]:
        """All sessions that a transcript may continue."""
        return _standing(self.project, self.stage)

    def is_read(self, one: KeptFile) -> bool:
        """Whether exactly these bytes were imported before."""
        return bool(_FILE.rows(project=self.project.pk, sha256=one.sha256))

    def earlier_versions(
        self, transcript: Transcript
    ) -> Iterator[tuple[Session, bool]]:
        """The sessions that a transcript may be a longer version of, likeliest first.

        Each comes with whether the transcript goes back in it. First the session with the
        transcript's own id, then branches that diverged from it under the same id, then the first
        session again, going back in it, then its other branches.
        """
        if self.upload.session_id is not None:
            named = get_session(self.caller, self.upload.session_id, Right.EDIT)
            yield from ((named, False), (named, True))
        elif transcript.external_id is not None:
            shape = self.stage is not None
            asked = {
                "project": self.project.pk,
                "stage": self.stage,
                "external_id": transcript.external_id,
            }
            own = _OWN.rows(shape, **asked)
            yield from ((one, False) for one in own)
            branches = _BRANCHES.rows(shape, **asked)
            yield from ((one, False) for one in branches if one.external_id is None)
            if own:  # else branches with ids of their own wait for it as parent
                yield own[0], True
                yield from ((one, False) for one in branches if one.external_id)

    def holders_of_branch(self, transcript: Transcript) -> Iterable[Session]:
        """The sessions that may already hold a branch: its parent, and the parent's other branches.

        What was the only course of a session when it was first imported becomes a branch of it once
        the tool has rewound the conversation.
        """
        parent = transcript.parent
        if self.upload.session_id is not None or parent is None:
            return ()
        if parent.relation != Relation.BRANCH:
            return ()
        is_one = Q(external_id=parent.external_id) | Q(
            external_id=None,
            parent_external_id=parent.external_id,
            relation=Relation.BRANCH,
        )
        return self.sessions().filter(is_one).order_by("created_at", "pk")
