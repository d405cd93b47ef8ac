"""Replies that came side by side (`n`, `candidateCount`): the first is recorded, the others known.

A client may go on from any. In its session it is then as if the reply had been made again.
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
    """Know the replies again that came beside the recorded one, also without their reasoning."""
    digests = dict.fromkeys(one for other in others for one in _digests(other))
    rows = [OtherChoice(request_id=request_id, digest=one) for one in digests]
    if rows:
        OtherChoice.objects.bulk_create(rows)


def session_offered(
    sessions: Iterable[Session], replies: Sequence[bytes]
) -> Session | None:
    """The session of these in which one of the replies was offered, by their digests."""
    offered = OtherChoice.objects.filter(
        request__session__in=list(sessions), digest__in=replies
    )
    found = offered.select_related("request__session").order_by("-pk").first()
    return found.request.session if found else None


def _digests(message: Message) -> Iterable[bytes]:
    said = tuple(one for one in message.parts if not isinstance(one, Thinking))
    for one in (message, replace(message, parts=said)):
        yield digest(one.role, named_by_hash(one.parts))
