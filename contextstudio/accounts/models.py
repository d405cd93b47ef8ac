"""People, projects, keys, jobs and the audit record, on which every app builds."""

import uuid

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import CASCADE, SET_NULL
from django.db.models.functions import Now

from .domain.rights import ProjectRole


def unique(name: str, *fields: str) -> models.UniqueConstraint:
    return models.UniqueConstraint(fields=fields, name=name)


def index(name: str, *fields: str) -> models.Index:
    return models.Index(fields=fields, name=name)


class User(AbstractUser):
    """A person. A custom model from the first migration, so that it can grow."""

    display_name = models.CharField(max_length=150, blank=True)

    def __str__(self) -> str:
        return self.display_name or self.username


class Project(models.Model):
    """A tenant and team: the `<project>` of a URI. Projects share nothing."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    slug = models.SlugField(max_length=64, unique=True)
    name = models.CharField(max_length=150)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    members: "models.ManyToManyField[User, Membership]" = models.ManyToManyField(
        User, through="Membership", related_name="projects"
    )

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """A person's role in a project."""

    project = models.ForeignKey(Project, CASCADE, related_name="memberships")
    user = models.ForeignKey(User, CASCADE, related_name="memberships")
    role = models.CharField(
        max_length=16, choices=[(role.value, role.value) for role in ProjectRole]
    )

    class Meta:
        constraints = [unique("one_role_per_member", "project", "user")]

    def __str__(self) -> str:
        return f"{self.user} ({self.role})"


class ApiKey(models.Model):
    """A key of an agent or a script. Only an HMAC of it is stored; it is shown once."""

    project = models.ForeignKey(Project, CASCADE, related_name="keys")
    maker = models.ForeignKey(User, CASCADE, related_name="keys")
    name = models.CharField(max_length=100)
    prefix = models.CharField(max_length=16)
    digest = models.CharField(max_length=64, unique=True)
    previous_digest = models.CharField(max_length=64, null=True, unique=True)
    """Digest of the secret before the last rotation, which works until `previous_until`."""
    previous_until = models.DateTimeField(null=True)
    scopes = models.JSONField(default=list)
    recalls: "models.ManyToManyField[Project, models.Model]" = models.ManyToManyField(
        Project, related_name="+"
    )
    """Further projects whose memos it finds and whose sessions it recalls, as its maker may."""
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    expires_at = models.DateTimeField(null=True)
    requests_per_minute = models.PositiveIntegerField(null=True)
    """None: the server's limit for any key."""
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"


class KeyRequest(models.Model):
    """A request made with a key; the newest of each key are kept, best effort."""

    key = models.ForeignKey(ApiKey, CASCADE, related_name="requests", db_index=False)
    at = models.DateTimeField()
    method = models.CharField(max_length=10)
    route = models.CharField(max_length=200)
    """Its address with names in place of ids, and the tool if MCP called one."""
    status = models.PositiveSmallIntegerField()
    session_id = models.UUIDField(null=True)
    """The session that it concerned, which may be gone by now."""

    class Meta:
        indexes = [index("newest_requests_of_a_key", "key", "-id")]

    def __str__(self) -> str:
        return f"{self.method} {self.route} {self.status}"


class SignInLink(models.Model):
    """A one-time sign-in link; only its hash is stored."""

    user = models.ForeignKey(User, CASCADE)
    digest = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"sign-in link of {self.user}"


class Invitation(models.Model):
    """A link by which one person creates an account or joins a project, stored as a hash."""

    project = models.ForeignKey(Project, CASCADE, related_name="invitations")
    role = models.CharField(
        max_length=16, choices=[(role.value, role.value) for role in ProjectRole]
    )
    maker = models.ForeignKey(User, CASCADE, related_name="+")
    """Who invites; the link is invalid once they may no longer add members."""
    digest = models.CharField(max_length=64, unique=True)
    note = models.CharField(max_length=100, blank=True)
    """Whom it is for, as a note to those who manage the members."""
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    expires_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"invitation to {self.project} ({self.role})"


class TokenBucket(models.Model):
    """The remaining tries of a name or address: each takes a token, refilled over time."""

    key = models.CharField(max_length=128, primary_key=True)
    level = models.FloatField()
    updated_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.key}: {self.level:.1f}"


class Job(models.Model):
    """Work that outlives a request. The row is the truth; waking a worker is best effort."""

    class Status(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"
        ASKS = "asks"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, CASCADE, null=True, related_name="jobs")
    """None for a job of the product itself."""
    actor = models.CharField(max_length=64)
    kind = models.CharField(max_length=64)
    arguments = models.JSONField(default=dict)
    status = models.CharField(max_length=16, choices=Status, default=Status.QUEUED)
    done = models.BigIntegerField(default=0)
    total = models.BigIntegerField(null=True)
    unit = models.CharField(max_length=32, blank=True)
    result = models.JSONField(null=True)
    error = models.TextField(blank=True)
    notes = models.JSONField(
        default=dict, db_default=models.Value({}, models.JSONField())
    )
    """What a run leaves for the next one, and for observers: see `JobContext.note`."""
    attempts = models.PositiveSmallIntegerField(default=0)
    """Runs that ended by themselves or with a fault, and the current one."""
    interruptions = models.PositiveIntegerField(default=0, db_default=0)
    """Runs that ended because their worker did."""
    cancel_requested = models.BooleanField(default=False)
    run_after = models.DateTimeField(db_default=Now())
    lease_owner = models.CharField(max_length=64, blank=True)
    lease_until = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [index("jobs_due", "status", "run_after")]

    def __str__(self) -> str:
        return f"{self.kind} {self.id}"

    @property
    def progress(self) -> str:
        """The progress: `1 session`, `2 of 5 calls`; empty if nothing is done yet."""
        if not self.done:
            return ""
        of = f" of {self.total:,}" if self.total and self.total != self.done else ""
        is_one = self.done == 1 and not of
        unit = self.unit.removesuffix("s") if is_one else self.unit
        return f"{self.done:,}{of} {unit}".strip()


class IdempotentResponse(models.Model):
    """The first response to a request with an Idempotency-Key, kept for a day per caller."""

    actor = models.CharField(max_length=64)
    key = models.CharField(max_length=255)
    request_digest = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True)
    """HTTP status of the first response; null while the first request runs, 410 once purged."""
    body = models.BinaryField(default=b"")
    content_type = models.CharField(max_length=100, blank=True)
    project_id = models.BigIntegerField(null=True, db_index=True)
    """The project in which the request acted: purging content there purges the response too."""
    owner = models.CharField(max_length=32)
    """Random for each claim, so that a run whose lease was taken over has no effect."""
    lease_until = models.DateTimeField()
    created_at = models.DateTimeField()

    class Meta:
        constraints = [unique("one_answer_per_idempotency_key", "actor", "key")]

    def __str__(self) -> str:
        return f"{self.actor} {self.key}"


class AuditEntry(models.Model):
    """Who did what outside the log: keys, members, deletions, exports. Contains no content."""

    project = models.ForeignKey(Project, SET_NULL, null=True)
    actor = models.CharField(max_length=64)
    action = models.CharField(max_length=64)
    object_id = models.CharField(max_length=64)
    at = models.DateTimeField(db_default=Now(), editable=False)

    def __str__(self) -> str:
        return f"{self.actor} {self.action} {self.object_id}"
