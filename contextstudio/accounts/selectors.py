"""Looks up callers, and what they may see: the gate to projects."""

import re
import uuid
from datetime import UTC, datetime

from django.db.models import (
    CharField,
    Count,
    DateTimeField,
    Exists,
    IntegerField,
    Min,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
)
from django.utils import timezone

from contextstudio.database.prepared import Param, Prepared

from .credentials import key_digest
from .domain.caller import Caller
from .domain.errors import Forbidden, Invalid, NotFound
from .domain.paging import Page, clamp, decode_cursor, page
from .domain.rights import RIGHTS_OF, ProjectRole, Right, with_implied
from .idempotency import note_project
from .models import ApiKey, Job, KeyRequest, Membership, Project, User

KEYS_SHOWN = 100
"""Keys per page."""
REQUESTS_SHOWN = 100
"""Requests of a key per page."""


def caller_of_user(user: User) -> Caller:
    roles = _ROLES.rows(user=user.pk)
    return Caller(
        actor=f"user:{user.pk}",
        name=str(user),
        user_id=user.pk,
        rights={project_id: RIGHTS_OF[ProjectRole(role)] for project_id, role in roles},
    )


def caller_of_key(key: ApiKey) -> Caller:
    """The holder of a key from `find_key`: its scopes, limited to its maker's rights."""
    role = getattr(key, "maker_role", None)
    scopes = with_implied(Right(scope) for scope in key.scopes)
    rights = scopes & (RIGHTS_OF[ProjectRole(role)] if role else frozenset())
    recalls: frozenset[int] = frozenset()
    if rights and getattr(key, "is_wide", False):
        of_maker = key.recalls.filter(memberships__user=key.maker_id)
        recalls = frozenset(of_maker.values_list("pk", flat=True)) - {key.project_id}
    return Caller(
        actor=f"key:{key.pk}",
        name=key.name,
        key_id=key.pk,
        rights={key.project_id: rights} if rights else {},
        recalls=recalls,
    )


def find_key(text: str) -> ApiKey | None:
    """The valid key with this text, annotated with its maker's role, or None."""
    return _KEY_OF_SECRET.first(digest=key_digest(text), now=timezone.now())


def caller_of_actor(actor: str) -> Caller:
    """The caller named by a log or a job, with current rights.

    If the account or key is gone there are none; `system` has none either.
    """
    kind, _, number = actor.partition(":")
    if kind == "user" and (user := _PERSON.first(id=number)):
        return caller_of_user(user)
    if kind == "key" and (key := _KEY.first(id=number, now=timezone.now())):
        return caller_of_key(key)
    return Caller(actor=actor, name=actor)


def require(caller: Caller, right: Right, project_id: int) -> None:
    """Raise Forbidden if a caller who sees a project's object lacks the right."""
    note_project(project_id)
    if caller.may(right, project_id):
        return
    doing = "administer" if right is Right.ADMIN else right
    needed = f"This needs the right to {doing} in the project."
    if right is Right.OWN_SESSION:
        needed = "This needs the right to edit, or to keep sessions of its own."
    if caller.is_agent:
        given = (
            f"This key does not have it: make one with the scope {right} on the page Keys, or "
            f"with manage.py create_key --scopes {right}."
        )
    else:
        *others, last = [role for role, rights in RIGHTS_OF.items() if right in rights]
        roles = " or ".join(filter(None, (", ".join(others), last)))
        given = f"A member with the role {roles} has it; an owner can give that role."
    raise Forbidden(f"{needed} {given}", facts={"right": right.value})


def visible_projects(caller: Caller) -> QuerySet[Project]:
    """The projects that the caller may see, by name."""
    ids = caller.projects(Right.READ)
    return Project.objects.filter(pk__in=ids).order_by("name", "pk")


def get_project(caller: Caller, slug: str, right: Right = Right.READ) -> Project:
    """The project, for a caller who has the right in it.

    Raises NotFound for a stranger, Forbidden for a member who lacks the right.
    """
    project = _named(visible_projects(caller), slug)
    require(caller, right, project.pk)
    return project


def recallable_projects(caller: Caller, slug: str | None = None) -> QuerySet[Project]:
    """The projects whose memos and messages the caller may recall, or only the one with this slug.

    Raises NotFound if the slug is not one of them.
    """
    projects = Project.objects.filter(pk__in=caller.recallable)
    if slug is None:
        return projects
    return projects.filter(pk=_named(projects, slug).pk)


def _named(projects: QuerySet[Project], slug: str) -> Project:
    is_slug = slug.isascii() and slug.isprintable()  # databases refuse other characters
    project = projects.filter(slug=slug).first() if is_slug else None
    # 404 rather than 403: a stranger must not learn that it exists.
    if project is None:
        raise NotFound("There is no such project.", at=["project"])
    return project


