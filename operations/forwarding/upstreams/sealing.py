"""Encrypts providers' keys at rest, each for one place only.

The encryption key is derived from SECRET_KEY, which the operator sets or which is in the data
folder (mode 0600), not in the database. The encrypted value names its place, so that somebody who
can write to the database still can't have a key sent elsewhere.
"""

import base64
import json
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.utils.crypto import salted_hmac


def seal(secret: str, place: str) -> bytes:
    """Encrypt a secret for one place."""
    return _cipher().encrypt(json.dumps([place, secret]).encode())


def unseal(sealed: bytes | memoryview, place: str) -> str | None:
    """Decrypt a secret; None if it was sealed for another place, or with another SECRET_KEY."""
    try:
        sealed_for, secret = json.loads(_cipher().decrypt(bytes(sealed)))
    except InvalidToken:
        return None
    return str(secret) if sealed_for == place else None


def reseal(secret: str | None, known: bytes | memoryview | None, place: str) -> bytes:
    """The value to store when a secret is set again; empty if there is none.

    A `secret` of None keeps the known one, unless it was sealed for another place: no key goes to
    an origin that it wasn't given for.
    """
    if secret is None and known:
        secret = unseal(known, place)
    return seal(secret, place) if secret else b""


def _cipher() -> MultiFernet:
    """Encrypts with the newest key; earlier ones, as configured in Django, can still decrypt."""
    return _cipher_of((settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS))


@lru_cache(maxsize=1)
def _cipher_of(keys: tuple[str | bytes, ...]) -> MultiFernet:
    return MultiFernet([Fernet(_derived(key)) for key in keys])


def _derived(key: str | bytes) -> bytes:
    salt = "contextstudio.upstream-key"
    digest = salted_hmac(salt, "1", secret=key, algorithm="sha256").digest()
    return base64.urlsafe_b64encode(digest)
