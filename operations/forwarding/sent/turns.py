"""Finds the first request that went out with a given log entry."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Min
from django.utils import timezone

from operations.models import SessionRequest
from threads.models import Session

NEXT = "in the next request"


@dataclass(frozen=True, slots=True)
class SentTurns:
    """The heads under which a session's requests went out, and when each was first used."""

    heads: Sequence[int]
    times: Sequence[datetime]

    def words(self, number: int) -> str:
        """When entry `number` reached the model; empty if no client sends the session."""
        if not self.heads:
            return ""
        place = bisect_left(self.heads, number)
        if place == len(self.heads):
            return NEXT
        at = timezone.localtime(self.times[place])
        is_today = at.date() == timezone.localdate()
        return f"sent at {at:%H:%M}" if is_today else f"sent {at:%Y-%m-%d %H:%M}"


def load_turns(session: Session) -> SentTurns:
    """The turns of a session that the caller may read, in order of their heads."""
    rows = SessionRequest.objects.filter(session=session)
    known = rows.values("head").annotate(first=Min("created_at")).order_by("head")
    found = list(known.values_list("head", "first"))
    return SentTurns([head for head, _ in found], [first for _, first in found])
