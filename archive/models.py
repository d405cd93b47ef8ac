"""Models of what outlives a session's context: memos, and what was left out of a thread."""

import uuid

from django.db import models
from django.db.models import CASCADE, SET_NULL
from django.db.models.functions import Now

from contextstudio.accounts.models import Project, index, unique
from threads.models import Session, WordMark


class Memo(models.Model):
    """Something worth knowing in every session of a project."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, CASCADE, related_name="memos")
    session = models.ForeignKey(Session, SET_NULL, null=True, related_name="memos")
    """The session that it came from, as long as that exists."""
    content = models.BinaryField()
    """UTF-8; bytes, because it may quote any text."""
    tags = models.JSONField(default=list)
    actor = models.CharField(max_length=64)
    actor_name = models.CharField(max_length=150)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    changed_at = models.DateTimeField(null=True)
    """When its words or tags were last changed."""
    superseded_by = models.ForeignKey("self", SET_NULL, null=True, related_name="+")
    """The memo that replaces it; this one is no longer found."""
    deleted_at = models.DateTimeField(null=True)
    """Since when it is deleted and shown to nobody."""

    class Meta:
        indexes = [index("memos_newest_first", "project", "-created_at")]

    def __str__(self) -> str:
        return f"memo {self.pk}"


class MemoReader(models.Model):
    """Marks a session that has saved or retrieved a memo, so that memos are among its layers."""

    session = models.OneToOneField(Session, CASCADE, primary_key=True, related_name="+")

    def __str__(self) -> str:
        return f"{self.session_id} reads memos"


class ArchivedContent(models.Model):
    """The parts of an archived message, stored once per project however often it is left out."""

    project = models.ForeignKey(Project, CASCADE, related_name="+", db_index=False)
    digest = models.BinaryField(max_length=32)
    """SHA-256 of the uncompressed content."""
    content = models.BinaryField()
    """The output of `threads.domain.body.encode_parts`, compressed with Zstandard."""

    class Meta:
        constraints = [unique("one_archived_content_per_digest", "project", "digest")]

    def __str__(self) -> str:
        return bytes(self.digest).hex()[:12]


class ArchiveEntry(models.Model):
    """A message, or one result in it, that was archived before it was left out, or by hand."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    ref_id = models.CharField(max_length=200, unique=True)
    """`nexora://<project>/<session>/<message>[:<location>]` with the session's full id."""
    project = models.ForeignKey(Project, CASCADE, related_name="+", db_index=False)
    session = models.ForeignKey(
        Session, CASCADE, related_name="archived", db_index=False
    )
    message_key = models.CharField(max_length=24)
    """The key of the message; `name` is its short id, or the key if it has none."""
    name = models.CharField(max_length=24)
    location = models.CharField(max_length=32, blank=True)
    content_type = models.CharField(max_length=16)
    summary = models.BinaryField()
    """UTF-8; bytes, because it may quote any text."""
    content = models.ForeignKey(
        ArchivedContent, SET_NULL, null=True, related_name="entries"
    )
    """None once the message was purged."""
    file_paths = models.JSONField(default=list)
    tool_name = models.CharField(max_length=128, blank=True)
    token_count = models.PositiveIntegerField()
    rule = models.CharField(max_length=16, blank=True)
    """The pruner's rule that left it out (`archive.domain.pruning.classes.Rule`), if any."""
    original_created_at = models.DateTimeField(null=True)
    archived_at = models.DateTimeField()
    last_accessed_at = models.DateTimeField(null=True)
    access_count = models.PositiveIntegerField(default=0)

    class Meta:
        indexes = [
            index("archive_newest_first", "project", "-archived_at", "-id"),
            index("archive_by_type", "project", "content_type", "-archived_at", "-id"),
            index("archive_by_tool", "project", "tool_name", "-archived_at", "-id"),
            index("archive_by_message", "session", "name"),
        ]

    def __str__(self) -> str:
        return self.ref_id


class TrayItem(models.Model):
    """A reference that somebody collected, to insert it into a thread together with others."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    actor = models.CharField(max_length=64)
    session = models.ForeignKey(Session, CASCADE, related_name="+")
    """The session of the message that it names."""
    ref_id = models.CharField(max_length=200)
    """In the form of `ArchiveEntry.ref_id`; the message need not be archived."""
    added_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [unique("one_tray_item_per_reference", "actor", "ref_id")]

    def __str__(self) -> str:
        return self.ref_id


class EntryWords(models.Model):
    """The searchable words of an entry; written anew when the message is archived again.

    Ids ascend in archiving order; `archive.entries.words` has an index over them.
    """

    entry = models.OneToOneField(ArchiveEntry, CASCADE, related_name="words")
    words = models.TextField()
    """The summary, the tool and the paths, one per line, folded for search."""

    def __str__(self) -> str:
        return f"words of {self.entry_id}"


class EntryMark(WordMark):
    """How far the word index of entries has progressed."""


class SummaryProvider(models.Model):
    """A provider of models that a project set up for its summaries."""

    project = models.ForeignKey(Project, CASCADE, related_name="summary_providers")
    name = models.CharField(max_length=32)
    """A name in the table of `archive.domain.summaries.providers`."""
    base_url = models.CharField(max_length=500, blank=True)
    """Empty for the provider's own address."""
    sealed_key = models.BinaryField(default=b"")
    """Encrypted for this project and origin by `operations.forwarding.upstreams.sealing`."""
    model = models.CharField(max_length=128, blank=True)
    """The model to use; empty for the one in the table."""
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [unique("one_summary_provider_per_name", "project", "name")]

    def __str__(self) -> str:
        return f"{self.name} of {self.project_id}"


class SummarySettings(models.Model):
    """Which model summarises, and whether automatically.

    A session's own settings override those of its project.
    """

    project = models.ForeignKey(Project, CASCADE, related_name="+")
    session = models.OneToOneField(
        Session, CASCADE, null=True, related_name="summary_settings"
    )
    """None for the project's settings."""
    summarization_provider = models.CharField(max_length=32, blank=True)
    summarization_model = models.CharField(max_length=128, blank=True)
    """If provider and model are both empty, the fastest model is used."""
    disable_auto_summarize = models.BooleanField(null=True)
    """None for the project's choice; imported sessions are then never summarised automatically."""

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project"],
                condition=models.Q(session=None),
                name="one_summary_settings_per_project",
            )
        ]

    def __str__(self) -> str:
        return f"summaries of {self.session_id or self.project_id}"
