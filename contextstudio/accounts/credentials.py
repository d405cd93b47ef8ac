"""Generates keys and sign-in tokens, and the digests under which alone they are stored.

Each purpose derives a key of its own from SECRET_KEY, so that a digest for one purpose proves
nothing for another. The secrets are long and random, so one HMAC is enough, and looking up a row by
its digest tells an attacker nothing.
"""

import secrets
import string
from collections.abc import Mapping
from urllib.parse import parse_qsl

from django.utils.crypto import salted_hmac

KEY_PREFIX = "cs_"
OWN_KEY = b"x-contextstudio-key"
CREDENTIALS = (b"authorization", b"x-api-key", b"x-goog-api-key")
"""Headers in which providers' own clients send a key."""

_ALPHABET = string.ascii_letters + string.digits
_ID_LENGTH = 8
_SECRET_LENGTH = 40


def generate_key() -> tuple[str, str]:
    """Generate an API key, `cs_<id>_<secret>`; also returns the part that may be shown later."""

    def draw(length: int) -> str:
        return "".join(secrets.choice(_ALPHABET) for _ in range(length))

    prefix = f"{KEY_PREFIX}{draw(_ID_LENGTH)}"
    return f"{prefix}_{draw(_SECRET_LENGTH)}", prefix


def key_digest(key: str) -> str:
    """The hex HMAC-SHA256 under which a key is stored."""
    return salted_hmac("contextstudio.api-key", key, algorithm="sha256").hexdigest()


def token_digest(token: str) -> str:
    """The hex HMAC-SHA256 under which a sign-in token is stored."""
    return salted_hmac("contextstudio.sign-in", token, algorithm="sha256").hexdigest()


def sent_key(headers: Mapping[bytes, bytes], query: bytes = b"") -> str | None:
    """The ContextStudio key in a request, wherever clients can put it, or None."""
    if (own := headers.get(OWN_KEY)) is not None:
        return own.decode("latin-1").strip()
    for name in CREDENTIALS:
        text = bare(headers.get(name, b"").decode("latin-1"))
        if text.startswith(KEY_PREFIX):
            return text
    named = dict(parse_qsl(query.decode("latin-1")))
    key = named.get("key", "")
    return key if key.startswith(KEY_PREFIX) else None


def bare(credential: str) -> str:
    scheme, _, rest = credential.strip().partition(" ")
    return rest.strip() if scheme.lower() == "bearer" else credential.strip()
