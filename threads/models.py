"""Originals: sessions and their messages, which never change once recorded.

Rows of a session are keyed by the session, so that they could be partitioned by it. What
PostgreSQL's text and JSON types would refuse or reorder (NUL, lone surrogates, key order) is stored
as bytes. A foreign key that leads another index of its table has no index of its own
(`db_index=False`): each index is written with every row.
"""

import uuid
from zlib import crc32

from django.db import models
from django.db.models import CASCADE, PROTECT, SET_NULL
from django.db.models.functions import Now

from contextstudio.accounts.models import Project, index, unique


class Session(models.Model):
    """One conversation: its messages, and the log of the operations on them."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(
        Project, CASCADE, related_name="sessions", db_index=False
    )
    title = models.CharField(max_length=300)
    external_id = models.CharField(max_length=255, null=True)
    """The id at its origin. A deleted session keeps it, and another may take it meanwhile."""
    format = models.CharField(max_length=32)
    parsing_strategy = models.CharField(max_length=32, default="openai")
    model = models.CharField(max_length=128, blank=True)
    encoding = models.CharField(max_length=32, default="o200k_base")
    """The encoding in which `tokens` of its messages are counted."""
    can_recall = models.BooleanField(null=True)
    """Whether the last request let the model recall; None before the first request."""
    objective = models.CharField(max_length=500, blank=True)
    message_count = models.PositiveIntegerField(default=0)
    head = models.PositiveIntegerField(default=0)
    """The number of the last entry of the log."""
    original_tokens = models.BigIntegerField(default=0)
    overview = models.JSONField(null=True)
    """What the list shows of the replayed thread: a cache, rebuilt when it is null."""
    parent = models.ForeignKey("self", SET_NULL, null=True, related_name="children")
    """The session that this one is a sub-agent, branch or continuation of."""
    relation = models.CharField(max_length=16, blank=True)
    """The relation to the parent: `threads.domain.transcript.Relation`."""
    parent_call_id = models.CharField(max_length=128, blank=True)
    """The tool call of the parent that started it."""
    parent_external_id = models.CharField(max_length=255, blank=True)
    """The parent's id in the transcript, by which a parent imported later is recognised."""
    staged_by = models.UUIDField(null=True)
    """The job that is still importing it; the session is hidden until this is null."""
    created_by = models.CharField(max_length=64)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    updated_at = models.DateTimeField(db_default=Now())
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "external_id"],
                condition=models.Q(deleted_at=None),
                name="one_session_per_external_id",
            )
        ]
        indexes = [
            index("sessions_newest_first", "project", "-updated_at", "id"),
            index("sessions_by_their_parent", "project", "parent_external_id"),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def title_mark(self) -> int:
        """A checksum that distinguishes its titles without revealing their words."""
        return crc32(self.title.encode(errors="surrogatepass"))


class Body(models.Model):
    """The parts of a message, stored once per role and content within a project.

    Equal content with object members in another order is another body.
    """

    project = models.ForeignKey(Project, CASCADE, related_name="+", db_index=False)
    digest = models.BinaryField(max_length=32)
    """SHA-256 of role and content: `threads.domain.body.body_digest`."""
    canonical = models.BinaryField(max_length=32, null=True)
    """Digest of the meaning, `threads.domain.body.digest`, where it differs from `digest`."""
    content = models.BinaryField()
    """The parts as JSON: `threads.domain.body.encode_parts`."""
    token_counts = models.JSONField(default=dict)
    """Per encoding, the count of each part; they add up to the count of the message."""

    class Meta:
        constraints = [unique("one_body_per_digest", "project", "digest")]

    def __str__(self) -> str:
        return bytes(self.digest).hex()[:12]


class Import(models.Model):
    """One upload, a file or a folder of files, and its report."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, CASCADE, related_name="+", db_index=False)
    name = models.CharField(max_length=255)
    sha256 = models.CharField(max_length=64, blank=True)
    """The hash of the file or archive as uploaded; empty for a folder."""
    size = models.BigIntegerField(default=0)
    staged_by = models.UUIDField(null=True)
    """The job that is still running it, as in `Session.staged_by`."""
    created_by = models.CharField(max_length=64)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    report = models.JSONField(default=dict)

    class Meta:
        indexes = [index("imports_newest_first", "project", "-created_at")]

    def __str__(self) -> str:
        return self.name


class Source(models.Model):
    """A file from which messages were imported, kept byte for byte."""

    project = models.ForeignKey(Project, CASCADE, related_name="+", db_index=False)
    session = models.ForeignKey(Session, CASCADE, null=True, related_name="sources")
    brought_by = models.ForeignKey(Import, SET_NULL, null=True, related_name="sources")
    sha256 = models.CharField(max_length=64)
    size = models.BigIntegerField()
    name = models.CharField(max_length=1024)
    """The name of the file, or its path in the folder or archive that it came in."""
    format = models.CharField(max_length=32, blank=True)
    outcome = models.CharField(max_length=16, blank=True)
    """Its `FileOutcome`; empty while it is being imported."""
    imported_at = models.DateTimeField(db_default=Now(), editable=False)
    report = models.JSONField(default=dict)

    class Meta:
        indexes = [index("sources_by_content", "project", "sha256")]

    def __str__(self) -> str:
        return self.name


class Message(models.Model):
    """An original: the message at one index of a session. Its key is `m<index>`."""

    pk = models.CompositePrimaryKey("session_id", "index")
    session = models.ForeignKey(
        Session, CASCADE, related_name="messages", db_index=False
    )
    index = models.PositiveIntegerField()
    uuid = models.UUIDField(default=uuid.uuid4, editable=False)
    short_id = models.CharField(max_length=12)
    """`msg-` and 8 hex digits, drawn until unique in the session."""
    role = models.CharField(max_length=16)
    body = models.ForeignKey(Body, PROTECT, related_name="+")
    tokens = models.PositiveIntegerField()
    group_id = models.PositiveIntegerField()
    parsing_strategy = models.CharField(max_length=32)
    status = models.CharField(max_length=16, default="complete")
    weight = models.PositiveIntegerField(null=True)
    """Prompt plus completion tokens of the turn, as reported by the provider."""
    usage = models.JSONField(null=True)
    """The summands of `weight`: the members of `threads.domain.message.Usage`."""
    name = models.CharField(max_length=128, blank=True)
    """The speaker, if a transcript names a person or agent besides the role."""
    model = models.CharField(max_length=128, blank=True)
    external_id = models.CharField(max_length=128, blank=True)
    created_at = models.DateTimeField(null=True)
    source = models.ForeignKey(Source, SET_NULL, null=True, related_name="+")
    records = models.JSONField(default=list)
    """Where it is in the source: `threads.domain.message.Message.records`."""

    class Meta:
        constraints = [unique("one_message_per_short_id", "session", "short_id")]

    def __str__(self) -> str:
        return f"m{self.index}"


class Event(models.Model):
    """A record of a transcript that is not a message (progress, a title, a compaction)."""

    session = models.ForeignKey(Session, CASCADE, related_name="events", db_index=False)
    before_index = models.PositiveIntegerField()
    """How many messages precede it in the transcript."""
    type = models.CharField(max_length=64)
    source = models.ForeignKey(Source, CASCADE, related_name="+")
    record = models.CharField(max_length=1024)
    created_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [index("events_in_order", "session", "before_index")]

    def __str__(self) -> str:
        return f"{self.type} before m{self.before_index}"


class Blob(models.Model):
    """An image or file of a message; its bytes are stored by SHA-256 in the data folder."""

    project = models.ForeignKey(Project, CASCADE, related_name="+", db_index=False)
    sha256 = models.CharField(max_length=64)
    media_type = models.CharField(max_length=100)
    size = models.BigIntegerField()

    class Meta:
        constraints = [unique("one_blob_per_content", "project", "sha256")]

    def __str__(self) -> str:
        return self.sha256[:12]


class Rendering(models.Model):
    """The HTML of a body under one version of the renderer: a cache that may be emptied."""

    project = models.ForeignKey(Project, CASCADE, related_name="+", db_index=False)
    digest = models.BinaryField(max_length=32)
    version = models.PositiveSmallIntegerField()
    html = models.TextField()

    class Meta:
        constraints = [
            unique("one_rendering_per_version", "project", "digest", "version")
        ]

    def __str__(self) -> str:
        return bytes(self.digest).hex()[:12]


class WordMark(models.Model):
    """How far a word index has come: one row, created when first needed."""

    through = models.BigIntegerField(default=0)
    """Every text up to this id is in the index, or was never stored."""
    forgotten = models.PositiveBigIntegerField(default=0)
    """Texts removed since the index was last purged of their words."""

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"through {self.through}"


class SearchMark(WordMark):
    """How far the index of messages has come."""


class BodyVectors(models.Model):
    """The vectors of a body, by which search by meaning finds it. A cache."""

    body = models.OneToOneField(Body, CASCADE, primary_key=True, related_name="vectors")
    project = models.ForeignKey(Project, CASCADE, related_name="+", db_index=False)
    """The project of the body."""
    kept = models.BinaryField()
    """The vectors of its passages: `threads.domain.meaning.vectors.pack`."""

    class Meta:
        indexes = [index("vectors_of_a_project", "project", "body")]

    def __str__(self) -> str:
        return f"vectors of {self.body_id}"


class MeaningMark(models.Model):
    """Up to which body vectors exist, and by which model: one row, created when first needed."""

    model = models.CharField(max_length=64, blank=True)
    through = models.BigIntegerField(default=0)
    """Every body with text up to this id has vectors, or was never stored."""

    def __str__(self) -> str:
        return f"{self.model} through {self.through}"
