"""The epochs of a session's requests: what signatures of reasoning were made after (R7)."""

from typing import Any

from django.db.models import UUIDField

from contextstudio.database.prepared import Param, Prepared
from operations.domain.context.epochs import NO_EPOCHS, Epoch, Epochs
from operations.domain.providers import PROVIDERS
from operations.domain.providers.signed_places import SignedPlaces
from operations.models import RequestEpochs, SessionRequest
from threads.models import Session

_EPOCHS = Prepared(
    lambda: RequestEpochs.objects.filter(
        session=Param("session", UUIDField())
    ).values_list("end", "changed")
)
_SEEN = Prepared(
    lambda: (
        SessionRequest.objects.filter(session=Param("session", UUIDField()))
        .order_by("-number")
        .values_list("message_count", flat=True)[:1]
    )
)


def is_bound(provider: str) -> bool:
    """Whether a provider's signatures cover what came before them."""
    return PROVIDERS[provider].rules.reasoning.is_bound


def epochs_of(session: Session, provider: str) -> Epochs:
    """The epochs of a session; none for a provider for which they don't matter."""
    row = _EPOCHS.first(session=session.pk) if is_bound(provider) else None
    if row is None:
        return NO_EPOCHS
    end, changed = row
    seen = _SEEN.first(session=session.pk) or 0
    return Epochs(end, tuple(map(_read, changed)), seen)


def store_epochs(session: Session, epochs: Epochs) -> None:
    """Store the epochs of a session, whose row is locked."""
    changed = [*map(_write, epochs.changed)]
    RequestEpochs.objects.update_or_create(
        session=session, defaults={"end": epochs.end, "changed": changed}
    )


def _write(epoch: Epoch) -> dict[str, Any]:
    return epoch._asdict() | {"signed": epoch.signed.ranges}


def _read(stored: dict[str, Any]) -> Epoch:
    ranges = tuple((start, end) for start, end in stored["signed"])
    return Epoch(**stored | {"signed": SignedPlaces(ranges)})
