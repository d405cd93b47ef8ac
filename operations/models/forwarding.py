"""What the proxy keeps between requests: by what it knows a session, and where it sends."""

from django.db import models

from contextstudio.accounts.models import Project
from threads.models import Session


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
