"""Requests of clients, with what was sent for them and what came back."""

import uuid

from django.db import models
from django.db.models.functions import Now

from threads.models import Session


class SessionRequest(models.Model):
    """One request of a client: what it held, what went out in its place, what came back.

    The first half is known once it is aligned and rewritten, the second half where it was
    forwarded, once its reply has ended. Figures that nobody knows are null.
    """

    class Status(models.TextChoices):
        """How far it came."""

        PREPARED = "prepared", "Rewritten"
        """Answered to a client that sends it itself, or not yet sent."""
        SENT = "sent", "Under way"
        ANSWERED = "answered", "Answered"
        PARTIAL = "partial", "Broken off"
        """The reply began and did not end."""
        FAILED = "failed", "Failed"
        REFUSED = "refused", "Refused"
        """By ContextStudio: nothing was sent."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    session = models.ForeignKey(
        Session, models.CASCADE, related_name="requests", db_index=False
    )
    number = models.PositiveIntegerField()
    """From 1, in the order in which the session took them."""
    actor = models.CharField(max_length=64)
    actor_name = models.CharField(max_length=150)
    client = models.CharField(max_length=200, blank=True)
    """What the client calls itself (User-Agent)."""
    door = models.CharField(max_length=16)
    """`apply` or `proxy`."""
    format = models.CharField(max_length=32)
    model = models.CharField(max_length=128, blank=True)
    decision = models.CharField(max_length=16)
    """What the request was to the session: `operations.domain.forwarding.plan.RequestDecision`."""
    messages = models.PositiveIntegerField()
    """How many came in, the system prompt with them."""
    known = models.PositiveIntegerField()
    """Of these, how many the session held already, be it in an edit of the client's."""
    new = models.PositiveIntegerField()
    """Of these, how many became originals."""
    unknown = models.PositiveIntegerField()
    """Of these, how many stand in place of originals, or between them, as the client's edit."""
    absent = models.PositiveIntegerField()
    """How many originals the client did not send."""
    tools = models.PositiveIntegerField(default=0)
    """How many tools it offers."""
    edits = models.JSONField(default=list)
    """What was recorded of the client's own edits: `[{key, act, kind, cause, count}]`."""
    head = models.PositiveIntegerField()
    message_count = models.PositiveIntegerField()
    """The session as it was when the request was rewritten: what went out follows from it."""
    applied = models.PositiveIntegerField()
    suspended = models.JSONField(default=dict)
    """Operations that had nothing to act on: their keys, by the reason."""
    tokens_before = models.PositiveBigIntegerField()
    tokens_after = models.PositiveBigIntegerField()
    prepared_ms = models.FloatField()
    """How long it took to align and rewrite."""
    status = models.CharField(max_length=16, choices=Status, default=Status.PREPARED)
    error = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    upstream_status = models.PositiveSmallIntegerField(null=True)
    """The status of the provider's response."""
    input_tokens = models.PositiveBigIntegerField(null=True)
    """As the provider counted them, cached ones with them."""
    cached_tokens = models.PositiveBigIntegerField(null=True)
    """Of the input, read from the provider's cache."""
    cache_written_tokens = models.PositiveBigIntegerField(null=True)
    """Of the input, written to it."""
    output_tokens = models.PositiveBigIntegerField(null=True)
    cost = models.DecimalField(max_digits=16, decimal_places=8, null=True)
    """In dollars, by the price map."""
    first_byte_ms = models.FloatField(null=True)
    """From the request's arrival to the first byte of the reply's body."""
    total_ms = models.FloatField(null=True)
    """To its end."""
    reply_index = models.PositiveIntegerField(null=True)
    """The original that the reply became."""
    reply_digest = models.BinaryField(max_length=32, null=True)
    """Of the provider's id of the reply, where a later request may go on from it by that alone."""
    has_prompt = models.BooleanField(null=True)
    """Whether a system prompt stood beside its messages."""
    is_rewritten = models.BooleanField(null=True)
    """Whether its messages went out as others than its client's, so that its provider keeps those.

    Null where its client did not say all of them, and they were not known.
    """
    sent = models.JSONField(default=list)
    """What went out: runs over the session's `SentPiece`s, `[[start, end], …]`, half-open."""

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["session", "number"], name="one_request_per_number"
            )
        ]
        indexes = [
            models.Index(
                fields=["reply_digest"],
                name="requests_by_their_reply",
                condition=models.Q(reply_digest__isnull=False),
            )
        ]

    def __str__(self) -> str:
        return f"request {self.number} of {self.session_id}"


class RequestEpochs(models.Model):
    """The epochs of a session's requests: `operations.domain.context.epochs.Epochs`.

    There is a row once a request began with anything but what its client sends.
    """

    session = models.OneToOneField(
        Session, on_delete=models.CASCADE, primary_key=True, related_name="+"
    )
    end = models.PositiveIntegerField()
    """Originals before this index answer requests as their client sent them."""
    changed = models.JSONField()
    """The epochs that changes began, the oldest first."""

    def __str__(self) -> str:
        return f"{len(self.changed)} epochs of {self.session_id}"


class SentPiece(models.Model):
    """Something that was sent: tools, the system prompt or a message, once per session.

    It is told by its digest, of its bytes and of what it was made of, so that a request that
    goes on from another adds a row only for what is new.
    """

    class Kind(models.TextChoices):
        """What of a request it is, in the order in which providers read them."""

        TOOLS = "tools", "Tools"
        SYSTEM = "system", "System prompt"
        MESSAGE = "message", "Message"

    session = models.ForeignKey(
        Session, models.CASCADE, related_name="sent_pieces", db_index=False
    )
    number = models.PositiveIntegerField()
    """From 0, in the order in which they were first sent."""
    digest = models.BinaryField(max_length=32)
    kind = models.CharField(max_length=8, choices=Kind)
    keys = models.JSONField(default=list)
    """The messages of the thread that it was made of; none of what a layer or a rule added."""
    tokens = models.PositiveIntegerField()
    content = models.BinaryField()
    """Its JSON as it was sent, compressed (zlib); empty where it was purged."""

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["session", "number"], name="one_sent_piece_per_number"
            ),
            models.UniqueConstraint(
                fields=["session", "digest"], name="one_sent_piece_per_digest"
            ),
        ]

    def __str__(self) -> str:
        return f"piece {self.number} of {self.session_id}"


class ReplyItem(models.Model):
    """An item of a reply that its provider keeps: later requests may name it by its id alone."""

    request = models.ForeignKey(
        SessionRequest, models.CASCADE, related_name="reply_items"
    )
    place = models.PositiveIntegerField()
    """From 0, in its reply."""
    digest = models.BinaryField(max_length=32)
    """Of its id; empty where it has none."""
    content = models.BinaryField()
    """Its JSON, compressed with zlib."""

    class Meta:
        indexes = [models.Index(fields=["digest"], name="reply_items_by_their_ids")]

    def __str__(self) -> str:
        return f"item {self.place} of the reply to {self.request_id}"


class OtherChoice(models.Model):
    """A reply that came beside the one that was recorded: its client may go on from either."""

    request = models.ForeignKey(
        SessionRequest, models.CASCADE, related_name="other_choices"
    )
    digest = models.BinaryField(max_length=32)
    """Of the message, as it is or without its reasoning."""

    def __str__(self) -> str:
        return f"another reply to {self.request_id}"
