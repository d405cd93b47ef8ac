"""Sessions that came from one another: which one a transcript continues, and whose child it is."""

from collections.abc import Iterator

from django.db.models import Q, QuerySet

from threads.domain.transcript import Relation, Transcript
from threads.models import Session


def link_parents(project_id: int) -> None:
    """Link the sessions of a project to the parents that are here by now.

    A parent may come later than its children: they carry its id.
    """
    here = Session.objects.filter(
        project_id=project_id, deleted_at=None, staged_by=None
    )
    # `gt` where `exclude` would do, for an index answers it.
    orphans = here.filter(parent=None, parent_external_id__gt="")
    wanted = orphans.values_list("parent_external_id", flat=True).distinct()
    for external_id in list(wanted):
        parent = here.filter(external_id=external_id).first()
        if parent is not None:
            found = orphans.filter(parent_external_id=external_id)
            found.exclude(pk=parent.pk).update(parent=parent)


def earlier_versions(
    sessions: QuerySet[Session], transcript: Transcript
) -> Iterator[Session]:
    """The sessions that a transcript may be a longer version of, the likeliest first.

    One with its own id; then the branches of that, for a transcript that was rewound goes on
    under the same id on another course.
    """
    if transcript.external_id is None:
        return
    external_id = transcript.external_id[:255]
    own = sessions.filter(external_id=external_id).first()
    if own is not None:
        yield own
    branches = sessions.filter(parent_external_id=external_id, relation=Relation.BRANCH)
    yield from branches.order_by("created_at", "pk")


def holders_of_branch(
    sessions: QuerySet[Session], transcript: Transcript
) -> Iterator[Session]:
    """The sessions that may hold a branch already: its parent, and the parent's other branches.

    What was the one course of a session when it was first imported is a branch of it once the
    tool has rewound it.
    """
    parent = transcript.parent
    if parent is None or parent.relation != Relation.BRANCH:
        return
    external_id = parent.external_id[:255]
    is_one = Q(external_id=external_id) | Q(
        external_id=None, parent_external_id=external_id, relation=Relation.BRANCH
    )
    yield from sessions.filter(is_one).order_by("created_at", "pk")
