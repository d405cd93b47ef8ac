"""Reading what a redaction masks: by an owner, and on record."""

import uuid
from typing import NamedTuple

from django.db import transaction

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.models import AuditEntry
from operations.domain.log.operation import Redact
from operations.domain.tree.span import Span, covered
from operations.log.selectors import get_operation, load_history, load_thread
from operations.messages.reader import MessageReader


class Revealed(NamedTuple):
    """A span with the text under its mask; None where the message's words are gone."""

    span: Span
    text: str | None


@transaction.atomic
def reveal(caller: Caller, operation_id: uuid.UUID) -> list[Revealed]:
    """What a redaction masks. Needs the right to administer, and is recorded for audit."""
    session, key = get_operation(caller, operation_id, Right.ADMIN)
    recorded = load_history(session).log.edit(key)
    if recorded is None or not isinstance(recorded.edit, Redact):
        raise Invalid("Only a redaction can be revealed.", at=["operation_id"])
    AuditEntry.objects.create(
        project_id=session.project_id,
        actor=caller.actor,
        action="redaction.reveal",
        object_id=str(operation_id),
    )
    spans = recorded.edit.spans
    thread = load_thread(session)
    said = MessageReader(session, thread).recorded(span.key for span in spans)
    return [
        Revealed(span, covered(said[span.key].parts if span.key in said else (), span))
        for span in spans
    ]
