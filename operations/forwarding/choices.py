"""Remembers alternative replies (`n`, `candidateCount`), of which only the first is recorded.

A client may continue from any of them. In its session it is then as if the reply had been
regenerated.
"""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import replace

from operations.models import OtherChoice
from threads.domain.body import digest
from threads.domain.message import Message
from threads.domain.part import Thinking
from threads.models import Session
from threads.store.recording import named_by_hash


def keep(request_id: uuid.UUID, others: Iterable[Message]) -> None:
    """Remember the replies offered beside the recorded one, with and without their reasoning."""
    digests = dict.fromkeys(one for other in others for one in _digests(other))
    rows = [OtherChoice(request_id=request_id, digest=one) for one in digests]
    if rows:
        OtherChoice.objects.bulk_create(rows)


def session_that_offered(
    sessions: Iterable[Session], replies: Sequence[bytes]
) -> Session | None:
    """Which of these sessions offered one of the replies, given by digest; None if none did."""
    offered = OtherChoice.objects.filter(
        request__session__in=list(sessions), digest__in=replies
    )
    found = offered.select_related("request__session").order_by("-pk").first()
    return found.request.session if found else None


def _digests(message: Message) -> Iterable[bytes]:
    said = tuple(one for one in message.parts if not isinstance(one, Thinking))
    for one in (message, replace(message, parts=said)):
        yield digest(one.role, named_by_hash(one.parts))
