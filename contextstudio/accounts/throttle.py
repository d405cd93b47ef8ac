"""Token buckets in the database: how often a name or an address may try."""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from .models import TokenBucket


@transaction.atomic
def take(key: str, *, capacity: int, refill: timedelta) -> bool:
    """Take one token; False where none is left.

    A bucket starts full with `capacity` tokens and gets one back every `refill`. Those who
    come at once are served one after another, so that the count is exact.
    """
    now = timezone.now()
    TokenBucket.objects.get_or_create(
        key=key, defaults={"level": capacity, "updated_at": now}
    )
    bucket = TokenBucket.objects.select_for_update().get(pk=key)
    level = min(capacity, bucket.level + (now - bucket.updated_at) / refill)
    if level < 1:
        return False
    bucket.level, bucket.updated_at = level - 1, now
    bucket.save()
    return True