def list_projects(
    caller: Caller, *, cursor: str | None = None, limit: int | None = None
) -> Page[Project]:
    """The projects that the caller may see, by slug."""
    projects = visible_projects(caller).order_by("slug")
    if cursor:
        projects = projects.filter(slug__gt=_after(cursor))
    count = clamp(limit)
    return page(list(projects[: count + 1]), count, lambda project: [project.slug])


def list_members(
    project: Project,
    *,
    words: str = "",
    cursor: str | None = None,
    limit: int | None = None,
) -> Page[Membership]:
    """The members of a project by name, for a caller who has passed its gate.

    With `words`, only members whose username or display name contains each word.
    """
    members = project.memberships.select_related("user").order_by("user__username")
    for word in words.split():
        shown = Q(user__display_name__icontains=word)
        members = members.filter(shown | Q(user__username__icontains=word))
    if cursor:
        members = members.filter(user__username__gt=_after(cursor))
    count = clamp(limit)
    return page(list(members[: count + 1]), count, lambda one: [one.user.username])


def _after(cursor: str) -> str:
    """The name after which a page begins. Raises Invalid."""
    (name,) = decode_cursor(cursor, 1)
    # What no database accepts: NUL, and lone surrogates.
    if not isinstance(name, str) or re.search("[\x00\ud800-\udfff]", name):
        raise Invalid("This cursor does not belong to this list.", at=["cursor"])
    return name


def get_member(project: Project, username: str) -> User:
    """A member of a project, for a caller who has passed its gate. Raises NotFound."""
    found = project.memberships.filter(user__username=username.replace("\x00", " "))
    membership = found.select_related("user").first()
    if membership is None:
        raise NotFound("There is no such member.", at=["username"])
    return membership.user


def default_project(caller: Caller, right: Right = Right.READ) -> Project | None:
    """The project meant by a request that names none: the only one with this right, or None."""
    ids = caller.projects(right)
    return _PROJECT.first(id=next(iter(ids))) if len(ids) == 1 else None


_PERSON = Prepared(
    lambda: User.objects.filter(is_active=True, pk=Param("id", IntegerField()))
)
_ROLES = Prepared(
    lambda: Membership.objects.filter(user=Param("user", IntegerField())).values_list(
        "project_id", "role"
    )
)
_PROJECT = Prepared(lambda: Project.objects.filter(pk=Param("id", IntegerField())))


def project_named(slug: str) -> Project:
    """The project, for the operator's commands, which need no right. Raises NotFound."""
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        raise NotFound(f"There is no project {slug}.", at=["project"])
    return project


def user_named(username: str) -> User:
    """The active user, for a caller who may make anybody a member. Raises NotFound."""
    user = User.objects.filter(
        username=username.replace("\x00", " "), is_active=True
    ).first()
    if user is None:
        raise NotFound(f"There is no user {username[:150]}.", at=["username"])
    return user


def get_job(caller: Caller, job_id: uuid.UUID, right: Right = Right.READ) -> Job:
    """The job, for a caller with the right in its project. Raises NotFound or Forbidden."""
    jobs = Job.objects.filter(project__in=visible_projects(caller))
    job = jobs.filter(pk=job_id).first()
    if job is None or job.project_id is None:
        raise NotFound("There is no such job.", at=["job_id"])
    require(caller, right, job.project_id)
    return job


def get_job_to_change(caller: Caller, job_id: uuid.UUID) -> Job:
    """The job, if the caller asked for it or may edit in its project. Raises as `get_job`."""
    job = get_job(caller, job_id)
    return job if job.actor == caller.actor else get_job(caller, job_id, Right.EDIT)


def list_jobs(
    caller: Caller,
    *,
    status: str | None = None,
    project: str | None = None,
    cursor: str | None = None,
    limit: int | None = None,
) -> Page[Job]:
    """The jobs of the projects that the caller may see, newest first."""
    projects = visible_projects(caller)
    if project is not None:
        projects = Project.objects.filter(pk=get_project(caller, project).pk)
    jobs = Job.objects.filter(project__in=projects).select_related("project")
    if status is not None:
        jobs = jobs.filter(status=status)
    if cursor:
        jobs = jobs.filter(_before(cursor))
    count, ordered = clamp(limit), jobs.order_by("-created_at", "-pk")
    found = list(ordered[: count + 1])
    return page(found, count, lambda job: [job.created_at.isoformat(), str(job.pk)])


