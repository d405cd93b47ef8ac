"""Counts failed tries of passwords, so that nobody can guess one, or lock others out."""

import secrets
from datetime import timedelta
from ipaddress import ip_address, ip_network

from django.core import signing
from django.db import transaction
from django.db.models import F, Value
from django.db.models.functions import Least
from django.utils import timezone

from contextstudio.accounts.credentials import token_digest
from contextstudio.accounts.models import TokenBucket, User

_TRIES_AT_ONE_PLACE = 10
"""For one name from one address, or from a known browser."""
_TRIES_PER_NAME = 100
_TRIES_PER_ADDRESS = 300
_ONE_MORE_TRY = timedelta(seconds=30)
_ONE_MORE_FROM_ADDRESS = timedelta(seconds=2)
_KNOWN_BROWSER = "contextstudio.known-browser"
KNOWN_FOR = timedelta(days=180)


def known_browser(user: User) -> str:
    """A token for the cookie of a browser in which a person has signed in, to recognise it."""
    return signing.dumps(
        [user.pk, secrets.token_urlsafe(12)], salt=_KNOWN_BROWSER, compress=False
    )


def buckets_of(
    username: str, address: str, browser: str
) -> list[tuple[str, int, timedelta]]:
    """The buckets that a try takes from: key, capacity, and refill time per token.

    Guessing from many addresses is limited per name, and trying many names per address. Neither
    limit applies to a browser in which the person has signed in before, so that nobody can lock out
    another person, or an office behind one address.
    """
    name = token_digest(username.casefold())[:32]
    try:
        user_id, nonce = signing.loads(browser, salt=_KNOWN_BROWSER, max_age=KNOWN_FOR)
        is_known = User.objects.filter(pk=user_id, username=username).exists()
    except (signing.BadSignature, ValueError, TypeError):
        is_known = False
    if is_known:
        return [(f"sign-in browser {nonce}", _TRIES_AT_ONE_PLACE, _ONE_MORE_TRY)]
    place = _network(address)
    return [
        (f"sign-in {name} {place}", _TRIES_AT_ONE_PLACE, _ONE_MORE_TRY),
        (f"sign-in name {name}", _TRIES_PER_NAME, _ONE_MORE_TRY),
        (f"sign-in address {place}", _TRIES_PER_ADDRESS, _ONE_MORE_FROM_ADDRESS),
    ]


def _network(address: str) -> str:
    """An address as assigned to one subscriber: for IPv6 the first half, as they have the rest."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return "unknown"
    if parsed.version == 6 and (mapped := getattr(parsed, "ipv4_mapped", None)):
        return str(mapped)
    prefix = 64 if parsed.version == 6 else 32
    return str(ip_network(f"{parsed}/{prefix}", strict=False).network_address)


@transaction.atomic
def take_token(key: str, *, capacity: int, refill: timedelta) -> bool:
    """Take one token; returns False if none is left.

    A bucket starts full with `capacity` tokens and gets one back every `refill`. Simultaneous
    requests are served one after another, so that the count is exact. Setting the clock back takes
    no tokens, and missing ones are refilled from then on.
    """
    now = timezone.now()
    full = {"level": capacity, "updated_at": now}
    TokenBucket.objects.get_or_create(key=key, defaults=full)
    bucket = TokenBucket.objects.select_for_update().get(pk=key)
    passed = max(timedelta(0), now - bucket.updated_at)
    level = min(capacity, bucket.level + passed / refill)
    is_there = level >= 1
    bucket.level, bucket.updated_at = level - is_there, now
    bucket.save()
    return is_there


def return_token(key: str, *, capacity: int) -> None:
    """Return a token: the try doesn't count."""
    bucket = TokenBucket.objects.filter(pk=key)
    bucket.update(level=Least(F("level") + 1, Value(float(capacity))))
