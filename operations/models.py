"""The log: entries are inserted and never updated."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from contextstudio.accounts.models import Project
from threads.models import Session


class LogEntry(models.Model):
    """One entry of a session's log. Its key is `o<number>`."""

    pk = models.CompositePrimaryKey("session_id", "number")
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="log")
    number = models.PositiveIntegerField()
    id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    kind = models.CharField(max_length=16)
    payload = models.BinaryField()
    """JSON as `operations.log.codec` writes it; bytes, for it may quote any text."""
    proposed = models.BooleanField(default=False)
    staged = models.BooleanField(default=False, db_default=False)
    """A proposal that its author collects with others, to commit them as one bundle."""
    bundle = models.UUIDField(null=True)
    actor = models.CharField(max_length=64)
    actor_name = models.CharField(max_length=150)
    title = models.CharField(max_length=300, blank=True)
    """What the operation, or the bundle that it is in, is for."""
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        indexes = [models.Index(fields=["bundle"], name="entries_of_a_bundle")]
        verbose_name_plural = "log entries"

    def __str__(self) -> str:
        return f"o{self.number} {self.kind}"


class Lens(models.Model):
    """A named set of active tags of a session."""

    session = models.ForeignKey(
        Session, on_delete=models.CASCADE, related_name="lenses"
    )
    name = models.CharField(max_length=100)
    tags = models.JSONField(default=list)

    class Meta:
        verbose_name_plural = "lenses"
        constraints = [
            models.UniqueConstraint(
                fields=["session", "name"], name="one_lens_per_name"
            )
        ]

    def __str__(self) -> str:
        return self.name


class OpenFold(models.Model):
    """A fold that a person has opened: theirs alone, kept over reloads."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+"
    )
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="+")
    number = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["user", "session", "number"], name="one_open_fold_per_person"
            )
        ]

    def __str__(self) -> str:
        return f"o{self.number} open for {self.user}"


class SecretScan(models.Model):
    """How far a session was looked through for secrets."""

    session = models.OneToOneField(
        Session, on_delete=models.CASCADE, primary_key=True, related_name="+"
    )
    through = models.PositiveIntegerField(default=0)
    """Originals before this index were looked at."""

    def __str__(self) -> str:
        return f"{self.session_id} through m{self.through}"


class ContextPolicy(models.Model):
    """The policy of a session; without a session the default of a project."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    session = models.OneToOneField(
        Session, null=True, on_delete=models.CASCADE, related_name="+"
    )
    settings = models.JSONField()
    """As `operations.domain.context.policy.encode_policy` writes it."""
    actor = models.CharField(max_length=64)
    actor_name = models.CharField(max_length=150)
    updated_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "context policies"
        constraints = [
            models.UniqueConstraint(
                fields=["project"],
                condition=models.Q(session=None),
                name="one_default_policy_per_project",
            )
        ]

    def __str__(self) -> str:
        return f"policy of {self.session_id or self.project_id}"


class Version(models.Model):
    """One version of a text that a session keeps beside its messages."""

    number = models.PositiveIntegerField()
    """From 1 on."""
    content = models.BinaryField()
    """UTF-8 in which lone surrogates pass; bytes, for it may quote any text."""
    actor = models.CharField(max_length=64)
    actor_name = models.CharField(max_length=150)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        abstract = True


class ScratchpadVersion(Version):
    """A version of a session's scratchpad; the newest is in force."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["session", "number"], name="one_scratchpad_per_number"
            )
        ]

    def __str__(self) -> str:
        return f"scratchpad {self.number} of {self.session_id}"


class StateVersion(Version):
    """STATE that somebody set. What responses hold is read from them and not stored again."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="+")
    message_count = models.PositiveIntegerField()
    """How many messages the session had: what a later response says counts more."""

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["session", "number"], name="one_state_per_number"
            )
        ]

    def __str__(self) -> str:
        return f"state {self.number} of {self.session_id}"


class Slice(models.Model):
    """What one caller wants its next context of a session to hold, and what it found last."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="+")
    actor = models.CharField(max_length=64)
    pending = models.BooleanField(default=False)
    start = models.PositiveIntegerField(null=True)
    end = models.PositiveIntegerField(null=True)
    """Half-open, indexes of originals."""
    include_search_results = models.BooleanField(default=False)
    max_context_messages = models.PositiveIntegerField(null=True)
    matches = models.JSONField(default=list)
    """Indexes of the originals that the last search found."""

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["session", "actor"], name="one_slice_per_caller"
            )
        ]

    def __str__(self) -> str:
        return f"slice of {self.session_id}"
