"""What the list of sessions needs beside their rows: numbers of the thread, first words."""

import uuid
from collections.abc import Sequence
from typing import Any

from django.db.models import Min

from operations.domain.log.operation import Redact
from operations.log.overview import overview
from operations.log.selectors import load_thread
from operations.models import LogEntry
from threads.domain.message import Role
from threads.models import Message, Session
from threads.rendering import summary
from threads.store.selectors import load_recorded_at

MOST_REPLAYED = 20
"""Threads that one page of the list replays at most; the others are caught up by the next."""


def load_overviews(sessions: Sequence[Session]) -> dict[uuid.UUID, dict[str, Any]]:
    """The numbers of each session's thread, made again where the cache is empty."""
    found, replayed = {}, 0
    for session in sessions:
        if session.overview is not None:
            found[session.pk] = session.overview
        elif session.head and replayed < MOST_REPLAYED:
            replayed += 1
            found[session.pk] = numbers = overview(load_thread(session))
            unchanged = Session.objects.filter(
                pk=session.pk, head=session.head, message_count=session.message_count
            )
            unchanged.update(overview=numbers)
        else:
            found[session.pk] = {"effective_tokens": session.original_tokens}
    return found


def load_first_words(sessions: Sequence[Session]) -> dict[uuid.UUID, str]:
    """How the first user message of each session begins.

    Sessions in which something was redacted are left out: what is masked stands nowhere.
    """
    masked = set(
        LogEntry.objects.filter(session__in=sessions, kind=Redact.kind).values_list(
            "session_id", flat=True
        )
    )
    firsts = dict(
        Message.objects.filter(session__in=sessions, role=Role.USER)
        .values_list("session_id")
        .annotate(Min("index"))
    )
    words = {}
    for session in sessions:
        index = firsts.get(session.pk)
        if index is None or session.pk in masked:
            continue
        for original in load_recorded_at(session, [index]).values():
            words[session.pk] = summary(original.role, original.parts)
    return words
