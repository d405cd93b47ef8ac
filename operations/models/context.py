"""What a session keeps beside its messages: policies, STATE, the scratchpad, slices."""

from django.db import models
from django.db.models.functions import Now

from contextstudio.accounts.models import Project
from threads.models import Session


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