def _before(cursor: str) -> Q:
    """A filter for jobs created before the last one of a page. Raises Invalid."""
    try:
        moment, key = decode_cursor(cursor, 2)
        created = datetime.fromisoformat(moment).astimezone(UTC)
        job_id = uuid.UUID(key)
    except (TypeError, ValueError, AttributeError, OverflowError):
        raise Invalid(
            "This cursor does not belong to this list.", at=["cursor"]
        ) from None
    return Q(created_at__lt=created) | Q(created_at=created, pk__lt=job_id)


def count_jobs() -> dict[str, int]:
    """The number of jobs by status, including statuses without any."""
    counted = Job.objects.values_list("status").annotate(Count("pk"))
    return {status.value: 0 for status in Job.Status} | dict(counted)


def oldest_due_job() -> datetime | None:
    """Since when the oldest runnable job has been waiting; None if there is none."""
    due = Job.objects.filter(status=Job.Status.QUEUED, run_after__lte=timezone.now())
    oldest: datetime | None = due.aggregate(Min("run_after"))["run_after__min"]
    return oldest


def list_keys(caller: Caller) -> QuerySet[ApiKey]:
    """The unrevoked keys of the caller, and all keys of projects that they administer.

    If the caller is a key, its own is itself.
    """
    keys = ApiKey.objects.filter(revoked_at=None, project__in=visible_projects(caller))
    own = Q(pk=caller.key_id) if caller.is_agent else Q(maker_id=caller.user_id)
    visible = keys.filter(own | Q(project__in=caller.projects(Right.ADMIN)))
    return visible.select_related("project", "maker").order_by("-created_at", "-pk")


def newest_keys(caller: Caller, before: int | None = None) -> tuple[list[ApiKey], bool]:
    """The newest keys, or those before an id, and whether there are older ones."""
    keys = list_keys(caller).order_by("-pk")
    if before is not None:
        keys = keys.filter(pk__lt=before)
    found = list(keys[: KEYS_SHOWN + 1])
    return found[:KEYS_SHOWN], len(found) > KEYS_SHOWN


def get_key(caller: Caller, key_id: int, *, lock: bool = False) -> ApiKey:
    """An unrevoked key of the caller, or of a project they administer. Raises NotFound.

    `lock` holds its row until the transaction ends.
    """
    keys = list_keys(caller).filter(pk=key_id)
    if lock:
        keys = keys.select_for_update(of=("self",), no_key=True)
    key = keys.first()
    if key is None:
        raise NotFound("There is no such key.", at=["key_id"])
    return key


def list_requests(
    key: ApiKey, before: int | None = None
) -> tuple[list[KeyRequest], bool]:
    """The newest requests of a key, or those before an id, and whether there are older ones.

    For a caller who has passed the key's gate.
    """
    rows = key.requests.order_by("-pk")
    if before is not None:
        rows = rows.filter(pk__lt=before)
    found = list(rows[: REQUESTS_SHOWN + 1])
    return found[:REQUESTS_SHOWN], len(found) > REQUESTS_SHOWN


def _valid_keys(now: Param) -> QuerySet[ApiKey]:
    project, maker = OuterRef("project"), OuterRef("maker")
    role = Membership.objects.filter(project=project, user=maker)
    further = ApiKey.objects.filter(pk=OuterRef("pk"), recalls__isnull=False)
    in_time = Q(expires_at=None) | Q(expires_at__gt=now)
    keys = ApiKey.objects.filter(in_time, revoked_at=None, maker__is_active=True)
    return keys.annotate(
        maker_role=Subquery(role.values("role")[:1]), is_wide=Exists(further)
    )


def _key_of_secret() -> QuerySet[ApiKey]:
    digest, now = Param("digest", CharField()), Param("now", DateTimeField())
    old = Q(previous_digest=digest, previous_until__gt=now)
    return _valid_keys(now).filter(Q(digest=digest) | old).order_by("pk")[:1]


_KEY_OF_SECRET = Prepared(_key_of_secret)
_KEY = Prepared(
    lambda: _valid_keys(Param("now", DateTimeField())).filter(
        pk=Param("id", IntegerField())
    )
)


def project_to_edit(
    caller: Caller, slug: str | None, right: Right = Right.EDIT
) -> Project:
    """The named project, or the only one in which the caller has this right.

    Raises Invalid if there are several, Forbidden if there is none.
    """
    if slug is not None:
        return get_project(caller, slug, right)
    project = default_project(caller, right)
    if project is None:
        for project_id in caller.projects(Right.READ)[:1]:
            if not caller.projects(right):
                require(caller, right, project_id)
        raise Invalid(
            "You can write to several projects: name one in project.", at=["project"]
        )
    return project
