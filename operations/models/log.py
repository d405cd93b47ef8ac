"""The log, in which entries are inserted and never updated, and what points into it."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

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


class Snapshot(models.Model):
    """A named point of a session: how long its log was, and how many messages it had."""

    session = models.ForeignKey(
        Session, on_delete=models.CASCADE, related_name="snapshots"
    )
    name = models.CharField(max_length=100)
    head = models.PositiveIntegerField()
    message_count = models.PositiveIntegerField()
    actor = models.CharField(max_length=64)
    actor_name = models.CharField(max_length=150)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["session", "name"], name="one_snapshot_per_name"
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} at o{self.head}"


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
