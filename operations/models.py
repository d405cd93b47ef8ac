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


class ClientOpening(models.Model):
    """The first words of a user in a request: a client without a session's id is known by them.

    One for each that requests of a session ever began with, for whoever sent them.
    """

    session = models.ForeignKey(
        Session, models.CASCADE, related_name="openings", db_index=False
    )
    actor = models.CharField(max_length=64)
    digest = models.BinaryField(max_length=32)
    """Of the first message of a user that holds more than results."""

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["actor", "digest", "session"], name="one_opening_per_digest"
            )
        ]
        indexes = [models.Index(fields=["session"], name="openings_of_a_session")]

    def __str__(self) -> str:
        return f"opening of {self.session_id}"


class ClientName(models.Model):
    """What a client calls a conversation: whose requests say so are looked for there first.

    The name is its caller's, in one project; it is kept as its SHA-256.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="+")
    actor = models.CharField(max_length=64)
    digest = models.BinaryField(max_length=32)
    session = models.ForeignKey(Session, models.CASCADE, related_name="client_names")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["actor", "digest", "project"], name="one_conversation_per_name"
            )
        ]

    def __str__(self) -> str:
        return f"name of {self.session_id}"


class AnsweredCalls(models.Model):
    """Calls of our tools that the proxy answered, with the answers: their client knows of neither.

    They are put into its later requests behind the message where they were made.
    """

    session = models.ForeignKey(
        Session, models.CASCADE, related_name="answered_calls", db_index=False
    )
    form = models.CharField(max_length=32)
    """Of the request."""
    place = models.PositiveIntegerField()
    """How many of the client's messages came before them."""
    after = models.BinaryField(max_length=32)
    """What the last of these says, as a digest."""
    index = models.PositiveIntegerField()
    """The first original that they are."""
    content = models.BinaryField()
    """The messages in that form: a list as JSON, compressed with zlib."""

    class Meta:
        indexes = [models.Index(fields=["session"], name="answered_calls_of_a_session")]

    def __str__(self) -> str:
        return f"calls after {self.place} of {self.session_id}"


class Upstream(models.Model):
    """Where a project's requests of one provider's form are forwarded to."""

    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, related_name="upstreams"
    )
    provider = models.CharField(max_length=16)
    base_url = models.CharField(max_length=500)
    sealed_key = models.BinaryField(default=b"")
    """Encrypted for this project and origin by `operations.forwarding.upstreams.sealing`."""
    model = models.CharField(max_length=128, blank=True)
    """Sent in place of the client's, where it is not empty."""
    tools = models.CharField(max_length=500, blank=True, default="")
    """Of ours that are added to requests: names and groups, separated by commas."""
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "provider"], name="one_upstream_per_provider"
            )
        ]

    def __str__(self) -> str:
        return f"{self.provider} of {self.project_id}"
