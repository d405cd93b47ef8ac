"""Keys of providers at rest: encrypted, and good for one place only.

The key that seals them is derived from SECRET_KEY, which the operator gives or which lies in the
data folder (mode 0600), not in the database. What is sealed names its place, so that who can
write to the database still can't have a key sent elsewhere.
"""

import base64
import json
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.utils.crypto import salted_hmac


def seal(secret: str, place: str) -> bytes:
    """A secret, encrypted for one place."""
    return _cipher().encrypt(json.dumps([place, secret]).encode())


def unseal(sealed: bytes | memoryview, place: str) -> str | None:
    """The secret; None where it was sealed for another place, or with another SECRET_KEY."""
    try:
        sealed_for, secret = json.loads(_cipher().decrypt(bytes(sealed)))
    except InvalidToken:
        return None
    return str(secret) if sealed_for == place else None


def sealed_again(
    secret: str | None, known: bytes | memoryview | None, place: str
) -> bytes:
    """What is kept of a secret that is set anew, empty where there is none.

    None keeps the one known, unless that was sealed for another place: no key goes to an origin
    that it wasn't given for.
    """
    if secret is None and known:
        secret = unseal(known, place)
    return seal(secret, place) if secret else b""


def _cipher() -> MultiFernet:
    """The newest key seals; those before it, as Django has them, still open."""
    return _cipher_of((settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS))


@lru_cache(maxsize=1)
def _cipher_of(keys: tuple[str | bytes, ...]) -> MultiFernet:
    return MultiFernet([Fernet(_derived(key)) for key in keys])


def _derived(key: str | bytes) -> bytes:
    salt = "contextstudio.upstream-key"
    digest = salted_hmac(salt, "1", secret=key, algorithm="sha256").digest()
    return base64.urlsafe_b64encode(digest)
