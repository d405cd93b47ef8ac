"""What outlives a session: memos of agents and people."""

import uuid

from django.db import models
from django.db.models import CASCADE, SET_NULL
from django.db.models.functions import Now

from contextstudio.accounts.models import Project, index
from threads.models import Session


class Memo(models.Model):
    """Something worth knowing in every session of a project."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, CASCADE, related_name="memos")
    session = models.ForeignKey(Session, SET_NULL, null=True, related_name="memos")
    """The session that it came from, while that is there."""
    content = models.BinaryField()
    """UTF-8; bytes, for it may quote any text."""
    tags = models.JSONField(default=list)
    actor = models.CharField(max_length=64)
    actor_name = models.CharField(max_length=150)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    changed_at = models.DateTimeField(null=True)
    """When its words or tags were last changed."""
    superseded_by = models.ForeignKey("self", SET_NULL, null=True, related_name="+")
    """The memo that says it better, or says what is so now: this one is no longer found."""
    deleted_at = models.DateTimeField(null=True)
    """Since when it is no longer shown to anybody."""

    class Meta:
        indexes = [index("memos_newest_first", "project", "-created_at")]

    def __str__(self) -> str:
        return f"memo {self.pk}"


class MemoReader(models.Model):
    """A session that has saved or retrieved a memo: from then on memos are among its layers."""

    session = models.OneToOneField(Session, CASCADE, primary_key=True, related_name="+")

    def __str__(self) -> str:
        return f"{self.session_id} reads memos"
